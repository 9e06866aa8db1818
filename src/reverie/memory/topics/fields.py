"""The known keys of a topic's front matter: how each is parsed and written.

A value that cannot be read as what its key promises raises `NotUnderstood`; `topic.py` then keeps it untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from reverie.files.front_matter import Scalar, Table, Value, plain_text, quote_string
from reverie.memory.topics.anchors import Anchor, CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor
from reverie.memory.topics.situations import When, parse_when
from reverie.memory.topics.value import MemoryType, Source, Trust
from reverie.values import value

if TYPE_CHECKING:
    from typing import TypeVar

    Name = TypeVar("Name", bound=StrEnum)


class NotUnderstood(ValueError):
    """A known key holds something that it cannot mean."""


@value
class Field:
    """One known key, which is also the name of the attribute of `Topic`."""

    key: str
    read: Callable[[Value], Any]
    write: Callable[[Any], str | None]
    """What stands after the colon (and, for lists, on the lines below); None when the key is left out."""


def _text(value: Value) -> str:
    return plain_text(value) or ""


def _write_text(value: str) -> str | None:
    return quote_string(value) if value else None


def _word(value: Value) -> str:
    if not isinstance(value, Scalar):
        raise NotUnderstood
    return value.text.strip()


def _one_of(names: type[Name]) -> Callable[[Value], Name]:
    def read(value: Value) -> Name:
        try:
            return names(_word(value).lower())
        except ValueError:
            raise NotUnderstood from None

    return read


def _write_word(value: StrEnum | None) -> str | None:
    return None if value is None else value.value


_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")


def _date(value: Value) -> date:
    match = _DATE.match(_word(value))
    if match is None:
        raise NotUnderstood
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        raise NotUnderstood from None


def _write_date(value: date | None) -> str | None:
    return None if value is None else value.isoformat()


def _moment(value: Value) -> datetime:
    try:
        return datetime.fromisoformat(_word(value))
    except ValueError:
        raise NotUnderstood from None


def _write_moment(value: datetime | None) -> str | None:
    if value is None:
        return None
    return value.isoformat() if value.tzinfo is None else value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _truth(value: Value) -> bool:
    word = _word(value).lower()
    if word in {"true", "yes", "on", "y", "1"}:
        return True
    if word in {"false", "no", "off", "n", "0"}:
        return False
    raise NotUnderstood


def _write_truth(value: bool) -> str | None:
    return "true" if value else None


def _texts(value: Value) -> tuple[str, ...]:
    items = value if isinstance(value, tuple) else (value,)
    return tuple(_scalar_text(item) for item in items)


def _write_texts(values: tuple[str, ...]) -> str | None:
    return "[" + ", ".join(quote_string(value) for value in values) + "]" if values else None


def _write_lines(values: tuple[str, ...]) -> str | None:
    return "".join(f"\n  - {quote_string(value)}" for value in values) or None


def _only(table: Table, *keys: str) -> dict[str, Value]:
    by_key = dict(table.pairs)
    if not by_key.keys() <= set(keys):
        raise NotUnderstood
    return by_key


def _when(value: Value) -> When:
    if isinstance(value, Scalar) and value.text.strip().lower() == "always":
        return When(always=True)
    if not isinstance(value, Table):
        return parse_when(_texts(value)) or When()
    table = _only(value, "always", "files", "tools", "tasks", "words")
    lists = {key: _texts(item) for key, item in table.items() if key != "always"}
    return When(always=_truth(table["always"]) if "always" in table else False, **lists)


def _write_when(value: When | None) -> str | None:
    if value is None:
        return None
    if value == When(always=True):
        return "always"
    parts = ["always: true"] if value.always else []
    lists = {"files": value.files, "tools": value.tools, "tasks": value.tasks, "words": value.words}
    parts += [f"{key}: {_write_texts(items)}" for key, items in lists.items() if items]
    return "{" + ", ".join(parts) + "}"


def _anchors(value: Value) -> tuple[Anchor, ...]:
    return tuple(_anchor(item) for item in (value if isinstance(value, tuple) else (value,)))


def _anchor(value: Value) -> Anchor:
    if isinstance(value, Scalar):
        return _anchor_from_text(value.text.strip())
    if not isinstance(value, Table):
        raise NotUnderstood
    texts = {key: _scalar_text(item) for key, item in _only(value, "file", "sha256", "symbol", "commit", "url").items()}
    match texts:
        case {"symbol": symbol, **rest} if rest.keys() <= {"file"}:
            return SymbolAnchor(symbol, rest.get("file"))
        case {"file": path, **rest} if rest.keys() <= {"sha256"}:
            return FileAnchor(path, rest.get("sha256"))
        case {"commit": commit, **rest} if not rest:
            return CommitAnchor(commit)
        case {"url": url, **rest} if not rest:
            return UrlAnchor(url)
        case _:
            raise NotUnderstood


def _anchor_from_text(text: str) -> Anchor:
    """An anchor by hand: `src/a.py`, `src/a.py#load`, `3f2a91c`, `https://…`."""
    if not text:
        raise NotUnderstood
    if re.match(r"[a-z][a-z0-9+.-]*://", text, re.IGNORECASE):
        return UrlAnchor(text)
    if re.fullmatch(r"[0-9a-f]{7,64}", text):
        return CommitAnchor(text)
    path, mark, symbol = text.partition("#")
    return SymbolAnchor(symbol, path) if mark and symbol and path else FileAnchor(text)


def _write_anchors(values: tuple[Anchor, ...]) -> str | None:
    return _write_items([_anchor_parts(value) for value in values])


def _anchor_parts(anchor: Anchor) -> dict[str, str | None]:
    match anchor:
        case FileAnchor(path, sha256):
            return {"file": path, "sha256": sha256}
        case SymbolAnchor(name, path):
            return {"symbol": name, "file": path}
        case CommitAnchor(commit):
            return {"commit": commit}
        case UrlAnchor(url):
            return {"url": url}


def _sources(value: Value) -> tuple[Source, ...]:
    return tuple(_source(item) for item in (value if isinstance(value, tuple) else (value,)))


def _source(value: Value) -> Source:
    if not isinstance(value, Table):
        return Source(quote=_word(value))
    texts = {key: _scalar_text(item) for key, item in _only(value, "session", "message", "quote").items()}
    return Source(texts.get("session"), texts.get("message"), texts.get("quote"))


def _scalar_text(value: Value) -> str:
    if not isinstance(value, Scalar):
        raise NotUnderstood
    return value.text


def _write_sources(values: tuple[Source, ...]) -> str | None:
    return _write_items([{"session": s.session, "message": s.message, "quote": s.quote} for s in values])


def _write_items(items: list[dict[str, str | None]]) -> str | None:
    rows = [
        ", ".join(f"{key}: {quote_string(text)}" for key, text in item.items() if text is not None) for item in items
    ]
    return "".join(f"\n  - {{{row}}}" for row in rows) if rows else None


FIELDS: tuple[Field, ...] = (
    Field("name", _text, _write_text),
    Field("description", _text, _write_text),
    Field("type", _one_of(MemoryType), _write_word),
    Field("trust", _one_of(Trust), _write_word),
    Field("observed", _date, _write_date),
    Field("verified", _date, _write_date),
    Field("expires", _date, _write_date),
    Field("pinned", _truth, _write_truth),
    Field("when", _when, _write_when),
    Field("asks", _texts, _write_lines),
    Field("about", _texts, _write_texts),
    Field("anchors", _anchors, _write_anchors),
    Field("sources", _sources, _write_sources),
    Field("modified", _moment, _write_moment),
)
"""In the order in which they are written."""
