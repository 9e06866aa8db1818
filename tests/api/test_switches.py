"""No switch ends a session: every setting that changes a request, alone and in pairs, for thirty turns."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest

from reverie.agent.events import Ending, Notice, TurnEnded
from reverie.api.session import Session
from reverie.api.session_setup import Setup
from reverie.messages.codec import decode_json
from reverie.models.faults import Provider, fault, read_failure
from reverie.models.messages_stream import MessageAssembly
from reverie.permissions.policy import Mode
from reverie.places import Places
from reverie.ports import Event, Request
from reverie.request_body import encode_body, request_betas, request_body
from reverie.settings import Settings
from reverie.simulator.answers import Answer, Refusal
from reverie.simulator.script import Action, Fault, Incoming, ToolCall
from reverie.simulator.simulation import MESSAGES, Simulation
from reverie.testing.clock import SettableClock
from reverie.tokens.profiles import PROFILES, ProfileOverride
from tests.requirements import requirement

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
}
NEEDS_A_LATER_MODEL = frozenset({"effort", "server compaction"})


@dataclass
class InProcess:
    """The simulated provider without a network, with a window of its own and every rule of the real one."""

    name: str
    simulation: Simulation
    sent: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        body = {**request_body(request), "stream": True}
        headers = {"x-api-key": "any", "anthropic-version": "2023-06-01", "anthropic-beta": _listed(request)}
        result = self.simulation.handle(MESSAGES, encode_body(body), headers).result
        if isinstance(result, Refusal):
            error = result.error
            if "too long" not in error.message:
                self.refusals.append(f"{request.purpose}: {error.message}")
            raise fault(read_failure(error.status, error.as_json("req_1"), {}), Provider("simulator"))
        assert isinstance(result, Answer)
        if request.purpose == "turn":
            self.sent.append(body)
        assembly = MessageAssembly(request.model)
        message = decode_json(json.dumps({**result.message, "usage": result.final_usage}))
        for event in assembly.take({"type": "message_start", "message": message}):
            yield event
        for event in assembly.finish("req_1"):
            yield event


def _listed(request: Request) -> str:
    return ",".join(request_betas(request))


def _answers(window: int) -> Callable[[Incoming], Action | None]:
    """Read a file or two, then say so; a prompt beyond the window is refused as the provider does."""

    def act(incoming: Incoming) -> Action:
        size = len(json.dumps(incoming.body["messages"])) * 10 // 36
        if size > window:
            return Action(
                fault=Fault("prompt_too_long", message=f"prompt is too long: {size} tokens > {window} maximum")
            )
        if "notes on this session" in " ".join(incoming.last_user.split()):
            return Action(text="no notes today")
        if "<summary>" in incoming.last_user:
            return Action(text="<summary>\n# Current Work\nReading one file after another.\n</summary>")
        if incoming.tool_result:
            return Action(text="Read it.")
        number = int(incoming.last_user.rpartition("number ")[2].split(".")[0] or 0)
        files = [number] if number % 3 else [number, number + 100]
        return Action(tool_calls=tuple(ToolCall("Read", {"file_path": f"file-{one}.txt"}) for one in files))

    return act


_numbers = count(1)


def _session(
    root: Path, names: tuple[str, ...], clock: SettableClock, *, window: int | None = WINDOW
) -> tuple[Session, InProcess]:
    project = root / "project"
    project.mkdir()
    for number in range(TURNS + 2):
        words = " ".join(f"line {number} holds {(number * 7919 + at) % 1000}" for at in range(700))
        (project / f"file-{number}.txt").write_text(words, encoding="utf-8")
        (project / f"file-{number + 100}.txt").write_text(words[::-1], encoding="utf-8")
    settings = Settings()
    for name in names:
        for key, value in SWITCHES[name].items():
            settings = _with(settings, key.split("."), value)
    model = "claude-opus-4-6" if NEEDS_A_LATER_MODEL & set(names) else "claude-sonnet-4-5"
    window = 90_000 if "server compaction" in names else window
    provider = InProcess(model, Simulation(clock=clock, seed=1, script=_answers(window or WINDOW)))
    abilities = replace(PROFILES[model].abilities, cache_edits=True)
    setup = Setup(
        settings=settings,
        places=Places.at(root / "home" / ".reverie", root / "home" / ".claude"),
        directory=project,
        project=project,
        model=model,
        make_model=lambda _name: provider,
        now=clock.now,
        new_id=lambda: f"{next(_numbers):08x}-0000-4000-8000-000000000000",
        user_home=root / "home",
        environment={"PATH": "/usr/bin:/bin"},
        overrides={model: ProfileOverride(abilities=abilities)},
        window_tokens=window,
        mode=Mode.ACCEPT_EDITS,
    )
    return Session.made(setup), provider


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


async def _driven(root: Path, names: tuple[str, ...]) -> None:
    clock = SettableClock()
    session, provider = _session(root, names, clock)
    async with session:
        for number in range(1, TURNS + 1):
            clock.advance(minutes=7 if number % 5 == 0 else 1)
            await _turn(session, number, names)
        await session.compact()
        await _turn(session, TURNS + 1, names)
    assert provider.refusals == [], names
    last = json.dumps(provider.sent[-1])
    lost = [number for number in range(1, TURNS + 2) if f"file number {number}." not in last]
    assert not lost, (names, lost)


async def _turn(session: Session, number: int, names: tuple[str, ...]) -> None:
    events = [event async for event in session.send(f"Please read file number {number}.")]
    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    if ended.ending is not Ending.COMPLETED:
        # Where compaction waits for the user's word, the message says so and the word helps.
        assert "/compact" in ended.text, (names, number, ended.text)
        await session.compact()
        ended = [event async for event in session.send(f"Please read file number {number}.")][-1]
        assert isinstance(ended, TurnEnded)
    assert ended.ending is Ending.COMPLETED, (names, number, ended.text)


@requirement("session:switches:go-on")
@pytest.mark.moves_prefix
async def test_no_switch_ends_a_session(tmp_path: Path, thorough: bool) -> None:
    for number, names in enumerate(_sample(thorough)):
        root = tmp_path / str(number)
        root.mkdir()
        await _driven(root, names)


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
    session, provider = _session(tmp_path, (switch,), SettableClock())
    usual = _answers(WINDOW)

    def refuses(incoming: Incoming) -> Action | None:
        has_it = f'"{part}"' in json.dumps(incoming.body) or part in incoming.headers.get("anthropic-beta", "")
        return Action(fault=Fault("invalid", message=words)) if has_it else usual(incoming)

    provider.simulation.use_script(refuses)
    async with session:
        events = [event async for event in session.send("Please read file number 1.")]
        refused = len(provider.refusals)
        await _turn(session, 2, (name,))
        await _turn(session, 3, (name,))

    notices = [event.text for event in events if isinstance(event, Notice)]
    assert [words in text for text in notices] == [True]
    setting = next(iter(SWITCHES[switch])).rpartition(".")[0]
    assert setting in notices[0]
    assert len(provider.refusals) == refused == 1


@requirement("session:switches:refused")
async def test_another_refusal_stays_a_refusal(tmp_path: Path) -> None:
    session, provider = _session(tmp_path, ("thinking",), SettableClock())
    provider.simulation.add_actions(*[Action(fault=Fault("invalid", message="messages.0: this is forbidden"))] * 2)
    async with session:
        ended = [event async for event in session.send("Please read file number 1.")][-1]
        assert isinstance(ended, TurnEnded)
        assert "this is forbidden" in ended.text
        await _turn(session, 2, ())

    assert provider.sent[-1]["thinking"]["type"] == "enabled"


@requirement("session:switches:go-on")
async def test_the_extended_window_is_asked_for_and_used(tmp_path: Path) -> None:
    session, provider = _session(tmp_path, ("extended window",), SettableClock(), window=None)
    provider.simulation.use_script(lambda _incoming: Action(text="Read it."))
    async with session:
        events = [event async for event in session.send("many words that nobody reads " * 45_000)]

    ended = events[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.ending is Ending.COMPLETED, ended.text
    assert ended.usage.context_tokens > 200_000


@requirement("context:collapse:by-model")
@pytest.mark.moves_prefix
async def test_the_model_writes_what_stands_for_a_folded_span(tmp_path: Path) -> None:
    session, provider = _session(tmp_path, ("collapse", "no notes"), SettableClock())
    usual, spans = _answers(WINDOW), []

    def folds(incoming: Incoming) -> Action | None:
        if "folded into one note" not in " ".join(incoming.last_user.split()):
            return usual(incoming)
        spans.append(json.dumps(incoming.body["messages"]))
        return Action(text="Files were read, and herons counted.")

    provider.simulation.use_script(folds)
    async with session:
        for number in range(1, 21):
            await _turn(session, number, ("collapse",))

    assert spans
    assert all("tool_use" in span and "holds" in span for span in spans)
    assert "herons counted" in json.dumps(provider.sent[-1])
    assert provider.refusals == []
