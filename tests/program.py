"""Run `reverie` as a process of its own without paying for its imports each time.

A fork server, one for each test process, has imported the program and the vendor's client once; each run is a fork of
it with its own directory, environment, standard streams and exit code. `fresh=True` starts a new interpreter instead,
for what depends on how a process begins.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from pathlib import Path

TIMEOUT_SECONDS = 100.0
_IMPORTED = ["tests.program", "tests.program_imports"]


@dataclass(frozen=True)
class Ended:
    """A program that has run."""

    code: int
    out: str
    err: str


def run_reverie(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], stdin: str = "", fresh: bool = False
) -> Ended:
    """Run the program in this directory with exactly this environment."""
    if fresh:
        return _run_fresh(arguments, cwd, environment, stdin)
    with tempfile.TemporaryDirectory(prefix="reverie-run") as folder:
        streams = Path(folder)
        (streams / "in").write_text(stdin, encoding="utf-8")
        process = _fork_server().Process(target=_become, args=(list(arguments), cwd, dict(environment), streams))
        process.start()
        process.join(TIMEOUT_SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(["reverie", *arguments], TIMEOUT_SECONDS)
        out, err = ((streams / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return Ended(process.exitcode, out, err)


class Forked:
    """A function at work in a fork of the server, leader of a session of its own, that may be killed."""

    def __init__(self, work: Callable[..., None], arguments: Sequence[object], folder: Path) -> None:
        """`folder` is an empty one for what the function prints."""
        self._folder = folder
        os.mkfifo(folder / "out")
        self._process = _fork_server().Process(target=_work, args=(work, tuple(arguments), folder))
        self._process.start()
        self.out = (folder / "out").open(encoding="utf-8")
        """What it prints, as it comes."""

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def ended(self) -> Ended:
        """Wait until it is over; its code (minus the signal that killed it) and what was not read yet."""
        with self.out:
            out = self.out.read()
        self._process.join(TIMEOUT_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            raise subprocess.TimeoutExpired(str(self._folder), TIMEOUT_SECONDS)
        return Ended(self._process.exitcode, out, (self._folder / "err").read_text(encoding="utf-8"))


def be_reverie(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
    """The program itself, for `Forked`."""
    _take_on(arguments, cwd, environment)


def _run_fresh(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "reverie", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=dict(environment),
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@cache
def _fork_server() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    return context


def _become(arguments: list[str], cwd: Path, environment: dict[str, str], streams: Path) -> None:
    """Turn a fork of the server into the program; ends the process."""
    _redirect(streams)
    _take_on(arguments, cwd, environment)


def _work(work: Callable[..., None], arguments: tuple[object, ...], streams: Path) -> None:
    os.setsid()
    (streams / "in").touch()
    random.seed()
    _redirect(streams)
    try:
        work(*arguments)
    finally:
        sys.stdout.flush()


def _redirect(streams: Path) -> None:
    for number, (name, flags) in enumerate((("in", os.O_RDONLY), ("out", os.O_WRONLY), ("err", os.O_WRONLY))):
        opened = os.open(streams / name, flags | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _take_on(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
    """Be the program in this directory with exactly this environment."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    random.seed()
    os.chdir(cwd)
    sys.argv = ["reverie", *arguments]
    from reverie.__main__ import main

    try:
        main()
    finally:
        # The end of a forked process does not run what was registered for the end of a program.
        atexit._run_exitfuncs()
