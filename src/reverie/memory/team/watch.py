"""Keeps the team directory and its remote together while somebody works: in a session, or by `reverie team watch`.

`watchfiles` tells when a file changes; an edit is sent once the files have rested. What a pull wrote equals what was
agreed on, so it is never sent back. A failure is told once. What it stops depends on its cause: without permission to
write, or with most files missing, pulls go on; a new token is tried at once; a server that asks to wait is left alone
for that time. Everything else is tried again less and less often, and that it works again is told too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from reverie.amounts import format_count
from reverie.errors import Error, Unavailable
from reverie.memory.store.worktree import TEAM, Seen, is_topic_path, list_tracked
from reverie.memory.team.sync import SyncReport
from reverie.memory.team.team import Team, find_cause

LOOK_SECONDS = 0.5
"""How often it is asked whether something is due; without `watchfiles` also how often the directory is looked at."""
_RETRY_SECONDS = 30.0
"""After the first failure; doubles up to the time between two pulls."""
_PUSH_ONLY = frozenset({"permission", "deletions"})
"""Causes that do not stop pulls."""


@dataclass(slots=True)
class TeamWatcher:
    """Decides when to pull and when to push; whoever runs it calls `step` again and again."""

    team: Team
    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, Seen] | None = None
    _stamps: tuple[int, ...] = ()
    _changed_at: float | None = None
    _next_exchange: float = 0.0
    _next_push: float = 0.0
    """Not before that time, while pushes are suppressed."""
    _failures: dict[str, int] = field(default_factory=dict)
    """By cause, how often in a row."""
    _told: frozenset[str] = frozenset()

    def step(self) -> None:
        """Look once, and exchange what is due; never fails because the remote does."""
        now, looks, stamps = self.clock(), self._look(), self.team.read_stamps()
        if self._seen is not None and looks != self._seen:
            self._changed_at, self._next_push = now, 0.0
        if self._failures and stamps != self._stamps:
            self._next_exchange = self._next_push = 0.0
        self._seen, self._stamps = looks, stamps
        is_rested = self._changed_at is not None and now - self._changed_at >= self.team.settings.debounce_seconds
        if is_rested or now >= self._next_exchange:
            self.exchange()

    def is_due(self) -> bool:
        """Whether there is something to do although no file changed."""
        is_hopeful = bool(self._failures) and self.team.read_stamps() != self._stamps
        return self._changed_at is not None or is_hopeful or self.clock() >= self._next_exchange

    def exchange(self) -> None:
        """Pull, and push what waits if the user has agreed to share."""
        try:
            may_push = self.clock() >= self._next_push and self.team.has_outgoing()
            report = self.team.push() if may_push else self.team.pull()
        except (Error, OSError) as problem:
            self._suppress(problem)
        else:
            self._next_exchange = self.clock() + self.team.settings.pull_minutes * 60
            self._recover(has_pushed=may_push)
            self._tell_report(report)
        self._changed_at, self._seen, self._stamps = None, self._look(), self.team.read_stamps()

    def _suppress(self, problem: Error | OSError) -> None:
        """Wait before the next try, for as long as the cause of a failure asks for."""
        cause = find_cause(problem) if isinstance(problem, Error) else "state"
        longest = self.team.settings.pull_minutes * 60
        pause = min(_RETRY_SECONDS * 2 ** self._failures.get(cause, 0), longest)
        if isinstance(problem, Unavailable) and problem.retry_after_seconds is not None:
            pause = max(problem.retry_after_seconds, min(pause, _RETRY_SECONDS))
        self._failures[cause] = min(self._failures.get(cause, 0) + 1, 16)
        self._next_exchange = self.clock() + pause
        if cause in _PUSH_ONLY:
            self._next_push = self.clock() + longest
        self._tell_once(f"team memory is not in sync: {problem}")

    def _recover(self, *, has_pushed: bool) -> None:
        """Note that an exchange succeeded; whether one may push, only a push shows."""
        over = [cause for cause in self._failures if has_pushed or cause not in _PUSH_ONLY]
        for cause in over:
            del self._failures[cause]
        if over and not self._failures:
            self._told = frozenset()
            self.tell("team memory is in sync again")

    def _look(self) -> dict[str, Seen]:
        tracked = list_tracked(self.team.memory_folder)
        return {path: seen for path, seen in tracked.items() if path.startswith(TEAM) and is_topic_path(path)}

    def _tell_report(self, report: SyncReport) -> None:
        for count, word in ((len(report.pulled), "new or changed"), (len(report.deleted), "deleted")):
            if count:
                self.tell(f"team memory: {format_count(count, 'memory', 'memories')} {word}")
        if report.pushed:
            self.tell(f"team memory: {format_count(len(report.pushed), 'memory', 'memories')} shared")
        for copy in report.conflicts:
            self.tell(f"team memory: an edit lost against another one or a deletion; it is kept in {copy}")
        if report.refused:
            some = "; ".join(map(str, report.refused[:3]))
            self._tell_once(f"team memory: {format_count(len(report.refused), 'entry', 'entries')} refused: {some}")

    def _tell_once(self, message: str) -> None:
        if message not in self._told:
            self._told |= {message}
            self.tell(message)


def run_watcher(watcher: TeamWatcher, stop: Event) -> None:
    """Step when a file changes and when something is due, until `stop` is set."""
    while not stop.is_set():
        watcher.step()
        _wait_in(watcher, stop)


def _wait_in(watcher: TeamWatcher, stop: Event) -> None:
    """Step at every change of the team directory; where it is not there, or no `watchfiles`, wait a little."""
    try:
        from watchfiles import watch
    except ImportError:
        stop.wait(LOOK_SECONDS)
        return
    directory = watcher.team.directory
    inode = _read_inode(directory)
    if inode is None:
        stop.wait(LOOK_SECONDS)
        return
    milliseconds = int(LOOK_SECONDS * 1000)
    for changes in watch(directory, debounce=50, rust_timeout=milliseconds, yield_on_timeout=True, stop_event=stop):
        if _read_inode(directory) != inode:
            return
        if changes or watcher.is_due():
            watcher.step()


def _read_inode(directory: Path) -> int | None:
    try:
        return directory.stat().st_ino
    except OSError:
        return None


def watch_team(team: Team, *, tell: Callable[[str], None], stop: Event | None = None) -> None:
    """Pull and push until `stop` is set.

    Raises:
        UserMistake: no remote was joined.
    """
    joined = team.require_joined()
    tell(f"watching {team.directory} for {joined.place}; press Ctrl-C to stop")
    if not joined.may_push:
        tell("only pulling: run `reverie team push` once to share your own")
    run_watcher(TeamWatcher(team, tell), stop or Event())
