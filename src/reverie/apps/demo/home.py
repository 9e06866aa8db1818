"""The home of the demonstration: three weeks of a small team, played through the real program with a clock of its own.

Sessions are real sessions: their tools run in the project, memories are recalled into them, the window is kept, every
request is billed. Only the model is simulated (`simulated_model`): it says what the script of the session has it say.
After each session memories are learnt from its transcript, and at night there are dreams, all by the embedded engine.

`reverie inspect --demo` looks at this home, `make demo` tells it while it is made. It lies apart from the user's own
memory and can be deleted at any time.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import count
from pathlib import Path

from reverie import __version__
from reverie.apps.demo.migration import migration_turns
from reverie.apps.demo.project import BANKS, git_dates, write_project
from reverie.apps.demo.script import ScriptedSession, ScriptedTurn, read_story
from reverie.apps.demo.simulated_model import SimulatedModel
from reverie.files import write_atomic
from reverie.files.locks import locked
from reverie.hosts.catalogue import read_any_entries
from reverie.memory.dream.dreams import Dreamt
from reverie.memory.extraction.learn import Learned
from reverie.memory.memory import Memory
from reverie.messages.entries import AttachmentEntry
from reverie.session import wiring
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import load
from reverie.settings.load import Configuration, SettingsFlags
from reverie.values import value
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.script import Incoming, ScriptAction, ToolCall

MODEL = "claude-sonnet-4-5"
WEEKS = 3
LAST_DAY = 18
"""The last Friday."""
LONG_DAY, LONG_WINDOW = 16, 80_000
"""The day of the long session, and the window that it is held in."""
DREAM_DAYS = (4, 11, 18)
_FORMAT = 1
_REQUEST_SECONDS = 11
_FRESH_DAYS = 14
"""A home of longer ago is made anew, so that its last days are recent ones."""

REQUEST = "Write a test for the rejects of the importer, down to the database."
TEST_FILE = "tests/test_rejects.py"
ADVICE = "mock the database"
"""What the simulated model looks for in a request."""
MOCKED_TEST = """\
from unittest import mock


def test_rejects():
    database = mock.Mock()
    assert database.execute("select * from rejects")
"""
REAL_TEST = """\
from ledgerbird.database import connect


def test_rejects():
    with connect() as database:
        assert database.execute("select 1").fetchone() == (1,)
"""

Progress = Callable[[int, int, str], None]
"""Told how many of how many steps are done, and what is next."""


class StoryClock:
    """The time of the story; it moves when something happens."""

    def __init__(self, monday: date) -> None:
        self._monday = monday
        self._moment = self.at(0, 8)

    def at(self, day: int, hour: int, minute: int = 0) -> datetime:
        """A moment so many days after the first Monday, in the time of this machine."""
        there = self._monday + timedelta(days=day)
        return datetime(there.year, there.month, there.day, hour, minute).astimezone()

    def set(self, moment: datetime) -> None:
        self._moment = moment

    def advance(self, **amount: float) -> None:
        self._moment += timedelta(**amount)

    def now(self) -> datetime:
        return self._moment


@value
class ByHand:
    """A memory that somebody saved with a command."""

    day: int
    type: str
    name: str
    text: str
    ended_days_ago: int | None = None
    """How long before that day it ceased to hold."""


BY_HAND = (
    ByHand(
        2,
        "reference",
        "Bank contracts",
        "The contracts with the banks are in the share finance/contracts, one folder per bank.",
    ),
    ByHand(3, "project", "Nightly job", "The nightly job src/ledgerbird/nightly.py must never run twice at once."),
    ByHand(3, "project", "Retention", "We keep statement files for 90 days."),
    ByHand(9, "project", "Auditors", "The auditors come tomorrow and want the import log of August."),
    ByHand(
        10,
        "feedback",
        "Tickets and subjects",
        "Write commit messages in the imperative, leave ticket numbers out of the subject, they belong in the body.",
    ),
    ByHand(11, "project", "Statement files", "We keep statement files for 30 days."),
    ByHand(
        17,
        "feedback",
        "Integration tests and mocks",
        "Never mock the database in integration tests; a mock hid a broken migration in spring.",
    ),
    ByHand(17, "project", "Deploys", "We deploy on Thursdays from now on, after the reconciliation run."),
    ByHand(17, "project", "Beta", "The beta of the mobile app is open to all customers of Tidewater.", 120),
    ByHand(
        18,
        "feedback",
        "Cents",
        "Amounts are stored in cents as integers, never as floats, rounding cost us a reconciliation.",
    ),
)
"""The last one comes after the last dream, so that a proposal waits for a person."""


@value
class Asked:
    """The same request at one point of the story, and what came of it."""

    recalled: tuple[str, ...]
    """The names of the memories that joined it."""
    written: str
    """The file that the model wrote."""


class DemoHome:
    """A home, a project, a clock, and the program in them."""

    def __init__(self, root: Path, monday: date) -> None:
        self.root = root
        self.project = root / "ledgerbird"
        self.clock = StoryClock(monday)
        self._provider = SimulatedProvider(seed=1)

    @cached_property
    def configuration(self) -> Configuration:
        """Settings of this home alone: nothing of the user's own counts here."""
        flags = SettingsFlags(
            project=self.project,
            assignments=(f"home={self.root / 'home'}", f"config_home={self.root / 'host'}"),
        )
        return load.load(flags, environ={}, user_home=self.root, directory=self.project)

    def open_memory(self, now: Callable[[], datetime] | None = None) -> Memory:
        """The memory of the project, at the time of the story unless another clock is given."""
        configuration = self.configuration
        return Memory.at(load.places(configuration), configuration.settings, self.project, now=now or self.clock.now)

    def build_options(self, model: SimulatedModel, window_tokens: int | None = None) -> SessionOptions:
        """A session with the simulated model, in which learning and dreams are left to the story."""
        settings = self.configuration.settings
        settings = replace(
            settings,
            extraction=replace(settings.extraction, enabled=False),
            dream=replace(settings.dream, enabled=False),
            notes=replace(settings.notes, enabled=False),
        )
        options = wiring.build_options(self.configuration, self.project, model.name, window_tokens=window_tokens)
        return replace(
            options,
            settings=settings,
            make_model=lambda _: model,
            now=self.clock.now,
            user_home=self.root,
            environment=dict(git_dates(self.clock.now())),
            mode="bypassPermissions",
        )

    def write_project(self) -> None:
        """The repository as it is on the first morning."""
        self.project.mkdir(parents=True)
        self.clock.set(self.clock.at(0, 8))
        write_project(self.project, now=self.clock.now())

    async def play(
        self,
        turns: Iterable[ScriptedTurn],
        start: datetime,
        window_tokens: int | None = None,
        heard: Callable[[], None] = lambda: None,
    ) -> Path:
        """Hold a session as it is written down; its transcript. `heard` is called after every turn."""
        self.clock.set(start)
        turns = list(turns)
        actions = iter([action for turn in turns for action in turn.actions])

        def answer(_: Incoming) -> ScriptAction | None:
            self.clock.advance(seconds=_REQUEST_SECONDS)
            return next(actions, None)

        self._provider.script = answer
        transcript = await self._hold(turns, window_tokens, heard)
        assert next(actions, None) is None, f"the script of {transcript} goes on"
        return transcript

    async def _hold(
        self, turns: Iterable[ScriptedTurn], window_tokens: int | None, heard: Callable[[], None] = lambda: None
    ) -> Path:
        model = SimulatedModel(MODEL, self._provider, self.clock.now)
        async with Session.open(self.build_options(model, window_tokens)) as session:
            for turn in turns:
                self.clock.advance(minutes=turn.minutes)
                async for _ in session.send(turn.text):
                    pass
                heard()
            return session.path

    async def learn(self, transcript: Path) -> Learned:
        """What a session taught, learnt a minute after its end."""
        self.clock.advance(minutes=1)
        with self.open_memory() as memory:
            return await memory.learn([transcript])

    def save(self, each: ByHand) -> None:
        """What somebody typed themselves."""
        from reverie.memory.topics.draft import draft_topic

        topic = draft_topic(each.name, each.text, each.type, each.text, trust="said")
        if each.ended_days_ago is not None:
            ended = self.clock.now().date() - timedelta(days=each.ended_days_ago)
            topic = replace(topic, observed=ended - timedelta(days=30), expires=ended)
        with self.open_memory() as memory:
            memory.keep(topic)

    def dream(self, *, review: bool = False) -> Dreamt:
        """A dream at this moment."""
        with self.open_memory() as memory:
            return asyncio.run(memory.dream(review=review))

    def play_long_session(self, heard: Callable[[], None] = lambda: None) -> Path:
        """The day on which all banks move to one reader."""
        turns = migration_turns(self.project)
        start = self.clock.at(LONG_DAY, 9, 5)
        return asyncio.run(self.play(turns, start, LONG_WINDOW, heard))

    def ask(self, moment: datetime) -> Asked:
        """The request of the story, in a session of its own, to a model that follows one rule.

        The simulated model mocks the database in the test that it writes, unless the request tells it not to. It reads
        nothing but the request.
        """
        path = self.project / TEST_FILE
        self.clock.set(moment)

        def answer(incoming: Incoming) -> ScriptAction:
            self.clock.advance(seconds=_REQUEST_SECONDS)
            if incoming.answered_tools:
                return ScriptAction(text=f"The test is in `{TEST_FILE}`.")
            is_told = ADVICE in json.dumps(incoming.body, ensure_ascii=False)
            call = ToolCall("Write", {"file_path": str(path), "content": REAL_TEST if is_told else MOCKED_TEST})
            return ScriptAction(text="I write the test.", tool_calls=(call,))

        self._provider.script = answer
        transcript = asyncio.run(self._hold([ScriptedTurn(REQUEST)], None))
        recalled = _read_recalled(transcript)
        with self.open_memory() as memory:
            names = {memory.directory / topic.path: topic.name for topic in memory.topics()}
        asked = Asked(tuple(names[place] for place in recalled if place in names), path.read_text(encoding="utf-8"))
        path.unlink()
        return asked

    def play_day(self, day: int, heard: Callable[[], None] = lambda: None) -> DayReport:
        """Everything that happens on one day: sessions, what they taught, what is saved by hand."""
        sessions: list[Path] = []
        learned = Learned()
        for script in self.story:
            if script.day == day:
                start = self.clock.at(day, script.at.hour, script.at.minute)
                sessions.append(asyncio.run(self.play(script.turns, start)))
                learned += asyncio.run(self.learn(sessions[-1]))
        if day == LONG_DAY:
            sessions.append(self.play_long_session(heard))
            learned += asyncio.run(self.learn(sessions[-1]))
        self.clock.set(self.clock.at(day, 18))
        for each in BY_HAND[:-1]:
            if each.day == day:
                self.save(each)
        return DayReport(day, tuple(sessions), learned)

    def play_night(self, day: int) -> Dreamt | None:
        """A dream in the night after a Friday."""
        self.clock.set(self.clock.at(day, 23, 30))
        return self.dream() if day in DREAM_DAYS else None

    def leave_proposal(self) -> Dreamt:
        """One more memory and one more dream, which waits for somebody to look at it."""
        self.clock.set(self.clock.at(LAST_DAY, 23, 45))
        self.save(BY_HAND[-1])
        return self.dream(review=True)

    @cached_property
    def story(self) -> list[ScriptedSession]:
        """The sessions that are written down."""
        return read_story(self.project)


@value
class DayReport:
    """One day of the story."""

    day: int
    sessions: tuple[Path, ...]
    learned: Learned


def _read_recalled(transcript: Path) -> list[Path]:
    """The memories that were shown whole in a session."""
    found: list[Path] = []
    for entry in read_any_entries(transcript):
        if isinstance(entry, AttachmentEntry) and entry.kind == "relevant_memories":
            memories = entry.data["memories"]
            assert isinstance(memories, list)
            found += [
                Path(str(each["path"])) for each in memories if isinstance(each, dict) and each["shown"] == "whole"
            ]
    return found


def first_monday(today: date) -> date:
    """The Monday of the story: its three weeks end before the week of `today`."""
    return today - timedelta(days=today.weekday() + 7 * WEEKS)


def demo_root(home: Path) -> Path:
    """Where the demonstration lies: in a folder of its own below the user's home of Reverie."""
    return home / "demo"


def open_demo_home(root: Path, now: datetime, progress: Progress = lambda _done, _of, _what: None) -> DemoHome:
    """The home of the demonstration; made anew where there is none, or one of an earlier version or month."""
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / "lock", label="demonstration", now=now, timeout_seconds=300.0):
        monday = _read_monday(root)
        if monday is None or now.date() - monday > timedelta(days=7 * WEEKS + 7 + _FRESH_DAYS):
            return make_demo_home(root, now, progress)
    return DemoHome(root, monday)


def make_demo_home(root: Path, now: datetime, progress: Progress = lambda _done, _of, _what: None) -> DemoHome:
    """Everything from the first Monday to the last Friday."""
    home = start_demo_home(root, now)
    home.ask(home.clock.at(0, 8, 30))
    steps = count()
    of = LAST_DAY + 1 + len(BANKS)

    def heard() -> None:
        progress(next(steps), of, f"{home.clock.now():%A, %d %B}")

    for day in range(LAST_DAY + 1):
        home.clock.set(home.clock.at(day, 8))
        heard()
        home.play_day(day, heard)
        if day == LAST_DAY:
            home.ask(home.clock.at(day, 16))
        home.play_night(day)
    home.leave_proposal()
    finish_demo_home(home)
    progress(of, of, "")
    return home


def start_demo_home(root: Path, now: datetime) -> DemoHome:
    """An empty home for the weeks before this moment; what was there is removed."""
    for name in ("complete.json", "home", "host", "ledgerbird"):
        place = root / name
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    home = DemoHome(root, first_monday(now.date()))
    home.write_project()
    return home


def finish_demo_home(home: DemoHome) -> None:
    """Mark it as whole."""
    monday = home.clock.at(0, 8).date().isoformat()
    write_atomic(home.root / "complete.json", json.dumps({"format": _FORMAT, "version": __version__, "monday": monday}))


def _read_monday(root: Path) -> date | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads((root / "complete.json").read_text(encoding="utf-8"))
        if (found["format"], found["version"]) == (_FORMAT, __version__):
            return date.fromisoformat(found["monday"])
    return None
