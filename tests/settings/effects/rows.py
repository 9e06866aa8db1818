"""A row for every setting: another value, and the door through which the difference is seen."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from reverie.apps.cli.chat import surroundings
from reverie.apps.cli.open_session import SessionRequest
from reverie.apps.cli.options import Common
from reverie.context.window import Window
from reverie.errors import ContextTooLong, Overloaded
from reverie.files.places import Places
from reverie.memory.memory import Memory
from reverie.messages.message import Usage, assistant, user
from reverie.models import from_settings
from reverie.models.profiles import Abilities, ProfileOverride, profile
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.settings.load import Configuration, Secrets
from reverie.testing.build import tool_call
from reverie.testing.scripted_model import ScriptedModel, Step
from tests.settings.effects.companion import hooked
from tests.settings.effects.doors import (
    MODEL,
    NEWEST,
    NOW,
    QUIET,
    ROOT,
    Door,
    Row,
    Seen,
    Turns,
    chosen,
    counted,
    memories,
    rounds,
    together,
    window,
    write_topics,
)
from tests.settings.effects.team import pulled_first, shared, token_needed, watched
from tests.settings.effects.team_server import PROVIDER, ask_server, limit_jobs, prune_server, run_server
from tests.settings.effects.timed import TIMED

TURN = Turns()
PLAIN = window([*rounds(2)])
GROWING = together(*(window(rounds(number), size=40_000) for number in range(10, 30, 2)))
TYPED = window(
    [one for at in range(60) for one in (user(f"{at} {'word ' * 500}"), assistant("yes"))] + [user("go")], size=24_000
)
MANY = together(*(window(rounds(number, chars=900), size=40_000) for number in range(50, 110, 10)))
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


def remembered(setup: SessionOptions) -> None:
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
        *(
            tool_call("Read", f"c{at}", file_path=str(ROOT / "place" / "project" / name))
            for at, name in enumerate(names)
        ),
        "done",
    ]


FILES = {f"f{at}.txt": f"line of {at}\n" * 400 for at in range(8)}
READS = Turns(says=reads(*FILES), files=FILES)


def profiled(name: str, value: object) -> Row:
    given = {"models.mine.input_usd_per_million": 1.0, "models.mine.output_usd_per_million": 2.0}
    given = {key: each for key, each in given.items() if key != f"models.mine.{name}"}

    def door(settings: Settings) -> object:
        return [profile(one, from_settings.profile_overrides(settings)) for one in ("mine", "other")]

    return Row(value, door, given)


async def compact_now(session: Session) -> object:
    await session.compact()
    return [event async for event in session.send("go on")]


RECALLED = Turns(
    before=remembered,
    prompts=(ASKED,),
    sees=lambda seen: [str(seen.requests[-1]).count(f"rule_{n}.md:") for n in range(7)],
    says=[tool_call("Bash", command="sleep 0.3"), "ok", tool_call("Bash", "c2", command="sleep 0.3"), "ok"],
)


def selected(memory: Any) -> object:
    model = ScriptedModel([lambda _request: "[]"] * 3, "chooser")
    hits = asyncio.run(memory.recall_async(ASKED, model=model))
    return [hit.path for hit in hits], model.requests


SELECTED = memories(selected, TYPES)


def due(memory: Any) -> object:
    folder = memory.scope.folder
    transcripts = folder.directory.parent
    for number in range(6):
        path = transcripts / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        path.write_text('{"type":"user","uuid":"u","message":{"role":"user","content":"hello there"}}\n')
        os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    first = memory.dreams.due()
    return first.closed, first.detail, memory.dreams.due().closed


def dreamt(memory: Any) -> object:
    asyncio.run(memory.dream())
    return due(memory)


DUE = memories(due, TYPES)
CAN_EDIT_CACHE = {"overrides": {MODEL: ProfileOverride(abilities=Abilities(cache_edits=True, prompt_caching=True))}}
EDITS = replace(READS, says=reads(*[*FILES] * 4), options=CAN_EDIT_CACHE)
SKILLED = Turns(
    files={
        f"~/.claude/skills/s{at}/SKILL.md": f"---\ndescription: skill {at}\n---\n" + "Do it well. " * 900
        for at in range(3)
    },
    prompts=("/s0", "/s1", "/s2"),
    ends=compact_now,
)


def breaks(settings: Settings) -> object:
    made = Window(MODEL, settings, now=lambda: NOW)
    made.prepare(rounds(3), "be brief")
    made.observe(Usage(10, 5, cache_write_tokens=40_000))
    made.prepare([*rounds(3), assistant("yes"), user("go on")], "be brief")
    return made.observe(Usage(30_000, 5, cache_read_tokens=10_000))


BROKEN = breaks
GENEROUS = {"budget.background_fraction": 1.0, "budget.background_usd_per_hour": 100.0}
GROWN = [counted(12_000 * at) for at in range(1, 9)]
NOTED = Turns(is_lively=True, says=GROWN, prompts=tuple(f"thing {at} " * 6_000 for at in range(3)))
TAUGHT = Turns(is_lively=True, says=[counted(5_000)], prompts=("Always use tabs in Go files, never spaces.",))
LONG = tuple(f"thing {at} " * 800 for at in range(8))
SMALL = {"window_tokens": 40_000}
TOO_LONG = Turns(
    says=[*["ok"] * 7, ContextTooLong("too long"), "<summary>s</summary>", "ok"], prompts=LONG, options=SMALL
)


def at_home(settings: Settings) -> object:
    places = Places.at(Path(settings.home), Path(settings.config_home), project_dir_name=settings.project_dir_name)
    return places.project(Path("/p")), places.host_settings_files(Path("/p"))


def left_long_ago(setup: SessionOptions) -> None:
    """A session with a spilled result that nobody used for sixty days."""
    folder = setup.places.project(setup.project).directory
    spilled = folder / "aaaaaaaa-0000-4000-8000-000000000000" / "tool-results" / "t.txt"
    spilled.parent.mkdir(parents=True)
    then = (NOW - timedelta(days=60)).timestamp()
    for path in (spilled, folder / "aaaaaaaa-0000-4000-8000-000000000000.jsonl"):
        path.write_text('{"type":"user","uuid":"u","message":{"role":"user","content":"hello there"}}\n')
        os.utime(path, (then, then))


def kept_files(seen: Seen) -> object:
    return sorted(path.name for path in seen.root.rglob("*") if path.name == "t.txt" or path.name.startswith("aaaa"))


SWEPT = Turns(before=left_long_ago, sees=kept_files)


RESTORED = replace(READS, ends=compact_now)
SUMMARY_TOO_LONG = Turns(
    says=[*["ok"] * 8, ContextTooLong("too long"), ContextTooLong("too long"), "<summary>s</summary>"],
    prompts=LONG,
    options=SMALL,
    ends=compact_now,
)


LONG_NOTED = Turns(
    is_lively=True,
    says=[counted(15_000 * at, "it is so " * 600) for at in range(1, 12)],
    prompts=tuple(f"thing {at} " * 1_500 for at in range(8)),
    ends=compact_now,
)


async def dream(session: Session) -> object:
    return type(await session.dream()).__name__


DREAMING = Turns(before=remembered, ends=dream)


def terminal(settings: Settings) -> object:
    root = Path("/r")
    configured = Configuration(settings, {}, (), root, root, root, Secrets({}))
    made = surroundings(Common(), SessionRequest(), configured, MODEL, "")
    return made.is_colourless, made.has_meter, made.status_command


TAUGHT_ALONE = replace(TAUGHT, options={"is_interactive": False})
THANKED = replace(TAUGHT, prompts=("thanks",))


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
    "snip.trigger_fraction": Row(0.72, GROWING, {"snip.enabled": True}),
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
    "compaction.summary_max_tokens": Row(300, CROWDED),
    "compaction.user_text_fraction": Row(0.01, TYPED),
    "compaction.receipt_fraction": Row(0.2, TYPED),
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
        False,
        Turns(options={"window_tokens": 400_000}),
        {"clearing.api.enabled": True, "clearing.api.trigger_tokens": 90_000},
    ),
    "clearing.api.keep_thinking_turns": Row(3, TURN, {"clearing.api.enabled": True, "model.thinking": "on"}),
    "clearing.api.keep_all_thinking": Row(True, TURN, {"clearing.api.enabled": True, "model.thinking": "on"}),
    "compaction.server": Row(True, Turns(model=NEWEST)),
    "language": Row("Welsh", TURN),
    "output_style": Row(
        "terse", Turns(files={"~/.reverie/output-styles/terse.md": "---\nname: terse\n---\nBe terse."})
    ),
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
    "recall.turn_bytes": Row(700, RECALL),
    "recall.caution": Row(100.0, RECALL),
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
    "budget.turn_tokens": Row(1_000, TURN),
    "budget.session_usd": Row(0.001, Turns(says=[counted(50_000)], prompts=("one thing", "another thing"))),
    "tools.web_fetch": Row(True, TURN),
    "tools.web_search": Row(False, TURN),
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
    "hook.timeout_seconds": Row(
        0.2, Turns(says=reads("f0.txt"), files=FILES), hooks(PreToolUse=command("sleep 0.4; echo moo >&2; exit 2"))
    ),
    "hook.user_prompt_timeout_seconds": Row(0.2, TURN, hooks(UserPromptSubmit=command("sleep 0.5; echo moo"))),
    # Recall in a session
    "recall.enabled": Row(False, RECALLED),
    "recall.min_words": Row(9, RECALLED),
    "recall.min_unspaced_chars": Row(
        40,
        replace(RECALLED, prompts=(ASKED.replace(" ", "\u3000") + "\u9700\u8981\u89c4\u5219",)),
        {"recall.min_words": 50},
    ),
    # Models
    "model.default": Row("claude-haiku-4-5", chosen(ANTHROPIC_API_KEY="k")),
    "model.memory": Row("offline", lambda settings: from_settings.memory_model_name(settings, None)),
    "model.anthropic_base_url": Row("http://here", chosen(ANTHROPIC_API_KEY="k")),
    "model.anthropic_key_env": Row("MINE", chosen(ANTHROPIC_API_KEY="k")),
    "model.openai_base_url": Row("http://here", chosen("openai/x", OPENAI_API_KEY="k")),
    "model.openai_key_env": Row("MINE", chosen(OPENAI_API_KEY="k")),
    "model.timeout_seconds": Row(5.0, chosen(ANTHROPIC_API_KEY="k")),
    "model.max_retries": Row(0, chosen(ANTHROPIC_API_KEY="k")),
    "models.*.provider": Row("anthropic", chosen("mine"), {"models.mine.base_url": "http://here"}),
    "models.*.base_url": Row("http://here", chosen("mine"), {"models.mine.provider": "openai"}),
    "models.*.key_env": Row("MINE", chosen("mine"), {"models.mine.base_url": "http://here"}),
    "model.fallback": Row(["claude-haiku-4-5"], Turns(says=[Overloaded("busy"), "ok"])),
    # The cache
    "cache.break_fraction": Row(0.9, BROKEN),
    "cache.break_tokens": Row(90_000, BROKEN),
    # Notes
    "notes.enabled": Row(False, NOTED),
    "notes.init_tokens": Row(900_000, NOTED),
    "notes.growth_tokens": Row(900_000, NOTED),
    # Extraction
    "extraction.enabled": Row(False, TAUGHT, GENEROUS),
    "extraction.noninteractive": Row(True, TAUGHT_ALONE, GENEROUS),
    "extraction.prefilter": Row(False, THANKED, GENEROUS),
    "extraction.max_rounds": Row(2, TAUGHT, GENEROUS),
    "budget.background_fraction": Row(0.0, TAUGHT, GENEROUS),
    "budget.background_usd_per_hour": Row(0.0, TAUGHT, GENEROUS),
    # Where things lie
    "home": Row("/elsewhere", at_home),
    "config_home": Row("/elsewhere", at_home),
    "project_dir_name": Row("mine", at_home),
    # Sharing
    "team.max_file_bytes": Row(300, shared),
    "team.max_entries": Row(1, shared),
    "team.debounce_seconds": Row(100.0, watched),
    "team.pull_minutes": Row(100.0, watched),
    "team.timeout_seconds": Row(0.001, shared),
    "team.token_env": Row("OTHER_TOKEN", token_needed),
    "team.first_pull_seconds": Row(0.0, pulled_first, {"team.first_pull_seconds": 30.0}),
    # Keeping
    "companion.enabled": Row(False, hooked),
    "companion.max_chars": Row(1_000, hooked),
    "retention.transcript_days": Row(5, SWEPT),
    "retention.spill_days": Row(90, SWEPT),
    "retention.spill_bytes": Row(10, SWEPT, {"retention.spill_days": 90}),
    # The team server
    "server.host": Row("0.0.0.0", run_server),
    "server.port": Row(9_000, run_server),
    "server.database_env": Row("OTHER_URL", run_server),
    "server.oidc_issuer": Row("https://other.example", run_server, PROVIDER),
    "server.oidc_audience": Row("other", run_server, PROVIDER),
    "server.oidc_jwks": Row("other.json", run_server, PROVIDER),
    "server.max_body_bytes": Row(100, ask_server),
    "server.max_entries": Row(1, ask_server),
    "server.max_file_bytes": Row(10, ask_server),
    "server.max_repository_bytes": Row(30, ask_server),
    "server.max_repositories": Row(1, ask_server),
    "server.versions_kept": Row(1, ask_server),
    "server.requests_per_minute": Row(6, ask_server),
    "server.jobs_at_once": Row(1, limit_jobs),
    "server.versions_days": Row(10, prune_server),
    "server.audit_days": Row(10, prune_server),
    "server.tombstone_days": Row(10, prune_server),
    "server.job_usd_per_day": Row(1, limit_jobs),
    # Compaction in a session
    "compaction.reactive": Row(False, TOO_LONG),
    "compaction.reactive_attempts": Row(0, TOO_LONG),
    "compaction.restore_files": Row(1, RESTORED),
    "compaction.restore_file_tokens": Row(50, RESTORED),
    "compaction.restore_files_total_tokens": Row(900, RESTORED),
    "compaction.too_long_retries": Row(0, SUMMARY_TOO_LONG),
    "compaction.too_long_drop_fraction": Row(0.9, SUMMARY_TOO_LONG),
    "clearing.cached.enabled": Row(True, EDITS),
    "clearing.cached.trigger_results": Row(5, EDITS, {"clearing.cached.enabled": True}),
    "clearing.cached.keep_results": Row(2, EDITS, {"clearing.cached.enabled": True}),
    "compaction.reactive_only": Row(True, GROWING),
    "compaction.restore_skill_tokens": Row(50, SKILLED),
    "compaction.restore_skills_total_tokens": Row(900, SKILLED),
    "compaction.from_notes": Row(False, LONG_NOTED),
    "compaction.keep_min_tokens": Row(30_000, LONG_NOTED),
    "compaction.keep_min_text_messages": Row(1, LONG_NOTED, {"compaction.keep_min_tokens": 10}),
    "compaction.keep_max_tokens": Row(1_000, LONG_NOTED, {"compaction.keep_min_tokens": 900}),
    "notes.section_tokens": Row(10, LONG_NOTED),
    "notes.total_tokens": Row(40, LONG_NOTED),
    "notes.compact_section_chars": Row(20, LONG_NOTED),
    "recall.rerank": Row(False, SELECTED),
    "recall.rerank_candidates": Row(2, SELECTED),
    "recall.selector_tokens": Row(16, SELECTED),
    "dream.enabled": Row(False, DUE),
    "dream.min_sessions": Row(50, DUE),
    "dream.min_hours": Row(0.0, memories(dreamt, TYPES)),
    "hook.allowed_http_urls": Row(
        ["http://allowed.example/*"],
        TURN,
        hooks(UserPromptSubmit=[{"hooks": [{"type": "http", "url": "http://127.0.0.1:9/x"}]}]),
    ),
    "hook.session_end_timeout_seconds": Row(
        0.05,
        replace(TURN, sees=lambda seen: (seen.root / "project" / "x").exists()),
        hooks(SessionEnd=command("sleep 0.4; touch x")),
    ),
    "tools.read_cache_files": Row(
        1,
        Turns(
            says=[
                *reads("f0.txt", "f1.txt")[:2],
                tool_call(
                    "Edit",
                    "e",
                    file_path=str(ROOT / "place" / "project" / "f0.txt"),
                    old_string="line of 0",
                    new_string="x",
                    replace_all=True,
                ),
                "ok",
            ],
            files=FILES,
        ),
    ),
    "dream.scan_interval_minutes": Row(0.0, DUE, {"dream.min_sessions": 50}),
    "dream.max_rounds": Row(9, DREAMING),
    "dream.search_hits": Row(9, DREAMING),
    "dream.asks_batch": Row(0, DREAMING),
    "model.background": Row(
        "claude-haiku-4-5",
        replace(RECALLED, sees=lambda seen: sorted({request.model for request in seen.requests})),
        QUIET,
    ),
    "ui.color": Row("never", terminal),
    "ui.meter": Row(False, terminal),
    "status_line.command": Row("date", terminal),
    **TIMED,
}
