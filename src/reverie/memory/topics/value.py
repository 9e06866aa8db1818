"""The `Topic` value, apart from how its file is read and written (`topic.py`): a query needs no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from reverie.errors import UserMistake
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.anchors import Anchor
    from reverie.memory.topics.situations import When

DERIVED_DESCRIPTION_CHARS = 200
"""A first line may be a whole paragraph; a description is one line."""
MAX_ASKS = 5
ASK_CHARS = 200
"""How many asks a memory may be saved with, and how long each; a file may hold more, by hand or by a merge."""


class MemoryType(StrEnum):
    """The closed taxonomy of memories; a label, not a container."""

    user = "user"
    feedback = "feedback"
    project = "project"
    reference = "reference"


class Trust(StrEnum):
    """Where the statement of a memory comes from."""

    said = "said"
    """Said by the user."""
    inferred = "inferred"
    """Concluded by the agent."""
    seen = "seen"
    """Found in a tool result, a web page or the repository: never an instruction."""


@value
class Source:
    """Where a memory comes from."""

    session: str | None = None
    message: str | None = None
    """The id of the message; several messages are several sources."""
    quote: str | None = None
    """The quoted words."""


_NOT_IN_FRONT_MATTER = frozenset({"path", "body", "extra"})


@value
class Topic:
    """One subject worth remembering. Name, description and asks are made one line, outer blank lines of the body go."""

    path: str = ""
    """Inside the memory directory, with forward slashes: `feedback_testing.md`; when empty, saving finds one."""
    name: str = ""
    """Empty is replaced by the first heading of the body or by the file name."""
    description: str = ""
    """What recall shows and matches first; empty is replaced by the first line of prose."""
    type: MemoryType | None = None
    body: str = ""
    trust: Trust | None = None
    observed: date | None = None
    """The day on which it was true."""
    verified: date | None = None
    """The day on which somebody last looked and found it still true."""
    pinned: bool = False
    expires: date | None = None
    anchors: tuple[Anchor, ...] = ()
    when: When | None = None
    asks: tuple[str, ...] = ()
    """Requests for which it should come up, in other words than its own, one line each."""
    about: tuple[str, ...] = ()
    """Whom or what it concerns."""
    sources: tuple[Source, ...] = ()
    modified: datetime | None = None
    """A stamp some hosts keep; renewed on writing only where it already stands."""
    extra: tuple[tuple[str, str], ...] = ()
    """Keys we do not know, or hold what we do not understand, in order, each with its value as one line of YAML."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", _member(MemoryType, self.type, "type"))
        object.__setattr__(self, "trust", _member(Trust, self.trust, "trust"))
        body = _strip_outer_blank_lines(_valid(self.body))
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "name", _one_line(self.name) or _derive_name(self.path, body))
        object.__setattr__(self, "description", _one_line(self.description) or _derive_description(body))
        if self.asks:
            object.__setattr__(self, "asks", tuple(dict.fromkeys(filter(None, map(_one_line, self.asks)))))
        # A value that was not understood stands only as long as nothing better takes its place.
        if self.extra:
            extra = tuple((key, text) for key, text in self.extra if not _is_said(self, key))
            object.__setattr__(self, "extra", extra)


def _is_said(topic: Topic, key: str) -> bool:
    names = Topic.__dataclass_fields__.keys() - _NOT_IN_FRONT_MATTER
    return key in names and bool(getattr(topic, key))


Word = TypeVar("Word", bound=StrEnum)


def _member(words: type[Word], value: str | None, key: str) -> Word | None:
    """The word that a caller wrote as plain text; raises `UserMistake` with those that there are."""
    if value is None or isinstance(value, words):
        return value
    try:
        return words(value)
    except ValueError:
        raise UserMistake(f"unknown {key} {value!r} of a memory; expected one of {', '.join(words)}") from None


def _strip_outer_blank_lines(body: str) -> str:
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    return (re.sub(r"\A(?:[ \t]*\n)+", "", body) if body[:1].isspace() else body).rstrip()


def _one_line(text: str) -> str:
    return " ".join(_valid(text).split())


def _valid(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates become the replacement character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


_HEADING = r"#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*\Z"
_NO_PROSE = r"#{1,6}([ \t]|\Z)|<!--|\||[-*_=]{3,}\s*\Z|!\["
_PROSE_MARK = r"(?:>[ \t]?|[-*+][ \t]+|\d+[.)][ \t]+)+"


def _derive_name(path: str, body: str) -> str:
    for line in _lines_outside_fences(body):
        match = re.match(_HEADING, line)
        if match and match[1].strip("# "):
            return _one_line(match[1])
    stem = path.rsplit("/", 1)[-1].removesuffix(".md")
    return _one_line(re.sub(r"[_-]+", " ", stem)) or "untitled"


def _derive_description(body: str) -> str:
    text = next(iter(prose_lines(body)), "")
    return text if len(text) <= DERIVED_DESCRIPTION_CHARS else text[:DERIVED_DESCRIPTION_CHARS].rstrip() + "…"


def prose_lines(body: str) -> Iterator[str]:
    """The lines of a body that are sentences, without the marks of lists and quotations."""
    for line in _lines_outside_fences(body):
        text = _one_line(re.sub(_PROSE_MARK, "", line.strip(), count=1))
        if text and not re.match(_NO_PROSE, line.strip()):
            yield text


def _lines_outside_fences(body: str) -> list[str]:
    lines, fence = [], ""
    for line in body.split("\n"):
        mark = re.match(r"[ \t]*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            lines.append(line)
    return lines


class Vetted:
    """The topics of a change that is under way, which were scanned for secrets already.

    Whoever is about to write adds them; the derived indexes ask by path and exact content, so what somebody else wrote
    in between is never taken for what was looked at.
    """

    def __init__(self) -> None:
        self._topics: dict[str, tuple[bytes, Topic]] = {}

    def add(self, content: bytes, topic: Topic) -> None:
        """Note that a content at the topic's path is this topic and holds no secret."""
        self._topics[topic.path] = content, topic

    def get(self, path: str, content: bytes) -> Topic | None:
        """The topic of a content that was looked at; None where nobody has."""
        entry = self._topics.get(path)
        return entry[1] if entry is not None and entry[0] == content else None

    def clear(self) -> None:
        """Forget them: the change is done."""
        self._topics.clear()
