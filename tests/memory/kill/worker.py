"""A writer that can be killed at any moment, and the check of what it leaves. Run by the tests and by the bench."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.timeline import log
from reverie.memory.store.topic_store import Store
from reverie.memory.topics.topic import Topic
from tests.memory.stores import find_damaged, read_topics, topic


def open_here(directory: Path) -> Store:
    return Store(MemoryFolder(directory, directory), now=lambda: datetime.now(UTC), timeout_seconds=60.0)


def work(directory: Path, name: str, seed: int, *, rounds: int = 1_000_000) -> None:
    """Save, edit, forget and sync for ever; say on standard output what has been done."""
    store, chance = open_here(directory), random.Random(seed)
    print("ready", flush=True)
    mine: set[str] = set()
    for number in range(rounds):
        match chance.randrange(6):
            case 0 | 1 | 2:
                title = f"{name} topic {number}"
                store.save(topic(title, body=f"{title} " + "x" * chance.randrange(3000)), author="agent")
                mine.add(title)
                print(f"saved {title}", flush=True)
            case 3 if mine:
                title = chance.choice(sorted(mine))
                store.edit(title, lambda old: replace(old, body=f"{old.body}\n\nmore"), author="agent")
            case 4 if len(mine) > 3:
                title = chance.choice(sorted(mine))
                mine.remove(title)
                print(f"forgetting {title}", flush=True)
                store.forget(title, author="agent")
            case 5:
                store.save_many([topic(f"{name} batch {number} {k}", body="b" * 50) for k in range(5)], author="agent")
            case _:
                store.sync()


def check(directory: Path, said: str, *, fsck: bool = True) -> list[str]:
    """What is wrong after a kill and one more command; nothing, we hope."""
    store = open_here(directory)
    store.sync()
    topics = {found.name: found for found in read_topics(store)}
    problems = [f"damaged: {error}" for error in find_damaged(store)]
    lost = re.findall(r"^saved (.*)$", said, re.MULTILINE)
    forgotten = set(re.findall(r"^forgetting (.*)$", said, re.MULTILINE))
    problems += [f"lost: {name}" for name in lost if name not in topics and name not in forgotten]
    problems += [f"torn: {found.path}" for found in topics.values() if not found.body.strip("x \n")]
    index = (directory / "MEMORY.md").read_text(encoding="utf-8") if topics else ""
    listed = set(re.findall(r"\]\(([^)]+)\)", index))
    paths = {found.path for found in topics.values()}
    left_out = re.search(r"and (\d+) more", index)
    if listed - paths or len(paths - listed) != (int(left_out[1]) if left_out else 0):
        problems.append(f"index: {sorted(paths ^ listed)[:5]}")
    strangers = {entry.change.author for entry in log(store)} - {"agent"}
    if strangers:
        problems.append(f"authors: {strangers}")
    leftovers = [path.name for path in directory.iterdir() if path.name.startswith(".reverie-")]
    problems += [f"left over: {name}" for name in leftovers]
    for command in (["status", "--porcelain"], ["fsck", "--full", "--no-dangling"]) if fsck else ():
        done = subprocess.run(["git", *command], cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode or done.stdout.strip():
            problems.append(f"git {command[0]}: {done.stdout[:300]}{done.stderr[:300]}")
    return problems


def start(act: Callable[[], None], told: Path) -> int:
    """Fork a process that does this and whose words go to a file; return its id. Sixteen forks cost one start."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    failed = 1
    try:
        os.dup2(os.open(told, os.O_CREAT | os.O_WRONLY), 1)
        act()
        failed = 0
    finally:
        sys.stdout.flush()
        os._exit(failed)


def run_at_once(acts: Sequence[Callable[[], None]], told: Path) -> int:
    """Run all of these at once, each in a process of its own; return how many failed."""
    children = [start(act, told / f"said{number}") for number, act in enumerate(acts)]
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


def edit_counter(directory: Path, writer: int, edits: int) -> None:
    """Add a line of one's own to the topic that everybody edits."""
    store = open_here(directory)
    for number in range(edits):
        row = f"{writer}-{number}"
        store.edit("Counter", partial(_with_row, row), author="agent")


def _with_row(row: str, old: Topic) -> Topic:
    return replace(old, body=f"{old.body}\n{row}")


if __name__ == "__main__":
    place, told_to = Path(sys.argv[1]), Path(sys.argv[2])
    match sys.argv[3:]:
        case ["write", processes, rounds]:
            each = [partial(work, place, f"w{n}", n, rounds=int(rounds)) for n in range(int(processes))]
            sys.exit(run_at_once(each, told_to))
        case ["count", processes, edits]:
            sys.exit(run_at_once([partial(edit_counter, place, n, int(edits)) for n in range(int(processes))], told_to))
        case [name, seed]:
            work(place, name, int(seed))
