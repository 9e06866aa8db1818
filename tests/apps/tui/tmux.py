"""A real terminal for tests: `reverie` inside a tmux of its own, typed into and looked at as a person would.

Each terminal is a tmux server on a private socket, so nothing touches the tmux of whoever runs the tests.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

WAIT_SECONDS = 60.0
"""Generous: how long a start or an end takes is the matter of the machine, and a failure is rare."""
_STEP_SECONDS = 0.05

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: no real terminal")


@dataclass(frozen=True)
class RealTerminal:
    """A terminal with a program in it."""

    socket: Path

    def start(self, program: str, directory: Path, size: tuple[int, int]) -> None:
        """Start the server with the program in it."""
        configuration = self.socket.with_name("tmux.conf")
        # What the program printed last must stay where it is: tmux would scroll it away to say that the pane is dead.
        options = ("-g remain-on-exit on", "-gq remain-on-exit-format ''", "-g status off", "-s escape-time 10")
        configuration.write_text("".join(f"set {option}\n" for option in options), encoding="utf-8")
        place = ["-x", str(size[0]), "-y", str(size[1]), "-c", str(directory)]
        # Without TMUX in the environment tmux does not take itself for a nested one.
        outer = {name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")}
        command = [*self._command, "-f", str(configuration), "-u", "new-session", "-d", *place, program]
        subprocess.run(command, check=True, env={**outer, "LANG": "C.UTF-8"})

    def end(self) -> None:
        """End the server and whatever runs in it."""
        subprocess.run([*self._command, "kill-server"], check=False, capture_output=True)

    def type(self, text: str) -> None:
        """Type text as it stands."""
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: Enter, Escape, C-c, BTab, M-Enter."""
        self._tmux("send-keys", *keys)

    def enter(self, text: str) -> None:
        """Type a line and send it."""
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Paste as terminals do, in brackets."""
        subprocess.run(
            [*self._command, "load-buffer", "-b", "pasted", "-"], input=text.encode(), check=True, capture_output=True
        )
        self._tmux("paste-buffer", "-p", "-b", "pasted")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self, *, colours: bool = False) -> str:
        """What is visible now; with escape sequences when colours are asked for."""
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def sees(self, text: str) -> str:
        """Wait until a text is on the screen, and return the screen."""
        return self.until(lambda screen: text in screen, f"{text!r} to appear")

    def until(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until something holds of the screen."""
        started = time.monotonic()
        while time.monotonic() - started < WAIT_SECONDS:
            screen = self.screen()
            if holds(screen):
                return screen
            time.sleep(_STEP_SECONDS)
        raise AssertionError(f"waited in vain for {what}; the screen is\n{screen}")

    @property
    def copied(self) -> str:
        """What was copied last; empty when nothing was."""
        done = subprocess.run([*self._command, "show-buffer"], capture_output=True, check=False)
        return done.stdout.decode("utf-8")

    @property
    def has_ended(self) -> bool:
        """Whether the program is over."""
        return bool(self._ending)

    def wait_for_end(self) -> int:
        """Wait until the program is over; its exit code."""
        self.until(lambda _: bool(self._ending), "the program to end")
        return int(self._ending)

    @property
    def _ending(self) -> str:
        """The exit code, or minus the signal; empty while the program runs or has not been collected."""
        shown = "#{pane_dead} #{pane_dead_status} #{pane_dead_signal} #{pid}"
        dead, code, signal_number, server = self._tmux("display-message", "-p", shown).strip("\n").split(" ")
        if dead == "1" and not code and not signal_number:
            # tmux now and then misses that its child has ended, and leaves it uncollected; telling it again helps.
            os.kill(int(server), signal.SIGCHLD)
        return code or (f"-{signal_number}" if signal_number else "")

    @property
    def is_on_alternate_screen(self) -> bool:
        """Whether a full-screen program has not given the screen back."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    @property
    def process_id(self) -> int:
        return int(self._tmux("display-message", "-p", "#{pane_pid}").strip())

    @property
    def _command(self) -> list[str]:
        return ["tmux", "-S", str(self.socket)]

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def real_terminal(
    *arguments: str, environment: Mapping[str, str], project: Path, columns: int = 80, rows: int = 24
) -> Iterator[RealTerminal]:
    """Run `reverie` with these arguments in a terminal of this size; it is ended with the block."""
    # Paths of sockets must be short, and a server that has just ended may still hold its own.
    with TemporaryDirectory(prefix="tmux") as folder:
        terminal = RealTerminal(Path(folder) / "socket")
        terminal.start(_program(arguments, environment), project, (columns, rows))
        try:
            yield terminal
        finally:
            terminal.end()


def _program(arguments: tuple[str, ...], environment: Mapping[str, str]) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    variables = {**kept, "LANG": "C.UTF-8", "TERM": "screen-256color", **environment}
    assignments = [f"{name}={value}" for name, value in variables.items()]
    # tmux sets TMUX for what runs in it, and its shell puts the value in.
    return 'env -i TMUX="$TMUX" ' + shlex.join([*assignments, sys.executable, "-m", "reverie", *arguments])
