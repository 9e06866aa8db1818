"""However small the window: every request is answered, and what nobody has answered is whole while it can fit."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import pytest

from reverie.apps.replay.figures import SessionFigures
from reverie.apps.replay.run import ReplaySetup, replay
from reverie.apps.replay.strategies import STRATEGIES
from reverie.context.strategy import find_strategy
from reverie.context.window import Window
from reverie.context.wrap import wrap
from reverie.messages.blocks import Json, ToolResult, ToolUse
from reverie.messages.codec import message_to_wire
from reverie.messages.entries import Entry
from reverie.messages.message import Message, assistant, user
from reverie.messages.trajectory import read_recording
from reverie.models.ports import Ending
from reverie.models.profiles import profile
from reverie.models.tokens.window import budget_by
from reverie.session.events import TurnEnded
from reverie.settings import ExtractionSettings, Settings
from reverie.testing.simulator import simulator
from reverie_simulator.rules.check import validate
from tests.context.kit import Session
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, told

MODEL = "claude-sonnet-4-5"
SMALL = (4_000, 6_000, 8_000)
SAMPLES = (20_000, 30_000, 40_000, 60_000)


def talk(seed: int, rounds: int = 24) -> list[Message]:
    """A session with large and parallel results, long typed messages and short ones."""
    dice = random.Random(seed)
    made: list[Message] = []
    for number in range(rounds):
        if number % 4 == 0:
            words = dice.choice((8, 60, 1_200))
            made.append(user(f"request {number}: " + " ".join(f"heron{dice.randrange(999)}" for _ in range(words))))
        ids = [f"call_{number}_{each}" for each in range(dice.choice((1, 1, 3)))]
        made.append(assistant(f"round {number}", *(ToolUse(one, "fetch", {"name": f"pond-{one}"}) for one in ids)))
        texts = [f"{one} " + f"reed {dice.randrange(99)}\n" * dice.choice((4, 300, 2_500)) for one in ids]
        made.append(user(*(ToolResult(one, text) for one, text in zip(ids, texts, strict=True))))
        if number % 4 == 3:
            made.append(assistant("that is done"))
    return made


def requests(whole: list[Message]) -> Iterator[list[Message]]:
    """The conversation as it is handed over before each reply."""
    for number, message in enumerate(whole):
        if message.role == "assistant":
            yield whole[:number]


def replayed(entries: list[Entry], window: int, folder: Path, name: str = "default") -> SessionFigures:
    budget = budget_by(Settings(), MODEL, window=window)
    return replay(
        "made",
        entries,
        ReplaySetup(MODEL, profile(MODEL), budget, Settings(), find_strategy(name, STRATEGIES), spills=folder),
    )


@requirement("window:small:answers")
@pytest.mark.sampled
@pytest.mark.parametrize("window", SMALL)
def test_replay_answers_every_request(window: int, tmp_path: Path) -> None:
    session = Session()
    for message in talk(window):
        session.reply(*message.content) if message.role == "assistant" else session.say(*message.content)

    figures = replayed(session.entries, window, tmp_path)

    assert figures.stopped is None
    assert len(figures.requests) == figures.steps


@requirement("window:small:answers")
def test_replay_of_the_samples_answers_every_request(shared_data: Path, tmp_path: Path, thorough: bool) -> None:
    files = sorted(one for one in shared_data.rglob("*.json*") if {"transcripts", "trajectories"} & set(one.parts))
    files = [file for file in files if "file-history" not in file.parts]
    cases = [(file, window) for file in files for window in SAMPLES]
    some = list(zip(random.Random(12).sample(files, len(SAMPLES)), SAMPLES, strict=True))
    for file, window in cases if thorough else some:
        entries = list(read_recording(file))
        if not any(getattr(entry, "message", None) is not None for entry in entries):
            continue
        figures = replayed(entries, window, tmp_path)
        assert figures.stopped is None, (file.name, window)
        assert len(figures.requests) == figures.steps, (file.name, window)


@requirement("window:small:answers", "window:small:unanswered")
@pytest.mark.sampled
@pytest.mark.parametrize("window", SMALL)
def test_a_loop_of_ones_own_goes_on_and_is_given_no_pointer_that_it_cannot_follow(window: int, tmp_path: Path) -> None:
    made = Window(MODEL, window=window, directory=tmp_path)
    fetch = {"name": "fetch", "input_schema": {"type": "object", "properties": {"name": {"type": "string"}}}}
    for given in requests(talk(window)):
        request = made.prepare(given, tools=[fetch])

        assert validate(request.body) is None
        sent = json.dumps(request.body["messages"])
        assert str(tmp_path) not in sent
        assert "read again" not in sent.lower()
        newest = given[-1].tool_results
        if newest and sum(len(one.text) for one in newest) < window:  # about a quarter of it in tokens
            shown = {block["tool_use_id"]: block["content"] for block in _results(request.body)}
            assert all(shown[one.tool_use_id] == one.text for one in newest), "what waits for an answer is whole"
    assert not list(tmp_path.rglob("*.txt"))


@requirement("window:small:answers")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_wrapped_client_goes_on() -> None:
    script: list[Json] = [{"then": "fine"}]
    with (
        simulator(script) as provider,
        anthropic.Anthropic(api_key=provider.api_key, base_url=provider.base_url) as inner,
    ):
        client = wrap(inner, window=6_000)
        for given in requests(talk(3, rounds=12)):
            messages: Any = [message_to_wire(message) for message in given]
            client.messages.create(model=MODEL, max_tokens=100, messages=messages)

        assert all(record.status == 200 for record in provider.requests)


@requirement("window:small:answers", "window:small:unanswered")
@pytest.mark.moves_prefix("compactions")
async def test_a_session_with_large_files_goes_on_after_every_turn(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"last_user": "about to be replaced"}, "then": "<summary>Ponds were read.</summary>"},
        *(
            {"times": 1, "then": then}
            for turn in range(3)
            for then in (
                *(calls(("Read", {"file_path": f"pond-{turn}-{each}.txt"})) for each in range(3)),
                calls(*(("Read", {"file_path": f"pond-{turn}-{each}.txt"}) for each in range(2))),
                f"read {turn}",
            )
        ),
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        at.settings = replace(at.settings, extraction=ExtractionSettings(enabled=False))
        at.options["window_tokens"] = 30_000
        for turn in range(3):
            for each in range(3):
                at.file(f"pond-{turn}-{each}.txt", f"pond {turn} {each}: reeds and herons\n" * (200 + 350 * each))
        async with at.start() as session:
            events = [event for turn in range(3) for event in await told(session, f"look at the ponds of day {turn}")]
            await session.compact()
            events += await told(session, "and now?")

        endings = [event.ending for event in events if isinstance(event, TurnEnded)]
        assert endings == [Ending.COMPLETED] * 4
        assert all(record.status == 200 for record in at.provider.requests)
        for body in at.bodies:
            for block in _results(body)[-1:]:
                assert "pond" in json.dumps(block["content"])
                assert "cleared" not in json.dumps(block["content"])


def _results(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool results of the newest message."""
    return [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]
