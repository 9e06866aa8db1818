"""What we promise of the real programs of other vendors, shown with their newest versions (`make test-agents`)."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "programs:sessions": Requirement(
        "what Codex, Copilot, opencode, Qwen and Gemini write today is listed, learnt from and searched, and nothing of"
        " theirs is changed"
    ),
}
