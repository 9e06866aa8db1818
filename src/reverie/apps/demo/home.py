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
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from importlib.resources import files
from itertools import count
from pathlib import Path

from reverie import __version__
from reverie.apps.demo.project import BANKS, Bank, git_dates, write_project
from reverie.apps.demo.script import ScriptedSession, ScriptedTurn, read_story
from reverie.apps.demo.simulated_model import SimulatedModel
from reverie.files import write_atomic
from reverie.files.locks import locked
from reverie.memory.dream.dreams import Dreamt
from reverie.memory.extraction.learn import Learned
from reverie.memory.memory import Memory
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
DAYS = 19
"""From the first Monday to the last Friday."""
LONG_DAY, LONG_WINDOW = 16, 80_000
"""The day of the long session, and the window that it is held in."""
DREAM_DAYS = (4, 11, 18)
_FORMAT = 1
_REQUEST_SECONDS = 11
_FRESH_DAYS = 14
"""A home of longer ago is made anew, so that its last days are recent ones."""

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
    body: str = ""


BY_HAND = (
    ByHand(
        2,
        "reference",
        "Bank contracts",
        "The contracts with the banks are in the share finance/contracts, one folder per bank.",
    ),
    ByHand(9, "project", "Auditors", "The auditors come tomorrow and want the import log of August."),
    ByHand(
        11,
        "feedback",
        "Integration tests and mocks",
        "Never mock the database in integration tests; a mock hid a broken migration in spring.",
    ),
    ByHand(17, "project", "Deploys", "We deploy on Thursdays from now on, after the reconciliation run."),
)


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
        """Hold a session; its transcript. `heard` is called after every turn."""
        self.clock.set(start)
        actions: list[ScriptAction] = []

        def answer(_: Incoming) -> ScriptAction | None:
            self.clock.advance(seconds=_REQUEST_SECONDS)
            return actions.pop(0) if actions else None

        self._provider.script = answer
        model = SimulatedModel(MODEL, self._provider, self.clock.now)
        async with Session.open(self.build_options(model, window_tokens)) as session:
            for turn in turns:
                self.clock.advance(minutes=turn.minutes)
                actions[:] = turn.actions
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

        self.clock.set(self.clock.at(each.day, 17, 20))
        with self.open_memory() as memory:
            topic = draft_topic(each.name, each.text, each.type, each.body or each.text, trust="said")
            memory.keep(topic)

    async def dream(self, day: int, *, review: bool = False) -> Dreamt:
        """A dream at night."""
        self.clock.set(self.clock.at(day, 23, 30))
        with self.open_memory() as memory:
            return await memory.dream(review=review)

    def play_long_session(self, heard: Callable[[], None] = lambda: None) -> Path:
        """The day on which all banks move to one reader."""
        turns = migration_turns(self.project)
        start = self.clock.at(LONG_DAY, 9, 5)
        return asyncio.run(self.play(turns, start, LONG_WINDOW, heard))

    def play_day(self, day: int, heard: Callable[[], None] = lambda: None) -> DayReport:
        """Everything that happens on one day: sessions, what they taught, what is saved by hand, a dream on Fridays."""
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
        for each in BY_HAND:
            if each.day == day:
                self.save(each)
        dreamt = asyncio.run(self.dream(day)) if day in DREAM_DAYS else None
        return DayReport(day, tuple(sessions), learned, dreamt)

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
    dreamt: Dreamt | None


def migration_turns(project: Path) -> list[ScriptedTurn]:
    """The long session: what is typed before some of the banks, and the work on each."""
    text = (files("reverie.apps.demo") / "migration.md").read_text(encoding="utf-8")
    typed: dict[int, str] = {}
    for part in text.split("@@ before ")[1:]:
        before, _, words = part.partition("\n")
        typed[int(before)] = words.strip()
    turns: list[ScriptedTurn] = []
    for number, bank in enumerate(BANKS, 1):
        turn = ScriptedTurn(typed.get(number) or f"Next: {bank.name}.", minutes=4 if number % 6 else 9)
        turn.actions += _move_bank(bank, project)
        if number == len(BANKS):
            turn.actions[-1] = ScriptAction(text="All banks read through `reader.py` now. The release note follows.")
        turns.append(turn)
    return turns


def _move_bank(bank: Bank, project: Path) -> list[ScriptAction]:
    """What the model does for one bank: read, replace, check; where its guess was wrong, look at a row and correct."""
    path, check = str(project / bank.path), {"command": f"python3 tools/check.py {bank.slug}"}
    guess, right = bank.new_reader(usual=True), bank.new_reader()
    edit = {"file_path": path, "old_string": bank.old_reader, "new_string": guess}
    actions = [
        ScriptAction(text=f"{bank.name} is next.", tool_calls=(ToolCall("Read", {"file_path": path}),)),
        ScriptAction(tool_calls=(ToolCall("Edit", edit),)),
        ScriptAction(tool_calls=(ToolCall("Bash", check),)),
    ]
    if not bank.is_usual:
        sample = {"file_path": str(project / "samples" / f"{bank.slug}.csv")}
        correct = {"file_path": path, "old_string": guess, "new_string": right}
        actions += [
            ScriptAction(text="The check fails; I look at a row.", tool_calls=(ToolCall("Read", sample),)),
            ScriptAction(tool_calls=(ToolCall("Edit", correct),)),
            ScriptAction(tool_calls=(ToolCall("Bash", check),)),
        ]
    return [*actions, ScriptAction(text=f"{bank.name} reads through the one reader now; its sample is as expected.")]


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
    turns = len(BANKS)
    of = DAYS + turns
    for day in range(DAYS):
        steps = count(day + turns * (day > LONG_DAY))

        def heard(steps: Iterator[int] = steps) -> None:
            progress(next(steps), of, f"{home.clock.now():%A, %d %B, %H:%M}")

        progress(next(steps), of, f"{home.clock.at(day, 9):%A, %d %B}")
        home.play_day(day, heard)
    progress(of, of, "")
    finish_demo_home(home)
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
