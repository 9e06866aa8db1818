"""Author, reason and sources of a change, and how they are written to a commit message and parsed back.

The subject line is the reason; everything else stands in trailers, one line each whatever the text: `Reverie-Author`,
`Reverie-Session`, and for every source `Reverie-Source` (its session), `Reverie-Message` and `Reverie-Quote`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from reverie.memory.topics.value import Source

Author: TypeAlias = Literal["user", "agent", "extraction", "dream", "sync", "import", "unknown"]
AUTHORS: tuple[Author, ...] = get_args(Author)
SUBJECT_CHARS = 72
"""What `git log --oneline` shows without wrapping; a longer reason stands whole in its trailer."""


@dataclass(frozen=True, slots=True)
class Change:
    """The account of one change, given by whoever makes it."""

    author: Author
    reason: str
    session: str | None = None
    sources: tuple[Source, ...] = ()
    undoes: str | None = None
    """The commit this one takes back."""
    merges: str | None = None
    """A second parent: the last commit of a history that was brought in."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One change as the history keeps it."""

    commit: str
    when: datetime
    change: Change
    paths: tuple[str, ...]
    """The files it changed, the index left out."""
    parents: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """One line, as `reverie log` shows it."""
        return f"Commit({self.commit[:8]}, {self.when:%Y-%m-%d %H:%M}, {self.change.author}: {self.change.reason!r})"


def render_message(change: Change) -> str:
    """The commit message of a change."""
    reason = " ".join(_printable(change.reason).split()) or "change memory"
    subject = reason if len(reason) <= SUBJECT_CHARS else reason[: SUBJECT_CHARS - 1].rstrip() + "…"
    trailers: list[tuple[str, str]] = [("Author", change.author)]
    if subject != change.reason:
        trailers.append(("Reason", change.reason))
    if change.session:
        trailers.append(("Session", change.session))
    if change.undoes:
        trailers.append(("Undoes", change.undoes))
    for source in change.sources:
        trailers.append(("Source", source.session or ""))
        if source.message:
            trailers.append(("Message", source.message))
        if source.quote:
            trailers.append(("Quote", source.quote))
    return "\n".join([subject, "", *(f"Reverie-{key}: {_escape_line(value)}" for key, value in trailers)]) + "\n"


def parse_message(message: str) -> Change:
    """The change a commit message tells of; a commit that is not ours is by `unknown`."""
    subject = message.partition("\n")[0]
    author: Author = "unknown"
    reason, session, undoes = subject, None, None
    sources: list[Source] = []
    for key, value in _trailers(message):
        match key:
            case "Author" if value in AUTHORS:
                author = value
            case "Reason":
                reason = value
            case "Session":
                session = value
            case "Undoes":
                undoes = value
            case "Source":
                sources.append(Source(session=value or None))
            case "Message" if sources:
                sources[-1] = replace(sources[-1], message=value)
            case "Quote" if sources:
                sources[-1] = replace(sources[-1], quote=value)
            case _:
                pass
    return Change(author, reason, session, tuple(sources), undoes)


def without_quotes(message: str, *, says_too_much: Callable[[str], bool]) -> str:
    """The message without sources and quotes, and without a reason that says too much."""
    subject, *rows = (row for row in message.split("\n") if not re.match(r"Reverie-(Quote|Source|Message):", row))
    # A long subject is a cut reason, so both stay or both go.
    if not says_too_much(subject) and not any(says_too_much(row) for row in rows):
        return "\n".join([subject, *rows])
    return "\n".join(["erased", *(row for row in rows if not row.startswith("Reverie-Reason:"))])


def _trailers(message: str) -> Iterator[tuple[str, str]]:
    for row in message.split("\n"):
        match = re.match(r"Reverie-([A-Za-z]+): (.*)\Z", row)
        if match:
            yield match[1], _unescape_line(match[2])


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def _escape_line(text: str) -> str:
    """One line without control characters, from which `_unescape_line` makes the same text."""
    return "".join("\\\\" if char == "\\" else char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in text)


def _unescape_line(text: str) -> str:
    return re.sub(r"\\(?:\\|u\{([0-9a-f]{1,6})\})", lambda match: chr(int(match[1], 16)) if match[1] else "\\", text)
