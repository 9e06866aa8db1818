"""Read and move the branch that HEAD names, by git's own protocol of lock files.

Only the `files` format of references, which our repositories are made with.
"""

from __future__ import annotations

import time
from pathlib import Path

from reverie.errors import Conflict
from reverie.files.durable import flush, write_new
from reverie.values import value

_WAIT_SECONDS = 3.0
"""How long somebody's git may hold the branch before we say so."""
_STALE_SECONDS = 2.0
"""Git holds these locks for milliseconds; one this old was left by a process that was killed."""


def head_reference(git_directory: Path) -> str:
    """The name HEAD points at (`refs/heads/main`), or `HEAD` itself when it is detached."""
    text = (git_directory / "HEAD").read_text(encoding="utf-8").strip()
    return text.removeprefix("ref: ") if text.startswith("ref: ") else "HEAD"


def read_reference(git_directory: Path, name: str) -> str | None:
    """The commit a reference names, in hex; None when it is not born yet."""
    try:
        text = (git_directory / name).read_text(encoding="ascii").strip()
    except (FileNotFoundError, NotADirectoryError):
        return _read_packed(git_directory).get(name)
    return text or None


def read_head(git_directory: Path) -> str | None:
    """The commit that HEAD leads to, or None in a history without commits."""
    return read_reference(git_directory, head_reference(git_directory))


@value
class Move:
    """A reference that is held, with its new commit waiting beside it."""

    lock: Path
    target: Path

    def place(self) -> None:
        """Let the reference name the new commit."""
        self.lock.replace(self.target)

    def drop(self) -> None:
        """Leave the reference as it is, and let go of it."""
        self.lock.unlink(missing_ok=True)


def hold_reference(git_directory: Path, name: str, new: str, *, old: str | None) -> Move:
    """Take a reference that stands at `old`, to move it to `new`; flushing is the caller's.

    Raises:
        Conflict: it no longer stands at `old`, or another git holds it.
    """
    target = git_directory / name
    target.parent.mkdir(parents=True, exist_ok=True)
    move = Move(target.with_name(target.name + ".lock"), target)
    _write_lock(move.lock, new)
    if read_reference(git_directory, name) != old:
        move.drop()
        raise Conflict(f"{name} in {git_directory} moved meanwhile; run the command again")
    return move


def write_reference(git_directory: Path, name: str, new: str, *, old: str | None) -> None:
    """Move a reference from `old` to `new`, durably.

    Raises:
        Conflict: it no longer stands at `old`, or another git holds it.
    """
    move = hold_reference(git_directory, name, new, old=old)
    try:
        flush((move.lock,))
        move.place()
    except BaseException:
        move.drop()
        raise
    flush((move.target.parent,))


def remove_stale_locks(git_directory: Path) -> None:
    """Remove the lock files of a writer known to be dead; call it only under the writer's lock."""
    for name in (head_reference(git_directory), "index"):
        target = git_directory / name
        target.with_name(target.name + ".lock").unlink(missing_ok=True)


def _write_lock(lock: Path, commit: str) -> None:
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            write_new(lock, f"{commit}\n".encode("ascii"), durable=False)
        except FileExistsError:
            if is_stale(lock):
                lock.unlink(missing_ok=True)
            elif time.monotonic() > until:
                raise Conflict(f"another git holds {lock}; if none is running, remove that file") from None
            time.sleep(0.02)
        else:
            return


def is_stale(lock: Path) -> bool:
    """Whether a lock file of git is too old to be anybody's; by the disk's clock, not by ours."""
    probe = lock.with_name(f"{lock.name}.probe")
    probe.write_bytes(b"")
    try:
        return probe.stat().st_mtime - lock.stat().st_mtime > _STALE_SECONDS
    except FileNotFoundError:
        return False
    finally:
        probe.unlink(missing_ok=True)


def _read_packed(git_directory: Path) -> dict[str, str]:
    try:
        lines = (git_directory / "packed-refs").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return {
        name: commit for commit, _, name in (line.partition(" ") for line in lines) if name and commit[0] not in "#^"
    }
