"""A program that dreams and can be killed at any moment, and the check of what it leaves. Used by tests and bench.

`python -m tests.memory.dream.worker DIRECTORY HOME ROUNDS SEED` makes duplicates and dreams on them so many times;
without rounds it forks such a dreamer for every line on its standard input, which spares each a start of Python. With
the address of a simulator in the environment a model dreams, by `model_script`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from reverie.memory.dream.dreams import Dreamt
from reverie.memory.dream.lock import read_state
from reverie.memory.memory import Memory
from reverie.memory.store.index.memory_md import IndexEntry, parse_index
from reverie.memory.store.timeline import log
from reverie.memory.topics.topic import parse_topic
from reverie.messages.blocks import Json
from reverie.session.subagents.fork import LoopForks
from reverie.settings import BudgetSettings, Settings
from tests.memory.dream.kit import read, text

TOPICS = 12
MOST_TOPICS = 40
"""With more than this nothing is added until a dream has come to its end."""
ADDRESS = "DREAM_WORKER_SIMULATOR"
"""The variable with the address and the key of a simulator, with a space between."""
MODEL = "claude-sonnet-4-5"
BY_MODEL = "The staging area is rebuilt from scratch every night by the platform group."
BEFORE_MODEL = "The staging area is rebuilt by hand."


def opened(directory: Path, home: Path) -> Memory:
    settings = replace(Settings(), home=str(home), config_home=str(home / "claude"))
    return Memory(directory, project=home, settings=settings, now=lambda: datetime.now(UTC))


def seed(directory: Path, home: Path) -> None:
    """A directory to dream on, and a host's clock that says three days ago."""
    directory.mkdir(parents=True)
    with opened(directory, home) as memory:
        made = {f"t{n}.md": text(f"t{n}.md", _rule(n), name=f"Rule {_word(n)}") for n in range(TOPICS)}
        memory.store.write_files(made, author="user", reason="begin")
    lock = directory / ".consolidate-lock"
    lock.write_text("", encoding="utf-8")
    then = (datetime.now(UTC) - timedelta(days=3)).timestamp()
    os.utime(lock, (then, then))


def work(directory: Path, home: Path, rounds: int, seed_number: int) -> None:
    """Make work for a dream, dream, and say so; for ever, or so many times."""
    chance = random.Random(seed_number)
    for number in range(rounds):
        with opened(directory, home) as memory:
            chosen = chance.sample(range(TOPICS), 3)
            copies = {
                f"copy_{seed_number}_{number}_{n}.md": text("c.md", _rule(n), name=f"Rule {_word(n)}") for n in chosen
            }
            date = {"fact.md": text("fact.md", f"Step {seed_number}.{number} is due tomorrow.", kind="project")}
            area = {"area.md": text("area.md", BEFORE_MODEL, kind="project", trust="inferred")}
            if len(list(directory.glob("*.md"))) < MOST_TOPICS:
                memory.store.write_files(copies | date | area, author="user", reason="more of the same")
            print("dreaming", flush=True)
            done = asyncio.run(_dream_by_model(memory, home) if ADDRESS in os.environ else memory.dream())
            assert done.state in {"completed", "unchanged", "busy"}, done
            print(f"dreamt {done.state}", flush=True)


async def _dream_by_model(memory: Memory, home: Path) -> Dreamt:
    """A dream of the simulator's model, in a session of its own."""
    from reverie.files.places import Places
    from reverie.models.choose import Access, choose
    from reverie.session.options import SessionOptions
    from reverie.session.session import Session

    url, key = os.environ[ADDRESS].split()
    access = Access(anthropic_key=key, anthropic_url=url)
    ids = (f"{os.getpid():08x}-0000-4000-8000-{number:012x}" for number in itertools.count(time.monotonic_ns()))
    setup = SessionOptions(
        settings=replace(memory.settings, budget=BudgetSettings(1.0, 1_000.0)),
        places=Places.at(home, home / "claude"),
        directory=home,
        project=home,
        model=MODEL,
        make_model=lambda name: choose(name, access),
        now=lambda: datetime.now(UTC),
        new_id=lambda: next(ids),
        user_home=home,
    )
    async with Session.open(setup) as session:
        return await memory.dreams.run(forks=LoopForks(session.parts.loop))


def model_script(directory: Path, home: Path) -> list[Json]:
    """How the simulator dreams: it looks at one topic and writes it anew."""
    with opened(directory, home) as memory:
        places = memory.dreams.places
    area = places.caches / "dream" / places.slug(directory) / "area.md"
    new = text("area.md", BY_MODEL, kind="project", trust="inferred")

    def call(name: str, **given: Json) -> Json:
        return {"text": "", "tool_calls": [{"name": name, "input": given}]}

    return [
        {"when": {"has_tool_results": False}, "then": call("Read", file_path=str(area))},
        {"when": {"tool_result": "rebuilt by hand"}, "then": call("Write", file_path=str(area), content=new)},
        {"then": "In order now."},
    ]


def problems(directory: Path, home: Path, started: datetime) -> Iterator[str]:
    """What is wrong with a directory after a kill, once the next command has run."""
    lock = directory / ".consolidate-lock"
    stamp = datetime.fromtimestamp(lock.stat().st_mtime, tz=UTC)
    with opened(directory, home) as memory:
        memory.sync()
        told = memory.dreams.status().last
        commits = log(memory.store)
        dreams = [commit.when for commit in commits if commit.change.author == "dream"]
        state = read_state(memory.scope.folder)
        texts = read(directory)
        for path, content in texts.items():
            if parse_topic(path, content).body == "":
                yield f"{path} is empty"
        yield from _index_problems(directory, set(texts))
        for number in range(TOPICS):
            if not any(_rule(number) in content for content in texts.values()):
                yield f"rule {number} is lost"
        if state.last_success is not None and dreams and told is not None and told < max(dreams):
            yield "the last dream is younger than what is told"
        if dreams and told is None:
            yield "a dream is not told of"
        if stamp > started and not (dreams and stamp >= min(dreams)) and state.last_success is None:
            yield "the host is told of a dream that was none"
        if state.last_success is None and not dreams and stamp > started:
            yield "the host's clock moved without a dream"
        leftovers = [path.name for path in directory.glob(".reverie-*") if path.is_file()]
        if leftovers:
            yield f"left over: {leftovers}"
    if subprocess.run(["git", "status", "--porcelain"], cwd=directory, capture_output=True, check=True).stdout:
        yield "the directory differs from its last commit"
    for note in (directory / ".reverie").glob("*.json"):
        json.loads(note.read_bytes())


class Killer:
    """Starts dreamers and kills them."""

    def __init__(self, directory: Path, home: Path, simulator: str = "") -> None:
        """`simulator` is the address and the key of one whose model is to dream."""
        command = [sys.executable, "-m", "tests.memory.dream.worker", str(directory), str(home)]
        environment = {**os.environ, **({ADDRESS: simulator} if simulator else {})}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def kill_after(self, seconds: float, number: int) -> str:
        """Let a dreamer dream for so long after it began, and kill it; what it said until then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{number}\n")
        pid = int(self._process.stdout.readline())
        said = ""
        while not said.endswith(("dreaming\n", "gone\n")):
            said += self._line()
        time.sleep(seconds)
        # A dreamer that broke is gone by itself, and its number may be another's by now.
        if not said.endswith("gone\n"):
            os.kill(pid, signal.SIGKILL)
        while not said.endswith("gone\n"):
            said += self._line()
        return said

    def timed(self, number: int) -> float:
        """Let a dreamer dream once to its end, and kill it; how many seconds that took."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{number}\n")
        pid = int(self._line())
        while (line := self._line()) != "dreaming\n":
            assert line != "gone\n", "the dreamer broke before it began"
        began = time.monotonic()
        line = self._line()
        taken = time.monotonic() - began
        assert line == "dreamt completed\n", line
        os.kill(pid, signal.SIGKILL)
        while self._line() != "gone\n":
            pass
        return taken

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError("the program that starts dreamers has ended")
        return line


def serve(directory: Path, home: Path) -> None:
    """Fork a dreamer for every line, and say when it is gone."""
    with opened(directory, home) as memory:
        memory.dreams.preview()
    if ADDRESS in os.environ:
        # Two seconds of every dreamer otherwise.
        import anthropic  # noqa: F401

        import reverie.session.session  # noqa: F401
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                work(directory, home, 1_000_000, int(line))
            finally:
                # A dreamer that broke must not go on as a second server.
                os._exit(1)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)


def _index_problems(directory: Path, topics: set[str]) -> Iterator[str]:
    lines = parse_index((directory / "MEMORY.md").read_text(encoding="utf-8"))
    linked = {line.path for line in lines if isinstance(line, IndexEntry)}
    has_room = not any(line.text.startswith("- … and ") for line in lines)
    if not linked <= topics or (has_room and linked != topics):
        yield f"the index differs from the topics: {sorted(linked ^ topics)}"


def _word(number: int) -> str:
    return ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "knoll", "larch")[
        number
    ]


def _rule(number: int) -> str:
    word = _word(number)
    return f"Whenever the {word} pipeline is touched, its {word} operators are told before anything is merged."


if __name__ == "__main__":
    if len(sys.argv) > 3:
        work(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        serve(Path(sys.argv[1]), Path(sys.argv[2]))
