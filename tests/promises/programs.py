"""What we promise of the real programs of other vendors, shown with their newest versions (`make test-agents`)."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "programs:sessions": Requirement(
        "what Codex, Copilot, opencode, Qwen and Gemini write today is listed, learnt from and searched, and nothing of"
        " theirs is changed"
    ),
    "programs:memory": Requirement(
        "after `reverie install`, what was said in one session of an agent reaches the model's request in its next one"
    ),
    "programs:tools": Requirement(
        "without hooks, what a model saves with our MCP tool in Claude Code, Codex, Copilot and Qwen it recalls in"
        " the next session"
    ),
    "programs:plugin": Requirement(
        "the plugin directory, installed with the plugin commands of Claude Code, Codex, Copilot and Qwen, carries a"
        " memory to the next session"
    ),
    "programs:models": Requirement(
        "Claude, Copilot, Gemini, opencode and Qwen answer a question of memory work as `command:NAME` without tools"
        " (Qwen keeps six of its own), and its cost is booked"
    ),
    "programs:shared": Requirement("what one agent was taught reaches the model's request in another one"),
    "programs:compaction": Requirement("a compaction of an agent with hooks keeps the state of the session"),
    "programs:removal": Requirement("a removed installation leaves the agent's files and requests as they were"),
}
