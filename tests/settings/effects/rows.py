"""A row for every setting: another value, and the door through which the difference is seen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from reverie.api.memory import Memory
from reverie.api.session_setup import Setup
from reverie.apps import wiring
from reverie.errors import BadRequest, ContextTooLong, Overloaded
from reverie.messages.blocks import ToolUse
from reverie.messages.message import Usage
from reverie.settings import Settings
from reverie.settings.features import features, memory_state
from reverie.testing.build import reply
from reverie.testing.scripted_model import Step
from reverie.tokens.profiles import profile
from tests.settings.effects.doors import (
    MODEL,
    NEWEST,
    NOW,
    ROOT,
    Door,
    Seen,
    Turns,
    counted,
    events_named,
    memories,
    rounds,
    tool_call,
    window,
    write_topics,
)


@dataclass(frozen=True)
class Row:
    """Set a key to another value and look."""

    value: object
    door: Door
    given: Mapping[str, object] = field(default_factory=dict)
    """Other keys that are set in both runs."""


TURN = Turns()
PLAIN = window([*rounds(2)])
CROWDED = window(rounds(40), size=40_000)
SPILLS = window(rounds(4, tool="Fetch", chars=60_000, each=2), spills=True)
SEARCHES = window(rounds(3, tool="Grep", chars=30_000), spills=True)
PAUSED = window(rounds(9, chars=40_000), pause=timedelta(minutes=90))
LINES = window([*rounds(1)], size=None)
ASKED = "the importer needs rule 1"
TYPES = ("user", "feedback", "project", "reference", "project", "project", "project")


def lines(name: str) -> Door:
    return window([*rounds(1)], model=name)


def recalls(memory: Any) -> object:
    return [(hit.path, hit.header, hit.text) for hit in memory.recall(ASKED)]


OLD = memories(recalls, TYPES[:4], day="2026-10-15")
RECALL = memories(recalls, TYPES)


def indexed(memory: Any) -> object:
    for number in range(4):
        memory.save(name=f"Rule {number}", type="project", description="d" * 60, body="b")
    return (memory.directory / "MEMORY.md").read_text()


def kept(memory: Any) -> object:
    memory.save(name="a", type="user", description="b", body="c")
    return (memory.directory / ".git").exists()


def remembered(setup: Setup) -> None:
    """Memories, and an index of them, as somebody else wrote it."""
    write_topics(setup.places, setup.project, setup.settings, TYPES, "2026-11-15")
    folder = Memory.at(setup.places, setup.settings, setup.project, now=lambda: NOW).directory
    (folder / "MEMORY.md").write_text("".join(f"- [Rule {n}](rule_{n}.md) - the importer\n" for n in range(9)))


def hooks(**events: object) -> dict[str, object]:
    return {"hooks": events}


def command(text: str, **more: object) -> list[object]:
    return [{"matcher": "*", "hooks": [{"type": "command", "command": text, **more}]}]


def reads(*names: str) -> list[Step]:
    """A model that reads files, one in each round."""
    return [
        *(tool_call("Read", f"c{at}", file_path=str(ROOT / "place" / "project" / name)) for at, name in enumerate(names)),
        "done",
    ]


FILES = {f"f{at}.txt": f"line of {at}\n" * 400 for at in range(8)}
READS = Turns(says=reads(*FILES), files=FILES)


def profiled(name: str, value: object) -> Row:
    given = {"models.mine.input_usd_per_million": 1.0, "models.mine.output_usd_per_million": 2.0}
    given = {key: each for key, each in given.items() if key != f"models.mine.{name}"}

    def door(settings: Settings) -> object:
        return [profile(one, wiring.profile_overrides(settings)) for one in ("mine", "other")]

    return Row(value, door, given)


ROWS: dict[str, Row] = {
    # The window
    "window.default_tokens": Row(90_000, lines("some-model")),
    "window.extended_tokens": Row(500_000, lines(f"{MODEL}[1m]")),
    "window.extended": Row(True, LINES),
    "window.override_tokens": Row(60_000, lines("some-model")),
    "window.output_reserve_tokens": Row(9_000, LINES),
    "window.warning_fraction": Row(0.5, LINES),
    "window.error_fraction": Row(0.95, LINES),
    "window.blocking_buffer_tokens": Row(9_000, LINES),
    "compaction.auto_window_tokens": Row(50_000, LINES),
    "compaction.auto_percent": Row(30, LINES),
    "compaction.auto_buffer_tokens": Row(40_000, LINES),
    "collapse.stage_fraction": Row(0.5, LINES),
    "collapse.run_fraction": Row(0.99, LINES),
    # Spilling
    "spill.enabled": Row(False, SPILLS),
    "spill.result_chars": Row(70_000, SPILLS),
    "spill.search_result_chars": Row(70_000, SEARCHES),
    "spill.search_tools": Row(["Fetch"], SEARCHES),
    "spill.never": Row(["Fetch"], SPILLS),
    "spill.tool_chars.*": Row(1_000, window(rounds(2, tool="Fetch"), spills=True)),
    "spill.round_chars": Row(50_000, window(rounds(2, tool="Fetch", chars=40_000, each=3), spills=True)),
    "spill.preview_bytes": Row(300, SPILLS),
    # Reducing
    "snip.enabled": Row(True, CROWDED),
    "snip.trigger_fraction": Row(0.75, CROWDED, {"snip.enabled": True}),
    "snip.target_fraction": Row(0.3, CROWDED, {"snip.enabled": True}),
    "clearing.tools": Row(["Write"], PAUSED),
    "clearing.time.enabled": Row(False, PAUSED),
    "clearing.time.gap_minutes": Row(120, PAUSED),
    "clearing.time.min_fill_fraction": Row(1.0, PAUSED),
    "clearing.time.keep_results": Row(2, PAUSED),
    "clearing.time.keep_floor": Row(4, PAUSED, {"clearing.time.keep_results": 0}),
    "collapse.enabled": Row(True, CROWDED),
    "collapse.min_span_fraction": Row(0.5, CROWDED, {"collapse.enabled": True}),
    "collapse.summary_tokens": Row(60, CROWDED, {"collapse.enabled": True}),
    "compaction.enabled": Row(False, CROWDED),
    "compaction.auto": Row(False, CROWDED),
    "compaction.keep_max_tokens": Row(11_000, CROWDED),
    "compaction.summary_max_tokens": Row(300, CROWDED),
    "compaction.user_text_fraction": Row(0.0001, CROWDED),
    "compaction.receipt_fraction": Row(0.2, CROWDED),
    "cache.enabled": Row(False, PLAIN),
    "cache.ttl": Row("1h", PLAIN),
    "cache.system_ttl": Row("5m", TURN),
    # The request
    "model.thinking": Row("on", Turns(model=NEWEST)),
    "model.thinking_tokens": Row(2_000, TURN, {"model.thinking": "on"}),
    "model.effort": Row("low", Turns(model=NEWEST)),
    "model.max_output_tokens": Row(1_000, TURN),
    "clearing.api.enabled": Row(True, TURN),
    "clearing.api.trigger_tokens": Row(90_000, TURN, {"clearing.api.enabled": True}),
    "clearing.api.clear_at_least_tokens": Row(10_000, TURN, {"clearing.api.enabled": True}),
    "clearing.api.scale_to_window": Row(
        False, Turns(options={"window_tokens": 400_000}), {"clearing.api.enabled": True, "clearing.api.trigger_tokens": 90_000}
    ),
    "clearing.api.keep_thinking_turns": Row(3, TURN, {"clearing.api.enabled": True, "model.thinking": "on"}),
    "clearing.api.keep_all_thinking": Row(True, TURN, {"clearing.api.enabled": True, "model.thinking": "on"}),
    "compaction.server": Row(True, Turns(model=NEWEST)),
    "language": Row("Welsh", TURN),
    "output_style": Row("terse", Turns(files={"~/.reverie/output-styles/terse.md": "---\nname: terse\n---\nBe terse."})),
    "simple_mode": Row(True, Turns(files={"CLAUDE.md": "Always say moo."})),
    # Memory
    "memory.enabled": Row(False, TURN),
    "memory.disabled": Row(True, TURN),
    "memory.extra_guidelines": Row("Never keep jokes.", TURN),
    "memory.skip_index": Row(False, TURN),
    "memory.search_past_context": Row(False, TURN),
    "memory.daily_log": Row(True, TURN),
    "memory.directory": Row("/tmp/elsewhere", memories(lambda memory: memory.directory)),
    "memory.path_override": Row("/tmp/elsewhere", memories(lambda memory: memory.directory)),
    "memory.history": Row(False, memories(kept)),
    "index.max_lines": Row(2, Turns(before=remembered, files={})),
    "index.max_bytes": Row(100, Turns(before=remembered)),
    "age.fresh_max_days": Row(100, OLD),
    "age.half_life_user_days": Row(2, OLD),
    "age.half_life_feedback_days": Row(2, OLD),
    "age.half_life_project_days": Row(2, OLD),
    "age.half_life_reference_days": Row(2, OLD),
    "recall.max_files": Row(1, RECALL),
    "recall.file_lines": Row(2, RECALL),
    "recall.file_bytes": Row(300, RECALL),
    "recall.turn_bytes": Row(2_500, RECALL),
    "remote.mode": Row(True, TURN),
    "remote.memory_dir": Row("/tmp/elsewhere", memories(lambda memory: memory.directory), {"remote.mode": True}),
    # Models of the user's own
    "models.*.window_tokens": profiled("window_tokens", 9_000),
    "models.*.max_output_tokens": profiled("max_output_tokens", 900),
    "models.*.cache_minimum_tokens": profiled("cache_minimum_tokens", 90),
    "models.*.tokenizer": profiled("tokenizer", "new"),
    "models.*.abilities": profiled("abilities", ["thinking"]),
    "models.*.input_usd_per_million": profiled("input_usd_per_million", 7.0),
    "models.*.output_usd_per_million": profiled("output_usd_per_million", 7.0),
    "models.*.cache_read_usd_per_million": profiled("cache_read_usd_per_million", 7.0),
    "models.*.cache_write_5m_usd_per_million": profiled("cache_write_5m_usd_per_million", 7.0),
    "models.*.cache_write_1h_usd_per_million": profiled("cache_write_1h_usd_per_million", 7.0),
    "models.*.model": profiled("model", "other"),
    # Tools and agents
    "agent.list_attachment": Row(False, TURN),
    "agents": Row({"critic": {"description": "finds faults", "prompt": "Find faults."}}, TURN),
    "budget.turn_rounds": Row(2, READS),
    "budget.session_usd": Row(0.001, Turns(says=[counted(50_000)], prompts=("one thing", "another thing"))),
    "tools.web_fetch": Row(True, TURN),
    "tools.provider_memory": Row(True, TURN),
    "tools.keep_keys": Row(True, Turns(says=[tool_call("Bash", command="echo ${OPENAI_API_KEY:-none}"), "ok"])),
    "permissions.mode": Row("bypassPermissions", Turns(says=[tool_call("Bash", command="touch x"), "ok"])),
    "permissions.allow": Row(["Bash(touch x)"], Turns(says=[tool_call("Bash", command="touch x"), "ok"])),
    "permissions.ask": Row(["Bash(ls)"], Turns(says=[tool_call("Bash", command="ls"), "ok"])),
    "permissions.deny": Row(["Bash(ls)"], Turns(says=[tool_call("Bash", command="ls"), "ok"])),
    "permissions.additional_directories": Row(["/tmp"], TURN),
    # Instructions
    "instructions.enabled": Row(False, Turns(files={"CLAUDE.md": "Always say moo."})),
    "instructions.agents_md": Row(False, Turns(files={"AGENTS.md": "Always say moo."})),
    "instructions.file_chars": Row(5, Turns(files={"CLAUDE.md": "Always say moo."})),
    "instructions.file_bytes": Row(5, Turns(files={"CLAUDE.md": "Always say moo."})),
    "instructions.include_depth": Row(0, Turns(files={"CLAUDE.md": "See @more.md.", "more.md": "Always say moo."})),
    "instructions.excludes": Row(["**/CLAUDE.md"], Turns(files={"CLAUDE.md": "Always say moo."})),
    "instructions.from_additional_directories": Row(
        True,
        Turns(files={"~/more/CLAUDE.md": "Always say moo."}),
        {"permissions.additional_directories": [str(ROOT / "place" / "home" / "more")]},
    ),
    "instructions.managed_text": Row("Always say moo.", TURN),
    # Hooks
    "hooks": Row({"UserPromptSubmit": command("echo moo")}, TURN),
    "hook.enabled": Row(False, TURN, hooks(UserPromptSubmit=command("echo moo"))),
    "hook.managed_only": Row(True, TURN, hooks(UserPromptSubmit=command("echo moo"))),
    "hook.output_chars": Row(50, TURN, hooks(UserPromptSubmit=command("seq 100"))),
    "hook.max_continues": Row(1, TURN, hooks(Stop=command("""echo '{"decision":"block","reason":"go on"}'"""))),
    "hook.timeout_seconds": Row(0.2, Turns(says=reads("f0.txt"), files=FILES), hooks(PreToolUse=command("sleep 0.4; echo moo >&2; exit 2"))),
    "hook.user_prompt_timeout_seconds": Row(0.2, TURN, hooks(UserPromptSubmit=command("sleep 0.5; echo moo"))),
    # Recall in a session
    "recall.enabled": Row(False, Turns(before=remembered, prompts=(ASKED,))),
    "recall.min_words": Row(9, Turns(before=remembered, prompts=(ASKED,))),
    "recall.min_unspaced_chars": Row(40, Turns(before=remembered, prompts=("importer\u9700\u8981\u4ec0\u4e48\u89c4\u5219",))),
    "recall.session_bytes": Row(
        10,
        Turns(before=remembered, prompts=(ASKED, f"{ASKED} now")),
        {"recall.max_files": 1},
    ),
    "recall.show_again_tokens": Row(
        0,
        Turns(before=remembered, prompts=(ASKED, ASKED)),
        {"recall.max_files": 1},
    ),
}
