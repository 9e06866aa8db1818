"""Rows for settings that show once something takes long, fails, or comes again and again."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from reverie.errors import Unavailable
from reverie.files.background_tasks import list_tasks
from reverie.files.locks import locked
from reverie.files.places import Places
from reverie.memory.memory import Memory
from reverie.messages.message import assistant
from reverie.models.ports import Request
from reverie.session.events import ToolEnded, ToolStarted
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.settings.layers import Given, Layer, SettingsSource, merge
from reverie.testing.build import tool_call
from reverie.testing.loopback import Canned, LoopbackServer
from reverie.testing.scripted_model import Answer, Step
from tests.settings.effects.doors import NOW, ROOT, Row, Seen, Turns, counted, memories, rounds, window, write_topics

SNIPPED = window(rounds(40), size=40_000)
PROJECT = ROOT / "place" / "project"
SHORT = 0.01
LONG = 30.0
"""Longer than a busy machine takes for what is waited for."""


def asked_for(seen: Seen, purpose: str) -> list[Request]:
    return [request for request in seen.requests if request.purpose == purpose]


def counts(purpose: str) -> Callable[[Seen], object]:
    return lambda seen: len(asked_for(seen, purpose))


def by_purpose(**answers: Answer | Callable[[Request], Answer]) -> list[Step]:
    """A model that answers by what it is asked for; `turn` stands for the conversation itself."""

    def step(request: Request) -> Answer:
        answer = answers.get(request.purpose, answers.get("turn", "done"))
        return answer(request) if callable(answer) else answer

    return [step]


def slow(purpose: str) -> Callable[[Request, list[Request]], Any]:
    """A model that takes a moment for what it is asked for."""

    async def holds(request: Request, _before: list[Request]) -> None:
        await asyncio.sleep(0.3 if request.purpose == purpose else 0)

    return holds


def remembered(setup: SessionOptions) -> None:
    write_topics(setup.places, setup.project, setup.settings, ("project",) * 4, "2026-11-15")


def recalled(seen: Seen) -> object:
    """For each request of the conversation, the memories that stand in it."""
    return [
        [str(request.messages).count(f"rule_{number}.md:") for number in range(4)]
        for request in asked_for(seen, "turn")
    ]


def by_vectors(setup: SessionOptions) -> None:
    """Memories, and weights of no meaning, by which another one is nearest."""
    from tests.memory.search.by_lot import write_model

    remembered(setup)
    write_model(setup.places.home / "models" / "all-MiniLM-L6-v2")


ASKED = "the importer needs rule 1"
RECALLED = Turns(before=remembered, prompts=(ASKED,), sees=recalled)
TWICE = replace(RECALLED, prompts=(ASKED, ASKED.replace("1", "2")))


# A child agent, and the model that words what it does.


async def until_worded(request: Request, before: list[Request]) -> None:
    """A child goes on once its work was put into words, or after a while."""
    for _ in range(300 if request.purpose == "agent" and len(before) >= 2 else 0):
        if any(each.purpose == "progress" for each in before):
            return
        await asyncio.sleep(0.01)


def hiring(request: Request) -> Answer:
    is_first = not any(message.tool_uses for message in request.messages)
    order = {"description": "count the files", "prompt": "Count them.", "subagent_type": "general-purpose"}
    return tool_call("Agent", "a1", **order) if is_first else "done"


def working(request: Request) -> Answer:
    is_first = not any(message.tool_uses for message in request.messages)
    return tool_call("Glob", "g1", pattern="*") if is_first else "three files"


WORDED = Turns(
    says=by_purpose(turn=hiring, agent=working, progress="Counting the files"),
    holds=until_worded,
    sees=lambda seen: [str(request.messages) for request in asked_for(seen, "progress")],
)
OFTEN = {"agent.summary_interval_seconds": 0.05, "model.background": "claude-haiku-4-5"}


# Compactions that fail, or that are in vain.


def weighed(request: Request) -> Answer:
    """A reply after which the conversation has about as many tokens as it has."""
    return counted(len(str(request.messages)) // 4)


FILLING = Turns(prompts=tuple(f"thing {at} " * 4_500 for at in range(10)), options={"window_tokens": 40_000})
REFILLING = replace(FILLING, says=by_purpose(turn=weighed, summary="<summary>s</summary>"), sees=counts("summary"))


FAILING = replace(REFILLING, says=by_purpose(turn=weighed, summary="I would rather not."))


# Dreams


def beside_another(memory: Memory) -> object:
    """Whether it is time to dream while somebody else has been dreaming for half an hour."""
    folder = memory.scope.folder
    with locked(folder.dream_lock, label="dream", now=NOW - timedelta(minutes=30)):
        return memory.dreams.due().closed


def dreaming(request: Request) -> Answer:
    calls = sum(len(message.tool_uses) for message in request.messages)
    return assistant(f"looking, {calls}", tool_call("Glob", f"g{calls}", pattern="*")) if calls < 4 else "all is well"


async def dream(session: Session) -> object:
    await session.dream()
    return None


def dream_log(seen: Seen) -> object:
    folder = Places.at(seen.root / "home" / ".reverie", seen.root / "home" / ".claude").tasks
    return [task.log for task in list_tasks(folder, now=NOW) if task.kind == "dream"]


DREAMING = Turns(before=remembered, says=by_purpose(dream=dreaming), ends=dream, sees=dream_log)


# Extraction and notes

GENEROUS = {"budget.background_fraction": 1.0, "budget.background_usd_per_hour": 100.0}
TAUGHT = Turns(
    is_lively=True,
    says=by_purpose(turn=counted(5_000), extraction=Unavailable("no answer")),
    prompts=("Always use tabs in Go files, never spaces.", "Never use tabs in C files, always spaces."),
)


def drained(seen: Seen) -> object:
    """What was remembered before the process ended."""
    return sorted(path.name for path in seen.root.rglob("feedback_*.md"))


def outcomes(seen: Seen) -> object:
    """How each run of extraction ended, as the transcript says."""
    return [re.findall(r'"outcome":"([a-z ]+)"', path.read_text()) for path in sorted(seen.root.rglob("*.jsonl"))]


def without_index(setup: SessionOptions) -> None:
    """A memory directory whose index cannot be written."""
    folder = Memory.at(setup.places, setup.settings, setup.project, now=lambda: NOW).directory
    (folder / "MEMORY.md" / "x").mkdir(parents=True)


def editing(request: Request) -> Answer:
    calls = sum(len(message.tool_uses) for message in request.messages)
    return tool_call("Read", f"r{calls}", file_path="/nowhere/notes.md")


NOTING = Turns(
    is_lively=True,
    says=by_purpose(notes=editing),
    prompts=tuple(f"thing {at} " * 6_000 for at in range(2)),
    sees=counts("notes"),
)


def long_reads(request: Request) -> Answer:
    calls = sum(len(message.tool_uses) for message in request.messages)
    return tool_call("Read", f"c{calls}", file_path=str(PROJECT / f"f{calls}.txt"))


NOTED_AT_WORK = Turns(
    is_lively=True,
    says=by_purpose(turn=long_reads),
    files={f"f{at}.txt": f"line of {at}\n" * 1_500 for at in range(18)},
    prompts=("please read", "go on"),
    sees=counts("notes"),
)


# Hooks that ask a model, or that send a letter


def judged(kind: str) -> dict[str, object]:
    return {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": kind, "prompt": "Is it polite?"}]}]}}


RUDE = '{"ok": false, "reason": "it is rude"}'
JUDGED = Turns(says=by_purpose(hook=RUDE), holds=slow("hook"))
EXAMINED = Turns(says=by_purpose(agent=RUDE), holds=slow("agent"))


def letters(settings: Settings) -> object:
    """The header of a hook that names a variable of the environment."""
    with LoopbackServer(lambda _heard: Canned()) as server:
        handler = {
            "type": "http",
            "url": f"{server.url}/hook",
            "headers": {"X-Who": "$HOME"},
            "allowedEnvVars": ["HOME"],
        }
        hooks = {"UserPromptSubmit": [{"hooks": [handler]}]}
        mine = merge([Layer(SettingsSource.FLAG, (Given(("hooks",), hooks, "here"),))]).settings.hooks
        Turns()(replace(settings, hooks=mine))
        return [heard.headers.get("x-who") for heard in server.heard]


# Tools


def overlap(seen: Seen) -> object:
    """Whether a call began while another ran."""
    running = most = 0
    for event in seen.events:
        running += isinstance(event, ToolStarted) - isinstance(event, ToolEnded)
        most = max(most, running)
    return most > 1


TWO_CALLS = Turns(
    says=[
        assistant("both", *(tool_call("Bash", f"b{at}", command="sleep 0.2") for at in range(2))),
        "done",
    ],
    sees=overlap,
)


def serving(starts: float = 0, calls: float = 0) -> Turns:
    """A session with a tool server that takes so many seconds to begin, and for a call."""
    program = str(Path(__file__).with_name("tool_server.py"))
    entry = {"command": sys.executable, "args": ["-S", "-E", program, str(starts), str(calls)]}
    return Turns(
        files={"~/.reverie/mcp.json": json.dumps({"mcpServers": {"slow": entry}})},
        says=[tool_call("mcp__slow__add", "m1"), "done"],
        sees=lambda seen: (
            [tool.name for tool in seen.requests[0].tools if tool.name.startswith("mcp")],
            "forty-two" in str(seen.requests[-1].messages),
        ),
    )


PATIENT = {"tools.server_wait_seconds": LONG}

TIMED: dict[str, Row] = {
    "agent.summary_interval_seconds": Row(600.0, WORDED, OFTEN),
    "agent.summary_words_max": Row(9, WORDED, OFTEN),
    "agent.summary_words_min": Row(1, WORDED, OFTEN),
    "compaction.max_failures": Row(1, FAILING, {"compaction.max_refills": 50}),
    "compaction.max_refills": Row(1, REFILLING),
    "dream.lock_stale_minutes": Row(10.0, memories(beside_another), {"dream.min_sessions": 0}),
    "dream.view_messages": Row(2, DREAMING),
    "extraction.drain_seconds": Row(SHORT, replace(TAUGHT, holds=slow("extraction"), sees=drained), GENEROUS),
    "extraction.every_n_turns": Row(5, replace(TAUGHT, sees=counts("extraction")), GENEROUS),
    "extraction.max_retries": Row(0, replace(TAUGHT, before=without_index, sees=outcomes), GENEROUS),
    "hook.agent_timeout_seconds": Row(SHORT, EXAMINED, judged("agent")),
    "hook.prompt_timeout_seconds": Row(SHORT, JUDGED, judged("prompt")),
    "hook.http_env_vars": Row(["PATH"], letters),
    "notes.max_rounds": Row(1, NOTING, GENEROUS),
    "notes.tool_calls": Row(100, NOTED_AT_WORK, {**GENEROUS, "budget.turn_rounds": 8, "notes.init_tokens": 5_000}),
    "recall.session_bytes": Row(10, TWICE, {"recall.max_files": 1}),
    "recall.show_again_tokens": Row(0, replace(RECALLED, prompts=(ASKED, ASKED)), {"recall.max_files": 1}),
    "recall.timeout_seconds": Row(
        SHORT,
        replace(RECALLED, says=by_purpose(recall='{"selected_memories": []}'), holds=slow("recall")),
        {"recall.timeout_seconds": LONG, "model.background": "claude-haiku-4-5"},
    ),
    "recall.vectors_timeout_seconds": Row(
        0.0,
        replace(RECALLED, before=by_vectors, prompts=("why is it slow today",)),
        {"recall.vectors_timeout_seconds": LONG},
    ),
    "recall.words_timeout_seconds": Row(0.0, RECALLED),
    "snip.target_fraction": Row(0.3, SNIPPED, {"snip.enabled": True}),
    "tools.concurrency": Row(1, TWO_CALLS),
    "tools.deferred_above": Row(0, serving(), PATIENT),
    "tools.server_call_seconds": Row(SHORT, serving(calls=0.3), PATIENT),
    "tools.server_connect_seconds": Row(SHORT, serving(starts=0.3), PATIENT),
    "tools.server_wait_seconds": Row(0.0, serving(starts=0.3), PATIENT),
}
