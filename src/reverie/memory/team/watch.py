"""Keeps the team directory and its remote together while somebody works: in a session, or by `reverie team watch`.

The directory is looked at twice a second, which costs a few hundred `stat` calls. An edit is sent once the files have
rested; what a pull wrote equals what was agreed on, so it is never sent back. A failure is told once and tried again
later, less and less often; nothing else stops because of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from reverie.amounts import format_count
from reverie.errors import Error
from reverie.memory.store.worktree import TEAM, Seen, is_topic_path, list_tracked
from reverie.memory.team.sync import SyncReport
from reverie.memory.team.team import Team

LOOK_SECONDS = 0.5
_RETRY_SECONDS = 30.0
"""After the first failure; doubles up to the time between two pulls."""


@dataclass(slots=True)
class TeamWatcher:
    """Decides when to pull and when to push; whoever runs it calls `step` again and again."""

    team: Team
    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, Seen] | None = None
    _changed_at: float | None = None
    _next_pull: float = 0.0
    _failures: int = 0
    _told: frozenset[str] = frozenset()

    def step(self) -> None:
        """Look once, and exchange what is due; never fails because the remote does."""
        now, looks = self.clock(), self._look()
        if self._seen is not None and looks != self._seen:
            self._changed_at = now
        self._seen = looks
        rested = self._changed_at is not None and now - self._changed_at >= self.team.settings.debounce_seconds
        if rested or now >= self._next_pull:
            self.exchange()

    def exchange(self) -> None:
        """Pull, and push what waits if the user has agreed to share."""
        minutes = self.team.settings.pull_minutes
        try:
            report = self.team.push() if self.team.has_outgoing() else self.team.pull()
        except (Error, OSError) as problem:
            pause = min(_RETRY_SECONDS * 2**self._failures, minutes * 60)
            self._failures = min(self._failures + 1, 16)
            self._tell_once(f"team memory is not in sync: {problem}")
        else:
            pause = minutes * 60
            if self._failures:
                self.tell("team memory is in sync again")
            self._failures = 0
            self._tell_report(report)
        self._next_pull = self.clock() + pause
        self._changed_at, self._seen = None, self._look()

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


def watch_team(team: Team, *, tell: Callable[[str], None], stop: Event | None = None) -> None:
    """Pull and push until `stop` is set.

    Raises:
        UserMistake: no remote was joined.
    """
    joined = team.require_joined()
    watcher = TeamWatcher(team, tell)
    tell(f"watching {team.directory} for {joined.remote}; press Ctrl-C to stop")
    if not joined.may_push:
        tell("only pulling: run `reverie team push` once to share your own")
    pause = stop or Event()
    watcher.step()
    while not pause.wait(LOOK_SECONDS):
        watcher.step()
