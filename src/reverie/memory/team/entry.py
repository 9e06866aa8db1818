"""The values that a transport and the merge exchange: an entry, a snapshot of all entries, what was refused."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from reverie.values import value

NAME_CHARS = 40


@value
class TeamEntry:
    """One shared file, or the tombstone of one that was deleted."""

    text: str | None
    """None in a tombstone."""
    sha256: str
    """Of the text; in a tombstone of the text that was deleted, where that is known."""
    author: str = ""
    """Who wrote this text, as far as the remote knows."""
    trust: str = ""
    """As the author's own memory has it: `said` means said by the author."""

    @property
    def is_deleted(self) -> bool:
        return self.text is None


@value
class RefusedEntry:
    """An entry that was not sent or not taken; never its text."""

    path: str
    rule: str
    line: int = 0
    """Counted from 1; 0 where the rule is not about a line."""
    direction: str = "in"
    """`in` from the remote, `out` to it."""

    def __str__(self) -> str:
        place = f" in line {self.line}" if self.line else ""
        return f"{self.path}: {self.rule}{place}"


@value
class TeamSnapshot:
    """Everything that a remote holds at one moment."""

    version: str
    """What the remote calls this state; empty where it holds nothing yet."""
    entries: Mapping[str, TeamEntry]
    """By path below `team/`. A path that is missing is unknown to the remote, which is not the same as deleted."""
    refused: tuple[RefusedEntry, ...] = ()
    """What the transport itself would not read: links, odd paths, files that are too large."""


@value
class SentChanges:
    """What became of changes that were sent."""

    version: str
    """Up to which state of the remote everything is known here: the new one, unless others wrote in between."""
    refused: tuple[RefusedEntry, ...] = ()
    """What the remote would not store; all other changes are stored."""


class TeamRemote(Protocol):
    """Where the entries of a team lie: a git branch or a server."""

    def read_version(self) -> str:
        """What the remote calls its present state; empty where it holds nothing yet.

        Raises:
            Unavailable: it cannot be reached, or does not let us in.
        """

    def fetch(self, known: Mapping[str, TeamEntry], version: str) -> TeamSnapshot | None:
        """What the remote holds now; None when it is still at `version`.

        `known` is what both sides last agreed on.

        Raises:
            Unavailable: it cannot be reached, or does not let us in.
        """

    def send(self, snapshot: TeamSnapshot, changes: Mapping[str, TeamEntry]) -> SentChanges:
        """Add changes to a snapshot. Sending again what is stored already changes nothing.

        Raises:
            Conflict: somebody else changed the same entries since that snapshot; some changes may be stored.
            Unavailable: it cannot be reached, or does not let us write; some changes may be stored.
        """

    def erase(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Remove earlier texts of deleted entries as far as possible; returns what keeps them, in words."""


def hash_text(text: str) -> str:
    """The SHA-256 by which both sides name a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def live_entry(text: str, author: str = "", trust: str = "") -> TeamEntry:
    """The entry of a text."""
    return TeamEntry(text, hash_text(text), clean_name(author), trust)


def tombstone(sha256: str, author: str = "") -> TeamEntry:
    """The entry of a file that was deleted."""
    return TeamEntry(None, sha256, clean_name(author))


def clean_name(name: str) -> str:
    """A person's name as it may stand in a sentence for the model: letters, digits and a few signs, not too long."""
    return " ".join(re.sub(r"[^\w .@'+-]", " ", name).split())[:NAME_CHARS].strip()
