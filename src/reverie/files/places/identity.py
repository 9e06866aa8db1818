"""Finds the store of a project by the identity of its repository, not by its path.

A store is a folder under `projects/` with an `identity.json`. It is recognised by the marker we left in the
repository's git folder, by the repository's remote, or, failing both, by its path. An equal first commit alone only
suggests, since templates and forks share it.

Also checks whether a directory may hold memories, and where its history lies; `memory.directories` chooses the
directory.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from reverie.errors import Damaged, Unavailable, UserMistake
from reverie.files import is_encodable, locked, read_small, write_atomic
from reverie.files.places.checkout import Checkout, find_checkout, read_remotes
from reverie.files.places.paths import MemoryFolder, Places, ProjectFolder, canonical, slug_of
from reverie.patterns import lazy_regex
from reverie.values import value

_MARKER_FILE = "reverie-id"
_MARKER = lazy_regex(r"[A-Za-z0-9-]{8,64}")


class IdentityEvidence(StrEnum):
    """Why a store is taken for a project's own, the strongest first."""

    NAME = "name"
    """The user named the folder."""
    MARKER = "marker"
    REMOTE = "remote"
    PATH = "path"


@value
class Identity:
    """What a project is known by."""

    path: str
    """The canonical path of its root: the main work tree, or without git the folder itself."""
    remotes: tuple[str, ...] = ()
    """Where it is shared, in one spelling; the first one names it."""
    marker: str | None = None
    """The id in a file of the git folder: it moves with the repository and is never committed."""
    first_commit: str | None = None
    other_paths: tuple[str, ...] = ()
    """Where it also is or once was: transcripts of those places lie under their names."""


@value
class Project:
    """A project and its store."""

    folder: ProjectFolder
    identity: Identity
    evidence: IdentityEvidence | None
    """Why this store; None when it has just been made."""
    suggestions: tuple[ProjectFolder, ...] = ()
    """For a new store: others whose repository began with the same commit; perhaps the user means one of them."""


def read_identity(path: Path) -> Identity:
    """What the folder at this path is known by, apart from its first commit, which only git can tell."""
    return _read_seen(path)[0]


def find_project(places: Places, path: Path) -> Project | None:
    """Find the store of the project around this path without changing anything; None when there is none yet."""
    return _find(places, read_identity(path))


def open_project(
    places: Places, path: Path, *, new_marker: str, first_commit: Callable[[Path], str | None], now: datetime
) -> Project:
    """Find the store of the project around this path, or make one, and note what the project is known by now.

    `first_commit` asks git for the first commit of the repository around a path; it is called only when no store is
    found. `new_marker` is left in the git folder of a repository whose store has none yet.
    """
    assert _MARKER.fullmatch(new_marker), f"not a marker: {new_marker!r}"
    me, git_dir = _read_seen(path)
    project = _find(places, me)
    if project is not None and not _has_news(project, me, git_dir):
        return project
    with locked(places.projects / ".lock", label="finding the store of a project", now=now):
        me, git_dir = _read_seen(path)
        project = _find(places, me)
        if project is None:
            me = replace(me, first_commit=first_commit(path) if git_dir else None)
            project = _find(places, me) or _new(places, me)
        if git_dir is not None and _lacks_marker(project, me):
            me = _write_marker(git_dir, me, new_marker)
        identity = _update_identity(project.identity, me)
        write_atomic(project.folder.identity, json.dumps(asdict(identity), indent=2) + "\n")
        return replace(project, identity=identity)


def list_projects(places: Places) -> Iterator[tuple[ProjectFolder, Identity]]:
    """All stores and what they are known by; damaged ones are left out."""
    try:
        names = sorted(entry.name for entry in os.scandir(places.projects))
    except FileNotFoundError:
        return
    for name in names:
        folder = ProjectFolder(places.projects / name)
        with contextlib.suppress(Damaged):
            if identity := _read_stored(folder):
                yield folder, identity


def _find(places: Places, me: Identity) -> Project | None:
    if places.project_dir_name is not None:
        return Project(ProjectFolder(places.projects / places.project_dir_name), me, IdentityEvidence.NAME)
    strongest = (
        IdentityEvidence.MARKER if me.marker else IdentityEvidence.REMOTE if me.remotes else IdentityEvidence.PATH
    )
    near = _best(_list_near(places, me), me)
    if near is not None and near.evidence is strongest:
        return near
    return _best(list_projects(places), me)


def _best(stores: Iterable[tuple[ProjectFolder, Identity]], me: Identity) -> Project | None:
    ranks = list(IdentityEvidence)
    matches = [
        (ranks.index(evidence), stored.path != me.path, Project(folder, stored, evidence))
        for folder, stored in stores
        if (evidence := _evidence(stored, me))
    ]
    return min(matches, key=lambda match: match[:2])[2] if matches else None


def _evidence(stored: Identity, me: Identity) -> IdentityEvidence | None:
    if stored.marker and stored.marker == me.marker:
        return IdentityEvidence.MARKER
    if stored.remotes and stored.remotes[:1] == me.remotes[:1]:
        return IdentityEvidence.REMOTE
    if stored.path != me.path:
        return None
    is_other_repository = (stored.marker and me.marker) or (stored.remotes and me.remotes)
    same_beginning = stored.first_commit and stored.first_commit == me.first_commit
    return IdentityEvidence.PATH if not is_other_repository or same_beginning else None


def _list_near(places: Places, me: Identity) -> Iterator[tuple[ProjectFolder, Identity]]:
    """The stores that bear this project's slug, with or without a number."""
    for folder in _names(places, me):
        if not folder.directory.is_dir():
            return
        if identity := _read_stored(folder):
            yield folder, identity


def _names(places: Places, me: Identity) -> Iterator[ProjectFolder]:
    name = slug_of(me.path)
    yield ProjectFolder(places.projects / name)
    for number in itertools.count(2):
        yield ProjectFolder(places.projects / f"{name}-{number}")


def _new(places: Places, me: Identity) -> Project:
    names = _names(places, me)
    folder = next(names)
    # A folder without identity holds transcripts of this path at most; with one, it belongs to another project.
    if _read_stored(folder) is not None:
        folder = next(each for each in names if not each.directory.exists())
    alike = (other for other, known in list_projects(places) if known.first_commit == me.first_commit)
    return Project(folder, me, None, tuple(alike) if me.first_commit else ())


def _has_news(project: Project, me: Identity, git_dir: Path | None) -> bool:
    if project.evidence is IdentityEvidence.NAME:
        return False
    return (git_dir is not None and _lacks_marker(project, me)) or _update_identity(
        project.identity, me
    ) != project.identity


def _lacks_marker(project: Project, me: Identity) -> bool:
    # A clone that was recognised by its remote gets none: once it is pointed elsewhere, it is another project.
    return project.identity.marker is None and me.marker is None


def _update_identity(stored: Identity, me: Identity) -> Identity:
    """What is stored, brought up to date with what was seen."""
    path = stored.path if _is_still_there(stored, me) else me.path
    paths = dict.fromkeys((stored.path, *stored.other_paths, me.path))
    return Identity(
        path=path,
        remotes=(me.remotes or stored.remotes) if me.path == path else (stored.remotes or me.remotes),
        marker=stored.marker or me.marker,
        first_commit=stored.first_commit or me.first_commit,
        other_paths=tuple(each for each in paths if each != path),
    )


def _is_still_there(stored: Identity, me: Identity) -> bool:
    if stored.path == me.path:
        return True
    there = read_identity(Path(stored.path))
    return there.path == stored.path and _evidence(stored, there) in {IdentityEvidence.MARKER, IdentityEvidence.REMOTE}


def _read_seen(path: Path) -> tuple[Identity, Path | None]:
    """What the folder is known by, and the git folder where its marker lies or may be left."""
    checkout = find_checkout(path)
    root = canonical(checkout.root if checkout else path)
    if checkout is None or checkout.git_dir is None:
        return Identity(root), None
    marker = (read_small(checkout.git_dir / _MARKER_FILE, limit_bytes=100) or b"").decode("utf-8", "replace").strip()
    remotes = read_remotes(checkout.git_dir, checkout.root)
    return Identity(root, remotes, marker if _MARKER.fullmatch(marker) else None), checkout.git_dir


def _write_marker(git_dir: Path, me: Identity, marker: str) -> Identity:
    try:
        write_atomic(git_dir / _MARKER_FILE, f"{marker}\n")
    except (Unavailable, UserMistake):  # a repository that we may only read is known by its remote or path
        return me
    return replace(me, marker=marker)


def _read_stored(folder: ProjectFolder) -> Identity | None:
    content = read_small(folder.identity)
    if content is None:
        if not os.path.lexists(folder.identity):
            return None
        content = read_small(folder.identity)  # another process may have put it there between the two looks
    try:
        fields = json.loads(content or b"")
        return Identity(
            path=str(fields["path"]),
            remotes=tuple(map(str, fields["remotes"])),
            marker=None if fields["marker"] is None else str(fields["marker"]),
            first_commit=None if fields["first_commit"] is None else str(fields["first_commit"]),
            other_paths=tuple(map(str, fields["other_paths"])),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = (
            f"{folder.identity} does not say which project this is ({error}); repair it, or remove it to start anew"
        )
        raise Damaged(message, path=folder.identity) from error


def validate_memory_directory(value: str, *, user_home: Path) -> Path:
    """Return the directory that the value names, `~/` expanded and `..` taken out.

    Raises:
        UserMistake: it is relative, at or near the root, a home directory, a drive or network root, or holds a NUL.
    """
    if not is_encodable(value):
        raise UserMistake(f"{value!r} contains a character that is not allowed in a path")
    if value.startswith(("\\\\", "//")):
        raise UserMistake(f"{value!r} is a network path; name a directory on this machine")
    if re.match(r"[A-Za-z]:", value):
        raise UserMistake(f"{value!r} is a Windows path; name a directory of this system")
    path = Path(os.path.normpath(user_home / value[2:] if value.startswith("~/") else value))
    if not path.is_absolute():
        raise UserMistake(f"{value!r} is relative; use an absolute path or start with ~/")
    for seen in (path, Path(os.path.realpath(path))):
        if len(seen.parts) < 3:
            raise UserMistake(f"{value!r} is too close to the root; name a directory at least two levels deep")
        if seen in (user_home, Path(os.path.realpath(user_home))):
            raise UserMistake(f"{value!r} is the home directory itself; name a directory in it")
    return path


def memory_folder(places: Places, directory: Path) -> MemoryFolder:
    """The memory directory with the place of its history: aside when it lies inside somebody's work tree."""
    checkout = find_checkout(directory.parent)
    return MemoryFolder(directory, aside=directory if checkout is None else _aside(places, directory, checkout))


def _aside(places: Places, directory: Path, checkout: Checkout) -> Path:
    """Where the history lies: named by the path, or by one from which the repository has moved away since.

    Names are lossy; where another directory has the name already, this one gets a name of its own.
    """
    here, usual = canonical(directory), places.aside(directory)
    for place in itertools.chain([usual], _former(places, here, checkout)):
        owner = _work_tree(place)
        if owner is not None and (owner == here or not Path(owner).exists()):
            return place
    if _work_tree(usual) is None:
        return usual
    return usual.with_name(f"{usual.name}-{zlib.crc32(here.encode(errors='surrogatepass')):08x}")


def _former(places: Places, here: str, checkout: Checkout) -> Iterator[Path]:
    """The places of the same directory where the repository was before."""
    root = canonical(checkout.root)
    project = find_project(places, checkout.root) if Path(here).is_relative_to(root) else None
    for path in (project.identity.path, *project.identity.other_paths) if project is not None else ():
        yield places.aside(path / Path(here).relative_to(root))


def _work_tree(aside: Path) -> str | None:
    """Which directory's history lies here; its configuration says so."""
    try:
        match = re.search(
            r'^\tworktree = "(.*)"$', (aside / ".git" / "config").read_text(encoding="utf-8"), re.MULTILINE
        )
    except OSError:
        return None
    return None if match is None else re.sub(r"\\(.)", r"\1", match[1])
