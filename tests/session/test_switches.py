"""No switch ends a session: every setting that changes a request, alone and in pairs, for many turns."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest

from reverie.files.places import Places
from reverie.messages.message import Role, Usage
from reverie.models.choose import Access, choose
from reverie.models.ports import Ending, Reply, Request
from reverie.models.profiles import PROFILES, ProfileOverride
from reverie.permissions.policy import Mode
from reverie.session.events import Notice, TurnEnded, ViewReduced
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from reverie.testing.build import reply
from reverie.testing.clock import SettableClock
from reverie.testing.scripted_model import ScriptedModel
from reverie.testing.simulator import RunningSimulator, simulator
from reverie_simulator.script import Fault, Incoming, ScriptAction, ToolCall
from tests.requirements import requirement
from tests.session.session_desk import desk, ending, told

TURNS = 30
WINDOW = 36_000
SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "clearing.cached": {"clearing.cached.enabled": True, "clearing.cached.trigger_results": 6},
    "clearing.api": {"clearing.api.enabled": True, "clearing.api.clear_at_least_tokens": 5_000},
    "clearing.time": {"clearing.time.enabled": True},
    "collapse": {"collapse.enabled": True},
    "snip": {"snip.enabled": True},
    "reactive": {"compaction.reactive_only": True},
    "extended window": {"window.extended": True},
    "thinking": {"model.thinking": "on", "model.thinking_tokens": 1_024},
    "no thinking": {"model.thinking": "off"},
    "effort": {"model.effort": "low"},
    "server compaction": {"compaction.server": True},
    "short cache": {"cache.ttl": "5m", "cache.system_ttl": "5m"},
    "long cache": {"cache.ttl": "1h"},
    "no cache": {"cache.enabled": False},
    "no automatic compaction": {"compaction.auto": False},
    "no notes": {"notes.enabled": False},
    "resumed": {},
    "other model": {},
    "many calls": {},
}
"""Settings, and what a user does besides: goes on in a new process, changes the model, has much read at once."""
FURTHER: Mapping[str, Mapping[str, Any]] = {
    "no compaction": {"compaction.enabled": False},
    "no reserve": {"window.output_reserve_tokens": 0, "window.blocking_buffer_tokens": 0},
}
"""Switches of single tests."""
EARLIER, LATER = "claude-sonnet-4-5", "claude-opus-4-6"
NEEDS_A_LATER_MODEL = frozenset({"effort", "server compaction"})


@dataclass
class Drive:
    """A session that can be closed and gone on with, over HTTP with a provider that has a small window."""

    root: Path
    names: tuple[str, ...]
    provider: RunningSimulator
    clock: SettableClock
    session: Session
    model: str
    window: int | None

    @property
    def refusals(self) -> list[str]:
        """What the provider refused for another reason than the size of the prompt, counts included."""
        return [
            str(one.error) for one in self.provider.requests if one.status != 200 and "too long" not in str(one.error)
        ]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """Bodies that were answered, oldest first."""
        return [
            one.body
            for one in self.provider.requests
            if one.status == 200 and one.path.endswith("/messages") and isinstance(one.body, dict)
        ]

    async def go_on(self, model: str) -> None:
        """Close the session and resume it as another process would, with this model."""
        resumed = self.session.id
        await self.session.close()
        self.model = model
        self.session = Session.open(
            _setup(self.root, self.names, self.clock, self.provider, model, self.window), resume=resumed
        )
        await self.session.begin()


def _answers(incoming: Incoming, reads: Callable[[int], Sequence[int]]) -> ScriptAction:
    """Read some files, then say so."""
    if "notes on this session" in " ".join(incoming.last_user.split()):
        return ScriptAction(text="no notes today")
    if "<summary>" in incoming.last_user:
        return ScriptAction(text="<summary>\n# Current Work\nReading one file after another.\n</summary>")
    if incoming.tool_result:
        return ScriptAction(text="Read it.")
    found = re.findall(r"file number (\d+)\.", incoming.last_user)
    if not found:
        return ScriptAction(text="Nothing to read.")
    return ScriptAction(
        tool_calls=tuple(ToolCall("Read", {"file_path": f"file-{one}.txt"}) for one in reads(int(found[-1])))
    )


def _usual(incoming: Incoming) -> ScriptAction:
    return _answers(incoming, lambda number: [number] if number % 3 else [number, number + 100])


def _many(incoming: Incoming) -> ScriptAction:
    return _answers(incoming, lambda number: [number, number + 100, (number + 7) % TURNS, (number + 9) % TURNS + 100])


_numbers = count(1)


@asynccontextmanager
async def _driving(root: Path, names: tuple[str, ...], *, window: int | None = WINDOW) -> AsyncGenerator[Drive, None]:
    """A session with these switches, in a project of many files."""
    clock = SettableClock()
    project = root / "project"
    project.mkdir()
    for number in range(TURNS + 2):
        words = "\n".join(f"line {number} holds {(number * 7919 + at) % 1000}" for at in range(300))
        (project / f"file-{number}.txt").write_text(words, encoding="utf-8")
        (project / f"file-{number + 100}.txt").write_text(words[::-1], encoding="utf-8")
    model = LATER if NEEDS_A_LATER_MODEL & set(names) else EARLIER
    window = 90_000 if "server compaction" in names else window
    script = _many if "many calls" in names else _usual
    with simulator(script, clock=clock, window_tokens=window) as provider:
        session = Session.open(_setup(root, names, clock, provider, model, window))
        drive = Drive(root, names, provider, clock, session, model, window)
        try:
            await session.begin()
            yield drive
        finally:
            await drive.session.close()


def _setup(
    root: Path, names: tuple[str, ...], clock: SettableClock, provider: RunningSimulator, model: str, window: int | None
) -> SessionOptions:
    settings = Settings()
    for name in names:
        for key, value in {**SWITCHES, **FURTHER}[name].items():
            settings = _with(settings, key.split("."), value)
    access = Access(anthropic_key=provider.api_key, anthropic_url=provider.base_url)
    abilities = replace(PROFILES[model].abilities, cache_edits=True)
    return SessionOptions(
        settings=settings,
        places=Places.at(root / "home" / ".reverie", root / "home" / ".claude"),
        directory=root / "project",
        project=root / "project",
        model=model,
        make_model=lambda name: choose(name, access),
        now=clock.now,
        new_id=lambda: f"{next(_numbers):08x}-0000-4000-8000-000000000000",
        user_home=root / "home",
        environment={"PATH": "/usr/bin:/bin"},
        overrides={model: ProfileOverride(abilities=abilities)},
        window_tokens=window,
        mode=Mode.ACCEPT_EDITS,
    )


def _with(settings: Any, path: list[str], value: Any) -> Any:
    inner = value if len(path) == 1 else _with(getattr(settings, path[0]), path[1:], value)
    return replace(settings, **{path[0]: inner})


def _sample(thorough: bool) -> list[tuple[str, ...]]:
    alone = [(name,) for name in SWITCHES]
    pairs = [pair for pair in combinations(SWITCHES, 2) if {"thinking", "no thinking"} != set(pair)]
    if thorough:
        return [*alone, *pairs]
    chosen = random.Random(3)
    return [*chosen.sample(alone, 2), *chosen.sample(pairs, 2)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case of the matrix is a test of its own, with a time-out of its own."""
    if "names" in metafunc.fixturenames:
        metafunc.parametrize("names", _sample(bool(metafunc.config.getoption("--thorough"))), ids=" + ".join)


async def _driven(root: Path, names: tuple[str, ...], turns: int) -> None:
    async with _driving(root, names) as drive:
        for number in range(1, turns + 1):
            drive.clock.advance(minutes=7 if number % 5 == 0 else 1)
            await _turn(drive, number)
            if "resumed" in names and number % 8 == 0:
                await drive.go_on(drive.model)
            if "other model" in names and number % 12 == 0:
                await drive.go_on(EARLIER if drive.model == LATER else LATER)
        await drive.session.compact()
        await _turn(drive, turns + 1)
        assert drive.refusals == [], names
        last = next(body for body in reversed(drive.sent) if _is_turn(body))
        lost = [number for number in range(1, turns + 2) if f"file number {number}." not in json.dumps(last)]
        assert not lost, (names, lost)


def _is_turn(body: dict[str, Any]) -> bool:
    """Whether a request is the second of a turn, behind the calls."""
    return any(block["type"] == "tool_result" for block in body["messages"][-1]["content"])


async def _turn(drive: Drive, number: int) -> None:
    events = [event async for event in drive.session.send(f"Please read file number {number}.")]
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    if ended.ending is not Ending.COMPLETED:
        # Where compaction waits for the user's word, the message says so and the word helps.
        assert "/compact" in ended.text, (drive.names, number, ended.text)
        await drive.session.compact()
        ended = [event async for event in drive.session.send(f"Please read file number {number}.")][-1]
        assert isinstance(ended, TurnEnded)
    assert ended.ending is Ending.COMPLETED, (drive.names, number, ended.text)


@requirement("session:switches:go-on")
@pytest.mark.moves_prefix
async def test_no_switch_ends_a_session(tmp_path: Path, names: tuple[str, ...], thorough: bool) -> None:
    # Fourteen fill the window once, and have a session resumed and given another model.
    await _driven(tmp_path, names, TURNS if thorough else 14)


REFUSED = {
    "thinking": ("thinking", "thinking: Extra inputs are not permitted"),
    "effort": ("output_config", "This model does not support the effort parameter."),
    "clearing.api": ("context_management", "context_management: Extra inputs are not permitted"),
    "server compaction": (
        "context_management",
        "context_management.edits.0: compaction is not supported on this model",
    ),
    "extended window": ("context-1m", "The long context beta is not yet available for this subscription."),
    "long cache": ("ttl", "system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted"),
    "no reason given": ("thinking", "Your request could not be processed."),
}


@requirement("session:switches:refused")
@pytest.mark.moves_prefix
@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_feature_is_left_out_from_then_on(tmp_path: Path, name: str) -> None:
    part, words = REFUSED[name]
    switch = "thinking" if name == "no reason given" else name

    def refuses(incoming: Incoming) -> ScriptAction | None:
        has_it = f'"{part}"' in json.dumps(incoming.body) or part in incoming.headers.get("anthropic-beta", "")
        return ScriptAction(fault=Fault("invalid", message=words)) if has_it else _usual(incoming)

    async with _driving(tmp_path, (switch,)) as drive:
        drive.provider.simulation.use_script(refuses)
        events = [event async for event in drive.session.send("Please read file number 1.")]
        refused = len(drive.refusals)
        await _turn(drive, 2)
        await _turn(drive, 3)
        after = len(drive.refusals)

    notices = [event.text for event in events if isinstance(event, Notice)]
    assert [words in text for text in notices] == [True]
    setting = next(iter(SWITCHES[switch])).rpartition(".")[0]
    assert setting in notices[0]
    assert after == refused == 1


@requirement("session:switches:refused")
async def test_another_refusal_stays_a_refusal(tmp_path: Path) -> None:
    async with _driving(tmp_path, ("thinking",)) as drive:
        drive.provider.act(*[ScriptAction(fault=Fault("invalid", message="messages.0: this is forbidden"))] * 2)
        ended = [event async for event in drive.session.send("Please read file number 1.")][-1]
        assert isinstance(ended, TurnEnded)
        assert "this is forbidden" in ended.text
        await _turn(drive, 2)
        assert drive.sent[-1]["thinking"]["type"] == "enabled"


@requirement("session:switches:go-on")
async def test_the_extended_window_is_asked_for_and_used(tmp_path: Path) -> None:
    async with _driving(tmp_path, ("extended window",), window=None) as drive:
        drive.provider.simulation.use_script(lambda _incoming: ScriptAction(text="Read it."))
        events = [event async for event in drive.session.send("many words that nobody reads " * 45_000)]

    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.ending is Ending.COMPLETED, ended.text
    assert ended.usage.context_tokens > 200_000


@requirement("session:switches:room-to-answer")
@pytest.mark.moves_prefix
async def test_a_full_window_without_a_reserve_leaves_room_for_an_answer(tmp_path: Path) -> None:
    async with _driving(tmp_path, ("no reserve", "no notes", "reactive")) as drive:
        drive.provider.simulation.use_script(lambda incoming: _answers(incoming, lambda _: ()))
        used = [0]
        while used[-1] >= max(used) and len(used) < 100:
            words = "And more " * (500 if used[-1] < 0.95 * WINDOW else 40)
            assert ending(await told(drive.session, words)).ending is Ending.COMPLETED
            used.append(drive.session.status.used_tokens)

    assert max(used) > 0.99 * WINDOW, "it came close to the end"
    assert used[-1] < max(used), "and was compacted"
    assert min(body["max_tokens"] for body in drive.sent) >= WINDOW // 100


@requirement("context:collapse:by-model")
@pytest.mark.moves_prefix
async def test_the_model_writes_what_stands_for_a_folded_span(tmp_path: Path) -> None:
    spans: list[str] = []

    def folds(incoming: Incoming) -> ScriptAction | None:
        if "folded into one note" not in " ".join(incoming.last_user.split()):
            return _usual(incoming)
        spans.append(json.dumps(incoming.body["messages"]))
        return ScriptAction(text="Files were read, and herons counted.")

    async with _driving(tmp_path, ("collapse", "no notes")) as drive:
        drive.provider.simulation.use_script(folds)
        for number in range(1, 21):
            await _turn(drive, number)
        last = json.dumps(drive.sent[-1])
        assert drive.refusals == []

    assert spans
    assert all("tool_use" in span and "holds" in span for span in spans)
    assert "herons counted" in last


@requirement("session:switches:go-on")
@pytest.mark.moves_prefix
async def test_where_compaction_is_off_the_way_on_is_told_and_works(tmp_path: Path) -> None:
    async with _driving(tmp_path, ("no compaction",)) as drive:
        ended = None
        for number in range(1, 9):
            ended = ending(await told(drive.session, f"Please read file number {number}."))
            if ended.ending is not Ending.COMPLETED:
                break
        assert ended is not None
        assert "compaction.enabled" in ended.text
        assert "/snip" in ended.text
        drive.session.snip()
        ended = ending(await told(drive.session, "Please read file number 9."))
        assert ended.ending is Ending.COMPLETED, ended.text


@requirement("session:usage:implausible")
@pytest.mark.parametrize("usage", [Usage(990_000, 12), Usage(3, 700_000), Usage(cache_read_tokens=10**9), Usage(1, 1)])
async def test_a_figure_that_cannot_be_true_is_not_believed(tmp_path: Path, usage: Usage) -> None:
    def lies(request: Request) -> Reply:
        honest = replace(reply("Yes."), model=EARLIER)
        is_first = sum(message.role is Role.USER for message in request.messages) == 1
        return replace(honest, usage=usage) if is_first else honest

    with desk(tmp_path) as at:
        at.settings = replace(Settings(), extraction=replace(Settings().extraction, enabled=False))
        at.models[EARLIER] = ScriptedModel([lies] * 9, name=EARLIER)
        async with at.start() as session:
            first = await told(session, "Is the bridge over the Eider open?")
            tokens = session.status.used_tokens
            second = await told(session, "And tomorrow?")
            resumed = session.id
        async with at.resume(resumed) as session:
            third = await told(session, "And on Sunday?")

    assert [ending(each).ending for each in (first, second, third)] == [Ending.COMPLETED] * 3
    assert not [event for each in (first, second, third) for event in each if isinstance(event, ViewReduced)]
    assert 1_000 < tokens < 30_000
