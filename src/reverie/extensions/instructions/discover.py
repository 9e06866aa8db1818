"""Finds the instruction files that apply in a folder, in order of precedence, and those that a touched file adds.

Broad before specific: the machine's, the user's, then every folder from the root to where the agent stands. A file is
loaded once, whatever names and links lead to it; what it includes comes before it, so that it has the last word. Files
of the project do not reach outside it, by include or by link, unless the user has agreed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from reverie.extensions.instructions.include import (
    UnreadableFile,
    find_target,
    is_only_includes,
    is_text_name,
    link_target,
    mentions,
    read_identity,
    read_text,
)
from reverie.extensions.instructions.instruction_file import (
    Identity,
    InstructionFile,
    InstructionKind,
    Loaded,
    LoadReason,
    Outside,
    PathRule,
    Where,
)
from reverie.extensions.instructions.markdown import without_comments
from reverie.extensions.instructions.rules import split_front_matter
from reverie.extensions.markdown_file import list_markdown
from reverie.files.globs import matches_below, unfold_all
from reverie.files.places import InstructionFiles, find_checkout
from reverie.values import value

_AGENTS = "agents.md"
_IN_SETTINGS = Path("managed settings")


def load(where: Where, reason: LoadReason = LoadReason.SESSION_START) -> Loaded:
    """Load everything that applies before any file is touched; `reason` is `COMPACT` when that happens again."""
    if not where.settings.enabled:
        return Loaded(where)
    loading = _Loading(Loaded(where))
    loading.read_level(where.places.managed_instructions, InstructionKind.MANAGED, reason, owner=loading.top)
    loading.take_managed(where.settings.managed_text or "", reason)
    loading.read_level(where.places.user_instructions, InstructionKind.USER, reason, owner=loading.top)
    for folder in loading.walk:
        loading.read_folder(folder, reason)
    if where.settings.from_additional_directories:
        for folder in loading.additional:
            loading.read_folder(folder, reason)
    return loading.result()


def load_nested(loaded: Loaded, touched: Path) -> Loaded:
    """What a touched file adds: the instructions of folders on the way to it, and rules whose `paths:` match it.

    The answer holds only what is new; `loaded.with_more(answer)` is the whole.
    """
    if not loaded.where.settings.enabled:
        return Loaded(loaded.where)
    loading = _Loading(loaded)
    real = Path(os.path.realpath(loading.directory / touched))
    loading.trigger = real
    for folder in loading.folders_to(real):
        loading.read_folder(folder, LoadReason.NESTED)
    loading.read_matching_rules(real)
    return loading.result()


def load_waiting(loaded: Loaded) -> Loaded:
    """What waited outside of the project and is allowed now. Like `load_nested`, returns only what is new."""
    loading = _Loading(loaded)
    for one in loaded.waiting:
        loading.read_outside(one)
    return loading.result()


def mark_as_read(loaded: Loaded, paths: Iterable[Path]) -> Loaded:
    """The same, when these files stand in the conversation already, as after a resume: they will not come again."""
    known = {identity for path in paths if (identity := read_identity(path)) is not None}
    rules = tuple(rule for rule in loaded.rules if rule.identity not in known)
    return replace(loaded, rules=rules, seen=loaded.seen | known)


@value
class _Errand:
    """Why and on whose behalf a file is read."""

    kind: InstructionKind
    reason: LoadReason
    owner: Path
    """The folder to which the file belongs."""
    parent: Path | None = None
    depth: int = 0
    globs: tuple[str, ...] = ()

    def included_by(self, parent: Path) -> _Errand:
        return _Errand(self.kind, LoadReason.INCLUDE, self.owner, parent, self.depth + 1)


class _Loading:
    """One load under way."""

    def __init__(self, before: Loaded) -> None:
        self._where = before.where
        self._settings = before.where.settings
        self.directory = Path(os.path.realpath(before.where.directory))
        checkout = find_checkout(self.directory)
        self.top = checkout.top if checkout else self.directory
        self._main_root = checkout.root if checkout else self.directory
        self.additional = tuple(Path(os.path.realpath(folder)) for folder in before.where.additional)
        theirs = before.where.project_excludes
        own = [pattern for pattern in self._settings.excludes if pattern not in theirs]
        self._excludes = unfold_all(_absolute(pattern, before.where.home) for pattern in own)
        self._project_excludes = unfold_all(_absolute(pattern, before.where.home) for pattern in theirs)
        self.trigger: Path | None = None
        self._files: list[InstructionFile] = []
        self._rules = list(before.rules)
        self._warnings: list[str] = []
        self._notes: list[str] = []
        self._waiting: list[Outside] = []
        self._seen: set[Identity] = set(before.seen)

    def result(self) -> Loaded:
        return Loaded(
            self._where,
            tuple(self._files),
            tuple(self._rules),
            tuple(self._warnings),
            tuple(self._notes),
            tuple(dict.fromkeys(self._waiting)),
            frozenset(self._seen),
        )

    @property
    def walk(self) -> tuple[Path, ...]:
        """The folders from the root of the file system to where the agent stands."""
        return (*reversed(self.directory.parents), self.directory)

    def folders_to(self, touched: Path) -> Iterator[Path]:
        """The folders on the way to a touched file that the walk did not pass, the outermost first."""
        roots = [self.top, self.directory]
        roots += self.additional if self._settings.from_additional_directories else ()
        passed = {*self.walk, *(self.additional if self._settings.from_additional_directories else ())}
        for folder in reversed(touched.parents):
            if folder not in passed and any(folder.is_relative_to(root) for root in roots):
                yield folder

    def read_folder(self, folder: Path, reason: LoadReason) -> None:
        """The files of one folder of the project, or above it."""
        level = self._where.places.project_instructions(folder)
        if not self._is_other_worktree(folder):
            self.read_level(level, InstructionKind.PROJECT, reason, owner=folder)
        if level.local is not None:
            self._read(level.local, _Errand(InstructionKind.LOCAL, reason, folder))

    def take_managed(self, text: str, reason: LoadReason) -> None:
        """What an administrator wrote into settings instead of a file; it includes nothing."""
        said = without_comments(text).strip()
        if said:
            self._files.append(InstructionFile(_IN_SETTINGS, InstructionKind.MANAGED, reason, said))

    def read_level(self, level: InstructionFiles, kind: InstructionKind, reason: LoadReason, *, owner: Path) -> None:
        """The shared files of one level, then its rules."""
        first = len(self._files)
        for path in level.files:
            if self._settings.agents_md or path.name.lower() != _AGENTS:
                self._read(path, _Errand(kind, reason, owner))
        self._drop_copies(first)
        for path in list_markdown(level.rules, with_hidden=True):
            self._read_rule(path, _Errand(kind, reason, owner))

    def read_matching_rules(self, touched: Path) -> None:
        """Rules that have waited for such a file."""
        for rule in tuple(self._rules):
            relative = _relative(touched, rule.base)
            if relative and any(matches_below(pattern, relative) for pattern in unfold_all(rule.globs)):
                self._rules.remove(rule)
                self._read(rule.path, _Errand(rule.kind, LoadReason.PATH_MATCH, rule.base, globs=rule.globs))

    def read_outside(self, one: Outside) -> None:
        """A file that has waited for the user's word."""
        self._read(one.path, _Errand(one.kind, LoadReason.INCLUDE, one.owner, one.wanted_by, one.depth))

    def _is_other_worktree(self, folder: Path) -> bool:
        """Whether the folder belongs to the main work tree while we stand in another that lies inside it.

        Both hold the same committed files, perhaps of different branches; only ours count.
        """
        return (
            self.top != self._main_root
            and self.top.is_relative_to(self._main_root)
            and folder.is_relative_to(self._main_root)
            and not folder.is_relative_to(self.top)
        )

    def _read_rule(self, path: Path, errand: _Errand) -> None:
        identity = read_identity(path)
        if identity is None or identity in self._seen or any(rule.identity == identity for rule in self._rules):
            return
        if not self._may_read(path, errand):
            return
        content = read_text(path, self._settings)
        globs = () if isinstance(content, UnreadableFile) else split_front_matter(content).globs
        if globs:
            self._rules.append(PathRule(path, identity, errand.kind, globs, errand.owner))
        else:
            self._read(path, errand)

    def _read(self, path: Path, errand: _Errand) -> None:
        identity = read_identity(path)
        if identity is None or identity in self._seen or not self._may_read(path, errand):
            return
        self._seen.add(identity)
        content = read_text(path, self._settings)
        if isinstance(content, UnreadableFile):
            self._warnings.append(f"{path} {content.why}; it was left out.")
            return
        if len(content) > self._settings.file_chars:
            self._warnings.append(
                f"{path} has {len(content):,} characters, more than {self._settings.file_chars:,}. It was loaded, but "
                "long instructions cost every request and are followed less; move detail into rules or skills."
            )
        text = without_comments(split_front_matter(content).text).strip("\n")
        linked = link_target(text, path.parent)
        if linked is not None:
            self._read_include(linked, path, errand)
            text = ""
        elif self._read_includes(text, path, errand) and is_only_includes(text):
            text = ""
        self._files.append(
            InstructionFile(path, errand.kind, errand.reason, text, errand.globs, self.trigger, errand.parent)
        )

    def _read_includes(self, text: str, path: Path, errand: _Errand) -> bool:
        """Read what a text includes; whether everything that looked like an include was one."""
        all_found = True
        for written in mentions(text):
            target = find_target(written, path.parent, self._where.home)
            if target.path is not None:
                self._read_include(target.path, path, errand)
                continue
            all_found = False
            if target.is_certain:
                self._notes.append(f"{path} includes @{target.written}, which does not exist.")
        return all_found

    def _read_include(self, path: Path, parent: Path, errand: _Errand) -> None:
        path = Path(os.path.normpath(path))
        if read_identity(path) in self._seen:
            return
        if errand.depth >= self._settings.include_depth:
            self._warnings.append(
                f"{path} was not loaded: {parent} includes it, and includes go {self._settings.include_depth} deep "
                "(instructions.include_depth). Include it from a file nearer to the top."
            )
        elif not is_text_name(path):
            self._notes.append(f"{parent} includes {path}, which is not a text file.")
        else:
            self._read(path, errand.included_by(parent))

    def _may_read(self, path: Path, errand: _Errand) -> bool:
        real = Path(os.path.realpath(path))
        if errand.kind is not InstructionKind.MANAGED and self._is_excluded(path, real, errand.kind):
            return False
        if errand.kind not in {InstructionKind.PROJECT, InstructionKind.LOCAL} or real in self._where.allowed:
            return True
        if any(real.is_relative_to(root) for root in (self.top, self.directory, errand.owner)):
            return True
        if real not in self._where.declined:
            wanted_by = errand.parent or path
            self._waiting.append(Outside(real, wanted_by, errand.kind, errand.owner, errand.depth))
        return False

    def _is_excluded(self, path: Path, real: Path, kind: InstructionKind) -> bool:
        is_theirs = kind is not InstructionKind.USER and real.is_relative_to(self.top)
        patterns = (*self._excludes, *(self._project_excludes if is_theirs else ()))
        return any(matches_below(pattern, str(name)) for pattern in patterns for name in {path, real})

    def _drop_copies(self, first: int) -> None:
        """Of files of one level that say the same, as `AGENTS.md` often is a copy of `CLAUDE.md`, keep one."""
        said: dict[str, Path] = {}
        kept = []
        for file in self._files[first:]:
            if file.text and file.text in said:
                self._notes.append(f"{file.path} says the same as {said[file.text]}; it was left out.")
                continue
            said[file.text] = file.path
            kept.append(file)
        self._files[first:] = kept


def _absolute(pattern: str, home: Path) -> str:
    if pattern.startswith("~/"):
        return str(home / pattern[2:])
    return pattern if pattern.startswith(("/", "**")) else f"**/{pattern}"


def _relative(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else ""
