"""Read the branch that HEAD names, find damage in it, and wait for the lock files of another git.

Reading needs no git process; moving the branch is left to `git update-ref`. Only the `files` format of references,
which our repositories are made with.
"""

from __future__ import annotations

import re
import time
from itertools import count
from pathlib import Path

from reverie.errors import Conflict
from reverie.files.durable import write_atomic

MAIN = "refs/heads/main"
SET_ASIDE = "reverie/set-aside"
"""Where directories go that stood in the place of a reference."""
_BRANCH = re.compile(r"ref: refs/heads/(?!.*(?:\.\.|//))[^\s~^:?*\[\\\x00-\x1f]+")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}")

_WAIT_SECONDS = 3.0
"""How long somebody's git may hold the branch before we say so."""
_STALE_SECONDS = 2.0
"""Git holds these locks for milliseconds; one this old was left by a process that was killed."""


def head_reference(git_directory: Path) -> str:
    """The name HEAD points at (`refs/heads/main`), or `HEAD` itself when it is detached.

    A HEAD that names nothing counts as that of a new repository; see `find_damage`.
    """
    text = _read_text(git_directory / "HEAD") or ""
    if is_commit_id(text):
        return "HEAD"
    return text.removeprefix("ref: ") if _BRANCH.fullmatch(text) else MAIN


def read_reference(git_directory: Path, name: str) -> str | None:
    """The commit a reference names, in hex; None when it is not born yet, or damaged."""
    text = _read_text(git_directory / name)
    if text is None:
        text = _read_packed(git_directory).get(name, "")
    return text if is_commit_id(text) else None


def is_commit_id(text: str) -> bool:
    """Whether a text is the whole id of an object."""
    return _COMMIT_ID.fullmatch(text) is not None


def find_damage(git_directory: Path, *, was_born: bool) -> str:
    """What is wrong with the reference of the last commit, in words; nothing where it is as it should be.

    `was_born` says that there were commits already.
    """
    text = _read_text(git_directory / "HEAD")
    if text is None or not (is_commit_id(text) or _BRANCH.fullmatch(text)):
        return f"HEAD {_describe_ref(text)}"
    name = head_reference(git_directory)
    if (git_directory / name).is_dir():
        return f"{name} is a directory"
    text = _read_text(git_directory / name)
    if read_reference(git_directory, name) is None and (text is not None or was_born):
        return f"{name} {_describe_ref(text)}"
    return ""


def write_head(git_directory: Path, commit: str) -> None:
    """Let the branch of HEAD name a commit, or none, whatever stood there before; a directory is set aside."""
    name = head_reference(git_directory)
    for place in ("HEAD", name):
        _set_aside(git_directory, place)
    if name != "HEAD":
        write_atomic(git_directory / "HEAD", f"ref: {name}\n")
    if commit:
        write_atomic(git_directory / name, f"{commit}\n")
    else:
        (git_directory / name).unlink(missing_ok=True)


def _set_aside(git_directory: Path, name: str) -> None:
    """Move a directory out of the place of a reference, whole."""
    place = git_directory / name
    if place.is_dir():
        aside = git_directory / SET_ASIDE
        aside.mkdir(parents=True, exist_ok=True)
        free = (aside / f"{name.replace('/', '-')}-{number}" for number in count(1))
        place.rename(next(each for each in free if not each.exists()))


def read_last_logged(git_directory: Path) -> str:
    """The commit that git's own log of the branch names last, where somebody keeps one."""
    for name in (f"logs/{head_reference(git_directory)}", "logs/HEAD"):
        lines = (_read_text(git_directory / name) or "").splitlines()
        if lines and is_commit_id(lines[-1][41:81]):
            return lines[-1][41:81]
    return ""


def _describe_ref(text: str | None) -> str:
    return "is missing" if text is None else "is empty" if not text else "names no commit"


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def read_head(git_directory: Path) -> str | None:
    """The commit that HEAD leads to, or None in a history without commits."""
    return read_reference(git_directory, head_reference(git_directory))


def wait_for_locks(git_directory: Path, *names: str) -> None:
    """Wait until no other git holds these files; a lock that a killed git left is removed.

    Raises:
        Conflict: another git holds one for too long.
    """
    until = time.monotonic() + _WAIT_SECONDS
    for name in names:
        lock = git_directory / f"{name}.lock"
        while lock.exists():
            if is_stale(lock):
                lock.unlink(missing_ok=True)
            elif time.monotonic() > until:
                raise Conflict(f"another git process holds {lock}; if none is running, delete that file")
            else:
                time.sleep(0.02)


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
        lines = (git_directory / "packed-refs").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    return {name: commit for commit, _, name in (line.partition(" ") for line in lines) if is_commit_id(commit)}
