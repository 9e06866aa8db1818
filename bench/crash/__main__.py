"""`python -m bench.crash`: saves that were acknowledged and are not there after a kill, or with many writers at once.

A writer saves and says so, until it is killed at a random moment; then the next command opens the memory, and every
acknowledged save is looked for. The same with several writers at once. Beside it, by the same measure, one JSON file
with all memories that is rewritten with every save, as simple memory servers do, the same written aside and renamed,
and a row of SQLite for each memory. Then clients of a team server edit and delete the same files while it is killed and
connections are cut (`bench.team.convergence`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from tests.memory.kill.worker import check, start, work

from bench.figures import WILSON, Figure, Result, Row, Table, add_options, report, share

MOST_SAVES = 5
"""A writer is killed after none to so many saves,"""
MOST_WAIT_SECONDS = 0.06
"""and up to this long after that, which is about as long as a save takes."""
WRITERS = 8
_BODY = "We keep what was said, and why, and where it was said. " * 25


@dataclass(frozen=True, slots=True)
class Way:
    """A way of keeping memories: a writer that never ends, and what is missing afterwards."""

    label: str
    work: Callable[[Path, str, int], None]
    check: Callable[[Path, str], tuple[int, int]]
    """Directory and what was said → acknowledged saves that are lost, and other damage."""
    is_ours: bool = False


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.crash", description=__doc__))
    options = parser.parse_args(arguments)
    return report(measure_crashes(quick=options.quick), options)


def measure_crashes(*, quick: bool) -> Result:
    """All ways, killed and beside each other, and the team server."""
    ways = (
        Way("reverie", work, _check_ours, is_ours=True),
        Way("one JSON file, rewritten", partial(_write_json, is_careful=False), _check_json),
        Way("one JSON file, renamed", partial(_write_json, is_careful=True), _check_json),
        Way("SQLite, a row for each", _write_rows, _check_rows),
    )
    times, seconds = (40, 5.0) if quick else (500, 30.0)
    about = (
        f"A writer that saves without a pause is killed (SIGKILL) at a random moment, {times} times. Lost: "
        "acknowledged saves that the next command does not find. Damaged: memories, index or history that it cannot "
        "read or that contradict each other. Power failures are not tried here."
    )
    kills = Table("kills", "A writer is killed", about, WILSON, [_kill(way, times) for way in ways], picture="lost")
    about = f"{WRITERS} processes save into the same memory for {seconds:.0f} s. Saves a second are of all together."
    writers = Table("writers", f"{WRITERS} writers at once", about, WILSON, [_crowd(way, seconds) for way in ways])
    result = Result([kills, writers])
    _measure_team(result, quick=quick)
    return result


def _kill(way: Way, times: int) -> Row:
    chance = random.Random(11)
    saved = lost = damaged = 0
    with tempfile.TemporaryDirectory(prefix="bench-crash-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for number in range(times):
            directory = folder / f"memory{number // 50}"
            directory.mkdir(exist_ok=True)
            told = folder / f"told{number}"
            child = start(partial(way.work, directory, f"k{number}", number), told)
            saves = chance.randint(0, MOST_SAVES)
            while not (told.exists() and _has_saved(told.read_text(encoding="utf-8"), saves)):
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, MOST_WAIT_SECONDS))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            printed = told.read_text(encoding="utf-8")
            saved += printed.count("saved ")
            missing, broken = way.check(directory, printed)
            lost, damaged = lost + missing, damaged + broken
    return Row(way.label, _figures(times, saved, lost, damaged), way.is_ours)


def _crowd(way: Way, seconds: float) -> Row:
    with tempfile.TemporaryDirectory(prefix="bench-crash-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        directory = folder / "memory"
        directory.mkdir()
        told = [folder / f"told{number}" for number in range(WRITERS)]
        children = [
            start(partial(way.work, directory, f"w{number}", number), place) for number, place in enumerate(told)
        ]
        time.sleep(seconds)
        for child in children:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        printed = "".join(place.read_text(encoding="utf-8") for place in told)
        lost, damaged = way.check(directory, printed)
        saved = printed.count("saved ")
    figures = _figures(None, saved, lost, damaged) | {"saves a second": Figure(saved / seconds)}
    return Row(way.label, figures, way.is_ours)


def _has_saved(printed: str, saves: int) -> bool:
    return "ready" in printed and printed.count("saved ") >= saves


def _figures(kills: int | None, saved: int, lost: int, damaged: int) -> dict[str, Figure]:
    return {
        **({} if kills is None else {"kills": Figure(kills)}),
        "acknowledged": Figure(saved),
        "lost saves": Figure(lost),
        "lost": share(lost, saved),
        "damaged": Figure(damaged),
    }


def _check_ours(directory: Path, printed: str) -> tuple[int, int]:
    problems = check(directory, printed, fsck=False)
    lost = sum(problem.startswith("lost: ") for problem in problems)
    for problem in problems:
        print(f"reverie: {problem}", flush=True)
    return lost, len(problems) - lost


def _write_json(directory: Path, name: str, seed: int, *, is_careful: bool) -> None:
    del seed
    file, aside = directory / "memory.json", directory / f"{name}.json"
    for title in _new_titles(name):
        try:
            memories = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        except ValueError:
            # Another writer is at it, or the file is torn for good.
            memories = {}
        target = aside if is_careful else file
        target.write_text(json.dumps({**memories, title: _BODY}), encoding="utf-8")
        if is_careful:
            aside.replace(file)
        print(f"saved {title}", flush=True)


def _new_titles(name: str) -> Iterator[str]:
    """Titles until somebody asks to end; a kill does not ask."""
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: asked.append(number))
    print("ready", flush=True)
    for number in count():
        if asked:
            return
        yield f"{name} topic {number}"


def _check_json(directory: Path, printed: str) -> tuple[int, int]:
    file = directory / "memory.json"
    try:
        memories = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError:
        file.unlink()
        return len(_titles(printed)), 1
    return len(_titles(printed) - set(memories)), 0


def _write_rows(directory: Path, name: str, seed: int) -> None:
    del seed
    database = _open_rows(directory)
    for title in _new_titles(name):
        with database:
            database.execute("INSERT INTO memories VALUES (?, ?)", (title, _BODY))
        print(f"saved {title}", flush=True)


def _check_rows(directory: Path, printed: str) -> tuple[int, int]:
    database = _open_rows(directory)
    names = {name for (name,) in database.execute("SELECT name FROM memories")}
    is_sound = database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
    return len(_titles(printed) - names), 0 if is_sound else 1


def _open_rows(directory: Path) -> sqlite3.Connection:
    database = sqlite3.connect(directory / "memory.db", timeout=60)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("CREATE TABLE IF NOT EXISTS memories(name TEXT PRIMARY KEY, body TEXT)")
    return database


def _titles(printed: str) -> set[str]:
    return {line.removeprefix("saved ") for line in printed.split("\n") if line.startswith("saved ")}


def _measure_team(result: Result, *, quick: bool) -> None:
    from bench.team.__main__ import start_postgresql
    from bench.team.convergence import run_storm

    seconds, clients, files = (10.0, 5, 40) if quick else (120.0, 16, 200)
    rows = []
    for name, replicas in (("SQLite", 1), ("PostgreSQL", 2)):
        if quick and name == "PostgreSQL":
            result.left_out.append("clients of a team server on PostgreSQL: in a full run only")
            continue
        with tempfile.TemporaryDirectory(prefix="bench-team-") as folder:
            url = f"sqlite:///{folder}/server.db" if name == "SQLite" else start_postgresql(result.left_out)
            if url is None:
                continue
            storm = run_storm(
                url, Path(folder), replicas=replicas, clients=clients, files=files, seconds=seconds, seed=1
            )
        counts = storm.counts
        figures = {
            "exchanges": Figure(counts["exchanges"]),
            "failed": Figure(sum(each for key, each in counts.items() if key.startswith("failed"))),
            "edits, new files, deletions": Figure(counts["edited"] + counts["created"] + counts["deleted"]),
            "acknowledged": Figure(counts["entries stored"]),
            "conflict copies": Figure(counts["conflict copies"]),
            "connections cut": Figure(counts["connections cut"]),
            "servers killed": Figure(counts["servers killed"]),
            "violations": Figure(len(storm.problems)),
        }
        print(*storm.problems[:20], sep="\n", flush=True)
        rows.append(Row(f"reverie, {name}, servers: {replicas}", figures, is_ours=True))
    about = (
        f"{clients} clients edit and delete the same {files} files for {seconds:.0f} s while servers are killed and "
        "one connection in twelve is cut. A violation is an acknowledged text that is not in the history, an edit that "
        "is neither stored nor in a conflict copy, a deleted file that returns, or clients that differ at the end. "
        "Nothing beside: there is no like system that runs offline."
    )
    result.tables.append(Table("team", "Clients of a team server", about, "none; all events are counted", rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
