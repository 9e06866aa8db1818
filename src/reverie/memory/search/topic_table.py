"""The topics in the index: how each file looked and what it says.

The file and its schema are `index_file.py`'s. When a topic is put in is decided by `topic_index.py`.

A topic is stored as one line of JSON, so that a query needs no YAML.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from reverie.memory.index_file import IndexFile
from reverie.memory.topics.filenames import path_key
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.anchors import Anchor
    from reverie.memory.topics.situations import When
    from reverie.memory.topics.value import Topic

_ASKED_AT_ONCE = 500
"""SQLite takes about a thousand values in one question."""
_READ = "SELECT path, fields, head, body, mtime_ns FROM topics WHERE fields IS NOT NULL"

Looks: TypeAlias = tuple[int, int, int]
"""When a file was modified, its size, and when it was last touched in any way (0: look again)."""


@value
class Indexed:
    """A topic with what its file adds."""

    topic: Topic
    head: str
    """The front matter as it stands in the file; empty where there is none."""
    file_time: datetime


LEFT_OUT = "it holds what looks like a secret"
"""How the problem of a file begins that is left out for that."""


@value
class UnreadableTopic:
    """A file that cannot be read as a topic."""

    path: str
    detail: str

    @property
    def is_secret(self) -> bool:
        """Whether it could be read, and is left out for a secret in it."""
        return self.detail.startswith(LEFT_OUT)


@value
class TopicRow:
    """What is to be kept of one file."""

    path: str
    looks: Looks
    digest: bytes
    topic: Topic | None = None
    head: str = ""
    problem: str | None = None
    """Why there is no topic."""


class TopicTable:
    """The table of an open index file."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._database = file.connection
        self._count: tuple[int, int] | None = None

    def swept(self) -> bytes:
        """The fingerprint of the directory that these rows stand for; empty when they may not stand for all of it."""
        row = self._database.execute("SELECT fingerprint FROM swept").fetchone()
        return b"" if row is None else bytes(row[0])

    def note_swept(self, fingerprint: bytes) -> None:
        """Note that the rows stand for a directory which looks like this."""
        with self._file.writing():
            self._database.execute("DELETE FROM swept")
            self._database.execute("INSERT INTO swept VALUES (?)", (fingerprint,))

    def looks(self) -> dict[str, Looks]:
        """Every path with how its file looked."""
        rows = self._database.execute("SELECT path, mtime_ns, size, ctime_ns FROM topics")
        return {path: (mtime_ns, size, ctime_ns) for path, mtime_ns, size, ctime_ns in rows}

    def digests(self, paths: Sequence[str]) -> dict[str, bytes]:
        """What the contents of files were."""
        if len(paths) > _ASKED_AT_ONCE:
            return dict(self._database.execute("SELECT path, digest FROM topics").fetchall())
        sql = f"SELECT path, digest FROM topics WHERE path IN ({_marks(paths)})"  # noqa: S608 - only question marks
        return dict(self._database.execute(sql, list(paths)).fetchall())

    def update(self, rows: Iterable[TopicRow], touched: Iterable[tuple[str, Looks]], gone: Iterable[str]) -> None:
        """Put rows in place of their old state; files that were only touched keep theirs."""
        with self._file.writing():
            self._database.executemany(
                "UPDATE topics SET mtime_ns = ?, size = ?, ctime_ns = ? WHERE path = ?",
                [(*looks, path) for path, looks in touched],
            )
            self._database.executemany("DELETE FROM topics WHERE path = ?", [(path,) for path in gone])
            self._database.executemany(
                "INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_columns, rows)
            )

    def read(self, paths: Sequence[str]) -> dict[str, Indexed]:
        """The topics at these paths."""
        topics: dict[str, Indexed] = {}
        for start in range(0, len(paths), _ASKED_AT_ONCE):
            batch = paths[start : start + _ASKED_AT_ONCE]
            sql = f"{_READ} AND path IN ({_marks(batch)})"
            topics |= {row[0]: _to_indexed(*row) for row in self._database.execute(sql, list(batch))}
        return topics

    def topics(self) -> Iterator[Indexed]:
        """Every topic, in the order of paths."""
        rows = self._database.execute(f"{_READ} ORDER BY path").fetchall()
        return (_to_indexed(*row) for row in rows)

    def read_fields(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The path of every topic and what its front matter says, in the order of paths."""
        sql = "SELECT path, fields FROM topics WHERE fields IS NOT NULL ORDER BY path"
        return ((path, json.loads(fields)) for path, fields in self._database.execute(sql).fetchall())

    def with_body(self, body: str) -> list[Topic]:
        """The topics that have exactly this text, in the order of paths."""
        sql = f"{_READ} AND body_key = ? AND body = ? ORDER BY path"
        rows = self._database.execute(sql, (_body_key(body), body))
        return [_to_indexed(*row).topic for row in rows]

    def names(self) -> dict[str, str]:
        """Path → name of every topic."""
        return dict(self._database.execute("SELECT path, name FROM topics WHERE name IS NOT NULL").fetchall())

    def find_path_by_name(self, name: str) -> str | None:
        """The path of the topic that has this name, whatever the case."""
        sql = "SELECT path FROM topics WHERE name_key = ? ORDER BY path LIMIT 1"
        row = self._database.execute(sql, (path_key(name),)).fetchone()
        return None if row is None else str(row[0])

    def unreadable(self) -> tuple[UnreadableTopic, ...]:
        """Every file that cannot be read as a topic."""
        rows = self._database.execute("SELECT path, problem FROM topics WHERE problem IS NOT NULL ORDER BY path")
        return tuple(UnreadableTopic(path=path, detail=problem) for path, problem in rows)

    def __len__(self) -> int:
        """How many topics there are."""
        version = self._file.version()
        if self._count is None or self._count[0] != version:
            every: int = self._database.execute("SELECT count(*) FROM topics").fetchone()[0]
            sql = "SELECT count(*) FROM topics WHERE problem IS NOT NULL"
            self._count = version, every - self._database.execute(sql).fetchone()[0]
        return self._count[1]


def _columns(row: TopicRow) -> tuple[str | int | bytes | None, ...]:
    start = (row.path, *row.looks, row.digest)
    topic = row.topic
    if topic is None:
        return (*start, None, None, None, "", "", None, row.problem)
    named = (topic.name, path_key(topic.name), topic_to_row(topic))
    return (*start, *named, row.head, topic.body, _body_key(topic.body), None)


def _body_key(body: str) -> int:
    """By which a text is found; others may have the same, if few."""
    return zlib.crc32(body.encode("utf-8", "surrogatepass"))


def _to_indexed(path: str, fields: str, head: str, body: str, mtime_ns: int) -> Indexed:
    file_time = datetime.fromtimestamp(mtime_ns / 1e9, tz=UTC)
    return Indexed(topic=topic_from_row(path, fields, body), head=head, file_time=file_time)


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


def topic_to_row(topic: Topic) -> str:
    """Everything of a topic but its path and body."""
    fields: dict[str, Any] = {
        "name": topic.name,
        "description": topic.description,
        "type": topic.type,
        "trust": topic.trust,
        "observed": topic.observed and topic.observed.isoformat(),
        "verified": topic.verified and topic.verified.isoformat(),
        "expires": topic.expires and topic.expires.isoformat(),
        "modified": topic.modified and topic.modified.isoformat(),
        "pinned": topic.pinned,
        "anchors": [_anchor_to_row(anchor) for anchor in topic.anchors],
        "when": topic.when and when_to_row(topic.when),
        "asks": topic.asks,
        "about": topic.about,
        "sources": [(source.session, source.message, source.quote) for source in topic.sources],
        "extra": topic.extra,
    }
    return json.dumps({key: value for key, value in fields.items() if value}, ensure_ascii=False)


def topic_from_row(path: str, row: str, body: str) -> Topic:
    """The topic again; its parts are imported here, as a listing needs none of them."""
    from reverie.memory.topics.value import Source, Topic

    fields = json.loads(row)
    return Topic(
        path,
        fields.get("name", ""),
        fields.get("description", ""),
        fields.get("type"),
        body,
        fields.get("trust"),
        _day(fields.get("observed")),
        _day(fields.get("verified")),
        fields.get("pinned", False),
        _day(fields.get("expires")),
        tuple(_anchor_from_row(*values) for values in fields.get("anchors", ())),
        when_from_row(fields["when"]) if "when" in fields else None,
        tuple(fields.get("asks", ())),
        tuple(fields.get("about", ())),
        tuple(Source(*values) for values in fields.get("sources", ())),
        datetime.fromisoformat(fields["modified"]) if "modified" in fields else None,
        tuple((key, value) for key, value in fields.get("extra", ())),
    )


def when_to_row(when: When) -> list[Any]:
    """Situations as a list."""
    return [when.always, when.files, when.tools, when.tasks, when.words]


def when_from_row(row: list[Any]) -> When:
    """Situations again."""
    from reverie.memory.topics.situations import When

    return When(row[0], *(tuple(names) for names in row[1:]))


def _anchor_to_row(anchor: Anchor) -> tuple[str | None, ...]:
    from reverie.memory.topics.anchors import CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor

    match anchor:
        case FileAnchor(path, sha256):
            return "file", path, sha256
        case SymbolAnchor(name, path):
            return "symbol", name, path
        case CommitAnchor(commit):
            return "commit", commit
        case UrlAnchor(url):
            return "url", url


def _anchor_from_row(kind: str, *values: Any) -> Anchor:
    from reverie.memory.topics.anchors import CommitAnchor, FileAnchor, SymbolAnchor, UrlAnchor

    kinds: dict[str, type[Anchor]] = {
        "file": FileAnchor,
        "symbol": SymbolAnchor,
        "commit": CommitAnchor,
        "url": UrlAnchor,
    }
    return kinds[kind](*values)


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
