"""Does recall arrive: `python -m bench.recall.arrival [--turns 50] [--busy 4] [--models DIR]`.

One-round turns of `-p`, of the terminal and of the library, by words, with vectors (where DIR holds the weights, as
`$REVERIE_HOME/models` does) and with a model that chooses (at once, and too late), beside processes that only burn CPU
time. Counted is in how many first requests the memory stands that ranks first for the words of the turn. A cold
process may answer by words or by vectors; the terminal and the library are warm after their first turn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tests.apps.tui.tmux import real_terminal

from reverie import Memory, Settings, Topic
from reverie.files.places import Places
from reverie.memory.topics.value import MemoryType
from reverie.messages.blocks import Json, JsonObject
from reverie.testing.simulator import simulator

MODEL = "claude-sonnet-4-5"
SELECTOR = "claude-haiku-4-5"
_ASKS_SELECTOR = "selected_memories"
_PLACES = "harbour meadow glacier orchard quarry lagoon canyon prairie volcano estuary tundra reef delta mesa fjord"
_THINGS = "invoices telescopes tractors violins lanterns beehives elevators saddles kayaks looms clocks kilns"
_DEEDS = "exported archived labelled weighed audited signed translated encrypted sorted rotated"


VOCABULARY = ("unknown", *_PLACES.split(), *_THINGS.split(), *_DEEDS.split())
"""What a model of vectors must know to tell the memories from each other."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the paths that may rank first for it."""

    text: str
    by_words: str
    by_vectors: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--busy", type=int, default=4)
    parser.add_argument("--models", type=Path, help="a folder with the weights of the vectors")
    parser.add_argument("--ways", default="print,terminal,library")
    options = parser.parse_args()
    failed = 0
    print(f"{'way':10}{'recall':16}first requests with the memory, of {options.turns}", flush=True)
    with _busy(options.busy):
        for kind in ("words", "vectors", "selector", "late selector"):
            if kind == "vectors" and options.models is None:
                continue
            for way in options.ways.split(","):
                arrived = count_arrived(way, kind, options.turns, options.models)
                failed += arrived < options.turns
                print(f"{way:10}{kind:16}{arrived}", flush=True)
    return 1 if failed else 0


def count_arrived(way: str, kind: str, turns: int, models: Path | None = None) -> int:
    """In how many of so many turns the memory came with the first request."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        provider = stack.enter_context(simulator(_script(kind)))
        home, project = root / "home", root / "project"
        home.mkdir()
        project.mkdir()
        if kind == "vectors" and models is not None:
            (home / "models").symlink_to(models.resolve())
        _write_settings(home, kind)
        environment = {
            "PATH": os.environ["PATH"],
            "REVERIE_HOME": str(home),
            # Nobody is there to answer whether vectors may be downloaded.
            "CI": "true",
            "HOME": str(root),
            "ANTHROPIC_API_KEY": provider.api_key,
            "ANTHROPIC_BASE_URL": provider.base_url,
        }
        questions = _filled(home, project, turns)
        ask = {"print": _print, "terminal": _terminal, "library": _library}[way]
        ask(project, questions, environment)
        firsts = [body for body in map(_main_body, provider.requests) if body is not None]
        warm = kind == "vectors" and way != "print"
        return sum(
            any(_was_sent(body, question, questions[0].text, warm=warm and number > 0) for body in firsts)
            for number, question in enumerate(questions)
        )


def _was_sent(body: JsonObject, question: Question, opening: str, *, warm: bool) -> bool:
    """Whether this is the first request of the question's turn and has the memory that ranks first.

    It stands behind the question, or behind an earlier one, which is why it is not shown again; before the opening
    question stands only the list of all memories.
    """
    text = json.dumps(body["messages"], ensure_ascii=False)
    _, asked, after = text.rpartition(question.text)
    if not asked or '"role": "assistant"' in after:
        return False
    shown = after if opening not in text else text.partition(opening)[2]
    return question.by_vectors in shown or (not warm and question.by_words in shown)


def _print(project: Path, questions: Sequence[Question], environment: Mapping[str, str]) -> None:
    for question in questions:
        _run(["-m", "reverie", "-p", question.text, "-m", MODEL], project, environment)


def _terminal(project: Path, questions: Sequence[Question], environment: Mapping[str, str]) -> None:
    with real_terminal("-m", MODEL, environment=environment, project=project, columns=120, rows=40) as terminal:
        terminal.sees(MODEL)
        for number, question in enumerate(questions, 1):
            terminal.enter(question.text)
            terminal.until(partial(_is_answered, question.text), f"answer {number}")


_LIBRARY = """
import asyncio, sys
from reverie import Session

async def ask():
    async with Session.start(".", model=sys.argv[1]) as session:
        for question in sys.argv[2:]:
            async for _ in session.send(question):
                pass

asyncio.run(ask())
"""


def _library(project: Path, questions: Sequence[Question], environment: Mapping[str, str]) -> None:
    _run(["-c", _LIBRARY, MODEL, *(question.text for question in questions)], project, environment)


def _run(arguments: Sequence[str], project: Path, environment: Mapping[str, str]) -> None:
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True, timeout=600)


def _is_answered(question: str, screen: str) -> bool:
    _, asked, after = screen.rpartition(question)
    return bool(asked) and "understood" in after


def _main_body(record: object) -> JsonObject | None:
    body = getattr(record, "body", None)
    if (
        not isinstance(body, dict)
        or body.get("model") != MODEL
        or "<current_notes>" in json.dumps(body["messages"][-1])
    ):
        return None
    return body


def _script(kind: str) -> list[Json]:
    """The model chooses nothing, at once or after ten seconds; the conversation is one word long."""
    chosen: dict[str, Json] = {"text": json.dumps({_ASKS_SELECTOR: []})}
    if kind == "late selector":
        chosen["delay_ms"] = 10_000
    return [
        {"when": {"model": SELECTOR}, "then": chosen},
        {"when": {"last_user": "<current_notes>"}, "then": "unchanged"},
        {"then": "understood"},
    ]


def _write_settings(home: Path, kind: str) -> None:
    lines = ["[notes]", "enabled = false", "[extraction]", "enabled = false", "[dream]", "enabled = false"]
    lines += ["[recall]", "session_bytes = 10_000_000"]
    if "selector" in kind:
        lines += ["timeout_seconds = 0.5", "[model]", f'background = "{SELECTOR}"']
    (home / "settings.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _filled(home: Path, project: Path, turns: int) -> list[Question]:
    """A store of more memories than questions; like ones share the place or the thing."""
    draw = random.Random(7)
    names = [(place, thing) for place in _PLACES.split() for thing in _THINGS.split()]
    draw.shuffle(names)
    with Memory.at(Places.at(home, home / ".claude"), Settings(), project) as memory:
        topics = []
        for place, thing in names[: 2 * turns + 20]:
            deed, day = draw.choice(_DEEDS.split()), draw.randrange(1, 28)
            said = f"The {thing} of the {place} site are {deed} on day {day} of each month"
            body = f"{said}, after the stock is counted."
            topics.append(Topic("", f"{place} {thing}", said, MemoryType.project, body=body))
        memory.save_many(topics)
        if memory.has_vectors:
            memory.index.sweep()
            memory.index.embed_all()
        questions = []
        for place, thing in names[:turns]:
            text = f"When do we deal with the {thing} at {place}?"
            firsts = [
                memory.recall_report(replace(memory.build_query(text), by_words=by_words)).hits[0].topic.path
                for by_words in (True, False)
            ]
            questions.append(Question(text, *firsts))
        return questions


@contextmanager
def _busy(count: int) -> Iterator[None]:
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.wait()


if __name__ == "__main__":
    sys.exit(main())
