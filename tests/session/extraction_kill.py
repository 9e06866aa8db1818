"""A session that learns by rules and can be killed at any moment, and the check of what it leaves.

`python -m tests.session.extraction_kill KILLS [SEED]` does so many times what the tests do a few times.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex

from reverie.files.places import Places
from reverie.memory.extraction.cursor import cursor
from reverie.memory.memory import Memory
from reverie.memory.topics.topic import Topic
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.transcript import read_entries
from reverie.models.choose import Access, choose
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings
from tests.memory.extraction.kit import MONDAY
from tests.memory.kill.worker import start
from tests.memory.stores import find_damaged
from tests.session.session_desk import Person, told

SUBJECTS = ("apples", "boats", "clocks", "dishes")


def rule(subject: str) -> str:
    return f"Never put {subject} into the shared cache, they break replication of orders."


@dataclass(frozen=True)
class Left:
    """What a kill left behind, and what the next session made of it."""

    kept: int
    """How many memories there were right after the kill."""
    said: int
    """How many rules the transcript holds."""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Home:
    """Where a session is held, without any provider: its threads would not outlive the fork."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    def setup(self) -> SessionOptions:
        return SessionOptions(
            settings=Settings(),
            places=Places.at(self.home / ".reverie", self.home / ".claude"),
            directory=self.project,
            project=self.project,
            model="offline",
            make_model=lambda name: choose(name, Access()),
            now=lambda: MONDAY,
            new_id=lambda: f"{token_hex(4)}-0000-4000-8000-{token_hex(6)}",
            user_home=self.home,
            environment={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(self.home)},
            approver=Person(),
            is_interactive=True,
            version="test",
        )


def kill_once(at: Home, chance: random.Random, *, has_learned: bool) -> Left:
    """Hold a session in a process of its own, kill it somewhere, and look; `has_learned` waits for a first memory."""
    at.project.mkdir(parents=True)
    at.home.mkdir()
    heard = at.root / "said"
    child = start(partial(_hold, at), heard)
    lines = chance.randrange(1, len(SUBJECTS) + 2)
    if has_learned:
        _wait_until(lambda: any(path.name != "MEMORY.md" for path in at.home.glob(".reverie/projects/*/memory/*.md")))
    else:
        _wait_until(lambda: heard.exists() and heard.read_bytes().count(b"\n") >= lines)
    time.sleep(chance.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return _left(at)


def _hold(at: Home) -> None:
    asyncio.run(_talk(at))


async def _talk(at: Home) -> None:
    session = Session.open(at.setup())
    os.write(1, b"ready\n")
    for subject in SUBJECTS:
        await told(session, rule(subject))
        os.write(1, b"turn\n")
    await session.close()
    os.write(1, b"closed\n")


def _wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(60_000):
        if holds():
            return
        time.sleep(0.001)
    raise AssertionError("the session does nothing")


def _left(at: Home) -> Left:
    transcript = next(iter(sorted(at.home.rglob("projects/*/*.jsonl"))), None)
    entries = tuple(read_entries(transcript)) if transcript else ()
    kept, problems = _topics(at)
    problems += [f"not kept, though the cursor is past it: {each}" for each in _covered(entries) - set(kept)]
    said = _rules(entries)
    if transcript is not None and said:
        asyncio.run(_go_on(at, transcript.stem))
        after, more = _topics(at)
        problems += more
        problems += [f"lost: {each}" for each in set(said) - set(after)]
        problems += [f"twice: {each}" for each in set(after) if after.count(each) > 1]
        last = cursor(read_entries(transcript)).covers
        problems += [] if last is not None else ["no cursor after the next session"]
    return Left(len(kept), len(said), tuple(problems))


async def _go_on(at: Home, session: str) -> None:
    async with Session.open(at.setup(), resume=session) as again:
        assert again.id == session
        await told(again, "thanks!")


def _topics(at: Home) -> tuple[list[str], list[str]]:
    """The subjects of all memories, and what is wrong with the store."""
    setup = at.setup()
    with Memory.at(setup.places, setup.settings, setup.directory) as memory:
        memory.store.sync()
        damaged = [f"damaged: {each}" for each in find_damaged(memory.store)]
        foreign = [topic.name for topic in memory.topics() if _subject(topic) is None]
        index = memory.directory / "MEMORY.md"
        listed = index.read_text(encoding="utf-8") if index.exists() else ""
        missing = [topic.path for topic in memory.topics() if topic.path not in listed]
        found = [subject for topic in memory.topics() if (subject := _subject(topic))]
    return found, [*damaged, *(f"unknown: {name}" for name in foreign), *(f"not indexed: {path}" for path in missing)]


def _subject(topic: Topic) -> str | None:
    return next((subject for subject in SUBJECTS if rule(subject)[:-1] in topic.body), None)


def _rules(entries: tuple[Entry, ...]) -> list[str]:
    texts = [entry.message.text for entry in entries if isinstance(entry, UserEntry)]
    return [subject for subject in SUBJECTS if any(rule(subject) in text for text in texts)]


def _covered(entries: tuple[Entry, ...]) -> set[str]:
    """The subjects of all messages up to the cursor."""
    covers = cursor(entries).covers
    ids = [getattr(getattr(entry, "envelope", None), "uuid", None) for entry in entries]
    return set(_rules(entries[: ids.index(covers) + 1])) if covers is not None else set()


def kills(root: Path, number: int, seed: int) -> Iterator[Left]:
    """So many kills, each of a session of its own."""
    chance = random.Random(seed)
    for each in range(number):
        yield kill_once(Home(root / str(each)), chance, has_learned=each % 3 == 2)


if __name__ == "__main__":
    count, chosen = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with tempfile.TemporaryDirectory() as folder:
        all_left = list(kills(Path(folder), count, chosen))
    wrong = [problem for left in all_left for problem in left.problems]
    halfway = sum(left.kept < left.said for left in all_left)
    some = sum(left.kept > 0 for left in all_left)
    print(f"{count} kills, {halfway} between a word and its memory, {some} after the first, {len(wrong)} problems")
    print(*wrong[:20], sep="\n")
    sys.exit(bool(wrong))
