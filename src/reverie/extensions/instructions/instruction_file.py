"""The values of this package: one loaded file, why it was loaded, and everything loaded so far."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from reverie.files.places import Places
from reverie.messages.blocks import Json, JsonObject
from reverie.settings import InstructionsSettings
from reverie.values import value

Identity: TypeAlias = tuple[int, int]
"""Device and number of a file: the same for a link to it, and for its name in other letter case where that is one."""


class InstructionKind(StrEnum):
    """Whose file it is; the labels that hooks know."""

    MANAGED = "Managed"
    USER = "User"
    PROJECT = "Project"
    LOCAL = "Local"
    AUTO_MEMORY = "AutoMem"
    TEAM_MEMORY = "TeamMem"
    """The memory indexes, the user's own and the team's: they join the instructions and are not loaded here."""


class LoadReason(StrEnum):
    """Why a file was loaded."""

    SESSION_START = "session_start"
    NESTED = "nested_traversal"
    PATH_MATCH = "path_glob_match"
    INCLUDE = "include"
    COMPACT = "compact"


@value
class InstructionFile:
    """One file as it was loaded."""

    path: Path
    kind: InstructionKind
    reason: LoadReason
    text: str
    """What the model reads: without front matter and comments; empty for a file that only includes others."""
    globs: tuple[str, ...] = ()
    """Of a rule: the `paths:` of which one matched."""
    trigger: Path | None = None
    """The touched file that caused the load."""
    parent: Path | None = None
    """The file that includes this one."""

    @property
    def hook_fields(self) -> JsonObject:
        """The fields of an `InstructionsLoaded` hook."""
        fields: dict[str, Json] = {
            "file_path": str(self.path),
            "memory_type": self.kind.value,
            "load_reason": self.reason.value,
        }
        if self.globs:
            fields["globs"] = list(self.globs)
        if self.trigger is not None:
            fields["trigger_file_path"] = str(self.trigger)
        if self.parent is not None:
            fields["parent_file_path"] = str(self.parent)
        return fields


@value
class PathRule:
    """A rule that waits for a matching file."""

    path: Path
    identity: Identity
    kind: InstructionKind
    globs: tuple[str, ...]
    base: Path
    """The folder from which the patterns count."""


@value
class Outside:
    """A file outside the project that a file of the project wants; the user is asked once."""

    path: Path
    """The real path, free of links: what is allowed is a file, not a name that may lead elsewhere tomorrow."""
    wanted_by: Path
    """The file that includes it, or the link that leads to it."""
    kind: InstructionKind = InstructionKind.PROJECT
    """Whose file wants it."""
    owner: Path = Path()
    """The folder to which that file belongs."""
    depth: int = 0
    """How many includes lead to it."""


@value
class Where:
    """What a load depends on, beside the files themselves."""

    places: Places
    directory: Path
    """Where the agent stands."""
    home: Path
    """What `~` means."""
    settings: InstructionsSettings
    additional: tuple[Path, ...] = ()
    """Further folders that the agent may enter."""
    allowed: frozenset[Path] = frozenset()
    """Real paths outside the project that the user has agreed to."""
    declined: frozenset[Path] = frozenset()
    """Those that the user has refused; they are not asked for again."""
    project_excludes: tuple[str, ...] = ()
    """Patterns of `settings.excludes` that the project's own files gave: they reach nothing outside it."""


@value
class Loaded:
    """Everything loaded, in the order in which it counts: later text has more weight."""

    where: Where
    files: tuple[InstructionFile, ...] = ()
    rules: tuple[PathRule, ...] = ()
    """Rules that no touched file has matched yet."""
    warnings: tuple[str, ...] = ()
    """For the person: what is too long, was left out, or could not be read."""
    notes: tuple[str, ...] = ()
    """For who looks closely: includes that lead nowhere, copies that were left out."""
    waiting: tuple[Outside, ...] = ()
    """What waits for the user's approval."""
    seen: frozenset[Identity] = frozenset()
    """Files that will not be loaded again."""

    def with_more(self, more: Loaded) -> Loaded:
        """With what a touched file added; `more` knows which rules are left and which files were seen."""
        return replace(
            more,
            files=self.files + more.files,
            warnings=self.warnings + more.warnings,
            notes=self.notes + more.notes,
            waiting=tuple(dict.fromkeys(self.waiting + more.waiting)),
        )
