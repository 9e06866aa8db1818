"""Finds the instruction files that apply in a folder, in order of precedence, and those that a touched file adds.

Broad before specific: the machine's, the user's, then every folder from the root to the working directory. A file is
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
from reverie.extensions.instructions.markdown import split_front_matter, without_comments
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
    loader = _Loader(Loaded(where))
    loader.read_level(where.places.managed_instructions, InstructionKind.MANAGED, reason, owner=loader.top)
    loader.add_managed_text(where.settings.managed_text or "", reason)
    loader.read_level(where.places.user_instructions, InstructionKind.USER, reason, owner=loader.top)
    for folder in loader.walk:
        loader.read_folder(folder, reason)
    if where.settings.from_additional_directories:
        for folder in loader.additional:
            loader.read_folder(folder, reason)
    return loader.result()


def load_nested(loaded: Loaded, touched: Path) -> Loaded:
    """What a touched file adds: the instructions of folders on the way to it, and rules whose `paths:` match it.

    The answer holds only what is new; `loaded.with_more(answer)` is the whole.
    """
    if not loaded.where.settings.enabled:
        return Loaded(loaded.where)
    loader = _Loader(loaded)
    real = Path(os.path.realpath(loader.directory / touched))
    loader.trigger = real
    for folder in loader.folders_to(real):
        loader.read_folder(folder, LoadReason.NESTED)
    loader.read_matching_rules(real)
    return loader.result()


def load_waiting(loaded: Loaded) -> Loaded:
    """Load files outside of the project that the user has allowed since; like `load_nested`, returns only those."""
    loader = _Loader(loaded)
    for outside in loaded.waiting:
        loader.read_outside(outside)
    return loader.result()


def mark_as_read(loaded: Loaded, paths: Iterable[Path]) -> Loaded:
    """Mark files as read that the conversation already holds, as after a resume; they are not loaded again."""
    identities = {identity for path in paths if (identity := read_identity(path)) is not None}
    rules = tuple(rule for rule in loaded.rules if rule.identity not in identities)
    return replace(loaded, rules=rules, seen=loaded.seen | identities)


@value
class _ReadRequest:
    """Why a file is read, and for which folder."""

    kind: InstructionKind
    reason: LoadReason
    owner: Path
    """The folder to which the file belongs."""
    parent: Path | None = None
    depth: int = 0
    globs: tuple[str, ...] = ()

    def included_by(self, parent: Path) -> _ReadRequest:
        return _ReadRequest(self.kind, LoadReason.INCLUDE, self.owner, parent, self.depth + 1)


class _Loader:
    """Reads files once each and collects what `Loaded` holds."""

    def __init__(self, before: Loaded) -> None:
        self._where = before.where
        self._settings = before.where.settings
        self.directory = Path(os.path.realpath(before.where.directory))
        checkout = find_checkout(self.directory)
        self.top = checkout.top if checkout else self.directory
        self._main_root = checkout.root if checkout else self.directory
        self.additional = tuple(Path(os.path.realpath(folder)) for folder in before.where.additional)
        of_project = before.where.project_excludes
        of_user = [pattern for pattern in self._settings.excludes if pattern not in of_project]
        self._excludes = unfold_all(_absolute(pattern, before.where.home) for pattern in of_user)
        self._project_excludes = unfold_all(_absolute(pattern, before.where.home) for pattern in of_project)
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
        """The folders from the root of the file system to the working directory."""
        return (*reversed(self.directory.parents), self.directory)

    def folders_to(self, touched: Path) -> Iterator[Path]:
        """The folders on the way to a touched file that `walk` does not hold, the outermost first."""
        roots = [self.top, self.directory]
        roots += self.additional if self._settings.from_additional_directories else ()
        walked = {*self.walk, *(self.additional if self._settings.from_additional_directories else ())}
        for folder in reversed(touched.parents):
            if folder not in walked and any(folder.is_relative_to(root) for root in roots):
                yield folder

    def read_folder(self, folder: Path, reason: LoadReason) -> None:
        """Read the files of one folder of the project, or above it."""
        level = self._where.places.project_instructions(folder)
        if not self._is_other_worktree(folder):
            self.read_level(level, InstructionKind.PROJECT, reason, owner=folder)
        if level.local is not None:
            self._read(level.local, _ReadRequest(InstructionKind.LOCAL, reason, folder))

    def add_managed_text(self, text: str, reason: LoadReason) -> None:
        """Add what an administrator wrote into settings instead of a file; includes in it are not followed."""
        shown = without_comments(text).strip()
        if shown:
            self._files.append(InstructionFile(_IN_SETTINGS, InstructionKind.MANAGED, reason, shown))

    def read_level(self, level: InstructionFiles, kind: InstructionKind, reason: LoadReason, *, owner: Path) -> None:
        """Read the shared files of one level, then its rules."""
        first = len(self._files)
        for path in level.files:
            if self._settings.agents_md or path.name.lower() != _AGENTS:
                self._read(path, _ReadRequest(kind, reason, owner))
        self._drop_copies(first)
        for path in list_markdown(level.rules, with_hidden=True):
            self._read_rule(path, _ReadRequest(kind, reason, owner))

    def read_matching_rules(self, touched: Path) -> None:
        """Read the rules whose `paths:` match a touched file."""
        for rule in tuple(self._rules):
            relative = _relative(touched, rule.base)
            if relative and any(matches_below(pattern, relative) for pattern in unfold_all(rule.globs)):
                self._rules.remove(rule)
                self._read(rule.path, _ReadRequest(rule.kind, LoadReason.PATH_MATCH, rule.base, globs=rule.globs))

    def read_outside(self, outside: Outside) -> None:
        """Read a file outside of the project that the user has allowed."""
        request = _ReadRequest(outside.kind, LoadReason.INCLUDE, outside.owner, outside.wanted_by, outside.depth)
        self._read(outside.path, request)

    def _is_other_worktree(self, folder: Path) -> bool:
        """Whether the folder is in the main work tree while the working directory is in another one inside it.

        Both hold the same committed files, perhaps of different branches; only ours count.
        """
        return (
            self.top != self._main_root
            and self.top.is_relative_to(self._main_root)
            and folder.is_relative_to(self._main_root)
            and not folder.is_relative_to(self.top)
        )

    def _read_rule(self, path: Path, request: _ReadRequest) -> None:
        identity = read_identity(path)
        if identity is None or identity in self._seen or any(rule.identity == identity for rule in self._rules):
            return
        if not self._may_read(path, request):
            return
        content = read_text(path, self._settings)
        globs = () if isinstance(content, UnreadableFile) else split_front_matter(content).globs
        if globs:
            self._rules.append(PathRule(path, identity, request.kind, globs, request.owner))
        else:
            self._read(path, request)

    def _read(self, path: Path, request: _ReadRequest) -> None:
        identity = read_identity(path)
        if identity is None or identity in self._seen or not self._may_read(path, request):
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
            self._read_include(linked, path, request)
            text = ""
        elif self._read_includes(text, path, request) and is_only_includes(text):
            text = ""
        self._files.append(
            InstructionFile(path, request.kind, request.reason, text, request.globs, self.trigger, request.parent)
        )

    def _read_includes(self, text: str, path: Path, request: _ReadRequest) -> bool:
        """Read what a text includes; whether everything that looked like an include was one."""
        all_found = True
        for written in mentions(text):
            target = find_target(written, path.parent, self._where.home)
            if target.path is not None:
                self._read_include(target.path, path, request)
                continue
            all_found = False
            if target.is_certain:
                self._notes.append(f"{path} includes @{target.written}, which does not exist.")
        return all_found

    def _read_include(self, path: Path, parent: Path, request: _ReadRequest) -> None:
        path = Path(os.path.normpath(path))
        if read_identity(path) in self._seen:
            return
        if request.depth >= self._settings.include_depth:
            self._warnings.append(
                f"{path} was not loaded: {parent} includes it, and includes go {self._settings.include_depth} deep "
                "(instructions.include_depth). Include it from a file nearer to the top."
            )
        elif not is_text_name(path):
            self._notes.append(f"{parent} includes {path}, which is not a text file.")
        else:
            self._read(path, request.included_by(parent))

    def _may_read(self, path: Path, request: _ReadRequest) -> bool:
        real = Path(os.path.realpath(path))
        if request.kind is not InstructionKind.MANAGED and self._is_excluded(path, real, request.kind):
            return False
        if request.kind not in {InstructionKind.PROJECT, InstructionKind.LOCAL} or real in self._where.allowed:
            return True
        if any(real.is_relative_to(root) for root in (self.top, self.directory, request.owner)):
            return True
        if real not in self._where.declined:
            wanted_by = request.parent or path
            self._waiting.append(Outside(real, wanted_by, request.kind, request.owner, request.depth))
        return False

    def _is_excluded(self, path: Path, real: Path, kind: InstructionKind) -> bool:
        is_of_project = kind is not InstructionKind.USER and real.is_relative_to(self.top)
        patterns = (*self._excludes, *(self._project_excludes if is_of_project else ()))
        return any(matches_below(pattern, str(name)) for pattern in patterns for name in {path, real})

    def _drop_copies(self, first: int) -> None:
        """Of files of one level that say the same, as `AGENTS.md` often is a copy of `CLAUDE.md`, keep one."""
        first_by_text: dict[str, Path] = {}
        unique = []
        for file in self._files[first:]:
            if file.text and file.text in first_by_text:
                self._notes.append(f"{file.path} says the same as {first_by_text[file.text]}; it was left out.")
                continue
            first_by_text[file.text] = file.path
            unique.append(file)
        self._files[first:] = unique


def _absolute(pattern: str, home: Path) -> str:
    if pattern.startswith("~/"):
        return str(home / pattern[2:])
    return pattern if pattern.startswith(("/", "**")) else f"**/{pattern}"


def _relative(path: Path, base: Path) -> str:
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else ""
