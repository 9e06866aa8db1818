"""One memory directory as recall sees it: what its files say, beside the search index and in step with the disk.

A sweep looks at every file (one `stat` each), reads those that look different and brings both indexes up to date, so
an edit by any program is found. Everything here is derived, lies under `.index/` and may be deleted at any time.
Committing what others edited is `store.py`; ranking is `search`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Damaged
from reverie.files import write_folder
from reverie.memory.filenames import path_key
from reverie.memory.search.document import Document, Query, Scored
from reverie.memory.search.engine import SearchIndex
from reverie.memory.situations import When
from reverie.memory.topic import Topic, parse_topic
from reverie.memory.topic_rows import topic_from_row, topic_to_row, when_from_row, when_to_row
from reverie.memory.tracked import is_topic_path, list_tracked, place_of

if TYPE_CHECKING:
    import tempfile

    from reverie.memory.git.entries import Seen
    from reverie.memory.search.vectors import Embeds
    from reverie.places.paths import MemoryFolder

_FILE = "topics.db"
_SEARCH_FILE = "search.db"
_VERSION = 1
_CLOCK_STEP_NS = 20_000_000
"""File times come from a clock that ticks every 4-10 ms; two edits within one tick look the same."""
_EMBEDDED_AT_ONCE = 64
"""So many new memories get their vectors while a query waits; more are left to `embed_all`."""
_COMPARED_UP_TO = 500
"""SQLite takes about a thousand values in one question."""
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS topics(path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, digest BLOB NOT NULL, name TEXT, name_key TEXT, fields TEXT, situation TEXT, head TEXT NOT NULL,
  body TEXT NOT NULL, problem TEXT);
CREATE INDEX IF NOT EXISTS by_name ON topics(name_key) WHERE name_key IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_situation ON topics(path, situation) WHERE situation IS NOT NULL;
PRAGMA user_version = {_VERSION};
"""
_HEAD = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A topic with what its file adds."""

    topic: Topic
    head: str
    """The front matter as it stands in the file; empty where there is none."""
    file_time: datetime


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that cannot be read as a topic."""

    path: str
    detail: str


class IndexedFolder:
    """The topics of one memory directory, ready to be searched. Safe to use from several threads."""

    def __init__(self, folder: MemoryFolder, *, embedder: Callable[[], Embeds | None] = lambda: None) -> None:
        self.folder = folder
        self._embedder = embedder
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._search: SearchIndex | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._listed: dict[str, Seen] | None = None
        self._swept = float("-inf")
        self._standing: tuple[int, tuple[tuple[str, When], ...]] | None = None

    @property
    def seconds_since_sweep(self) -> float:
        return time.monotonic() - self._swept

    def sweep(self) -> tuple[str, ...]:
        """Bring the indexes up to the files on disk; return the paths that differed."""
        with self._lock:
            listed = list_tracked(self.folder)
            self._swept = time.monotonic()
            if listed == self._listed or not self._exists():
                return ()
            found = {path: (seen[0], seen[2], seen[1]) for path, seen in listed.items() if is_topic_path(path)}
            known = self._known()
            changed = [path for path, looks in found.items() if known.get(path) != looks]
            removed = [path for path in known if path not in found]
            doubtful = self._update(changed, removed) if changed or removed else False
            self._listed = None if doubtful else listed
            return (*changed, *removed)

    def refresh(self, paths: Iterable[str]) -> None:
        """Bring the indexes up to date for files that are known to have changed."""
        with self._lock:
            if not self._exists():
                return
            topics = [path for path in paths if is_topic_path(path)]
            there = [path for path in topics if place_of(self.folder, path).exists()]
            self._update(there, [path for path in topics if path not in set(there)])
            self._listed = None

    def search(self, query: Query) -> list[Scored]:
        """What answers the query, best first."""
        with self._lock:
            if not self._exists():
                return []
            self._open()
            assert self._search is not None
            self._embed_few()
            return self._search.search(query)

    def embed_all(self, told: Callable[[int, int], None] = lambda _done, _of: None) -> int:
        """Give every topic that has none its vectors; return how many there were."""
        embedder = self._embedder()
        if embedder is None or not self._exists():
            return 0
        with self._lock:
            self._open()
            assert self._search is not None
            missing = self._search.without_vectors()
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            with self._lock:
                self._embed(missing[start : start + _EMBEDDED_AT_ONCE], embedder)
            told(min(start + _EMBEDDED_AT_ONCE, len(missing)), len(missing))
        return len(missing)

    def read(self, paths: Sequence[str]) -> dict[str, Indexed]:
        """The topics at these paths, as they were last seen."""
        if not paths or not self._exists():
            return {}
        with self._lock:
            marks = ",".join("?" * len(paths))
            sql = (
                f"SELECT path, fields, head, body, mtime_ns FROM topics WHERE fields IS NOT NULL AND path IN ({marks})"  # noqa: S608
            )
            return {row[0]: _indexed(*row) for row in self._open().execute(sql, list(paths))}

    def topics(self) -> Iterator[Indexed]:
        """Every topic that can be read, in the order of paths."""
        if not self._exists():
            return iter(())
        with self._lock:
            sql = "SELECT path, fields, head, body, mtime_ns FROM topics WHERE fields IS NOT NULL ORDER BY path"
            rows = self._open().execute(sql).fetchall()
        return (_indexed(*row) for row in rows)

    def with_body(self, body: str) -> list[Topic]:
        """The topics that have exactly this text."""
        if not self._exists():
            return []
        with self._lock:
            sql = "SELECT path, fields, head, body, mtime_ns FROM topics WHERE fields IS NOT NULL AND body = ?"
            return [_indexed(*row).topic for row in self._open().execute(sql, (body,))]

    def names(self) -> dict[str, str]:
        """Path → name of every topic."""
        if not self._exists():
            return {}
        with self._lock:
            return dict(self._open().execute("SELECT path, name FROM topics WHERE name IS NOT NULL").fetchall())

    def path_named(self, name: str) -> str | None:
        """The path of the topic that has this name, whatever the case."""
        if not self._exists():
            return None
        with self._lock:
            sql = "SELECT path FROM topics WHERE name_key = ? ORDER BY path LIMIT 1"
            found = self._open().execute(sql, (path_key(name),)).fetchone()
            return None if found is None else str(found[0])

    def problems(self) -> tuple[Problem, ...]:
        """Every file that cannot be read as a topic."""
        if not self._exists():
            return ()
        with self._lock:
            rows = self._open().execute("SELECT path, problem FROM topics WHERE problem IS NOT NULL ORDER BY path")
            return tuple(Problem(*row) for row in rows)

    def standing(self) -> tuple[tuple[str, When], ...]:
        """The topics that hold in named situations; what holds always is in the index and needs no recall."""
        if not self._exists():
            return ()
        with self._lock:
            database = self._open()
            version = database.execute("PRAGMA data_version").fetchone()[0] * 1_000_003 + database.total_changes
            if self._standing is None or self._standing[0] != version:
                rows = database.execute("SELECT path, situation FROM topics WHERE situation IS NOT NULL ORDER BY path")
                found = tuple((path, when_from_row(json.loads(row))) for path, row in rows)
                self._standing = version, found
            return self._standing[1]

    def __len__(self) -> int:
        if not self._exists():
            return 0
        with self._lock:
            count: int = self._open().execute("SELECT count(*) FROM topics WHERE problem IS NULL").fetchone()[0]
            return count

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            if self._search is not None:
                self._search.close()
            if self._database is not None:
                self._database.close()
            if self._scratch is not None:
                self._scratch.cleanup()
            self._search = self._database = self._scratch = self._listed = self._standing = None

    def remove(self) -> None:
        """Delete everything derived: after an erasure no page of a database may keep the text."""
        with self._lock:
            self.close()
            with suppress(FileNotFoundError):
                for path in self.folder.search_index.iterdir():
                    if path.is_file():
                        path.unlink()

    def _exists(self) -> bool:
        """Whether there is anything to index; asking about a memory must not make its directory."""
        return self._database is not None or self.folder.directory.is_dir()

    def _known(self) -> dict[str, tuple[int, int, int]]:
        rows = self._open().execute("SELECT path, mtime_ns, size, ctime_ns FROM topics")
        return {path: (mtime_ns, size, ctime_ns) for path, mtime_ns, size, ctime_ns in rows}

    def _update(self, changed: Sequence[str], removed: Sequence[str]) -> bool:
        """Index these files; tell whether one of them may have changed again without showing it."""
        database = self._open()
        assert self._search is not None
        documents: list[Document] = []
        rows: list[tuple[str | int | bytes | None, ...]] = []
        same: list[tuple[str | int | bytes, ...]] = []
        gone = list(removed)
        doubtful = False
        digests = self._digests(changed)
        now_ns = time.time_ns()
        for path in changed:
            read = _read(self.folder, path)
            if read is None:
                gone.append(path)
                continue
            looks, content = read
            recent = looks.st_ctime_ns > now_ns - _CLOCK_STEP_NS
            doubtful = doubtful or recent
            digest = hashlib.blake2b(content, digest_size=16).digest()
            place = (path, looks.st_mtime_ns, looks.st_size, 0 if recent else looks.st_ctime_ns, digest)
            if digests.get(path) == digest:
                same.append((*place[1:4], path))
                continue
            try:
                text = content.decode()
                topic = parse_topic(path, text)
            except (Damaged, UnicodeDecodeError) as problem:
                gone.append(path)
                rows.append((*place, None, None, None, None, "", "", str(problem)))
                continue
            documents.append(document_of(topic, looks.st_mtime_ns, looks.st_size))
            situation = topic.when if topic.when and topic.when != When(always=True) else None
            head = _HEAD.match(text)
            rows.append(
                (
                    *place,
                    topic.name,
                    path_key(topic.name),
                    topic_to_row(topic),
                    json.dumps(when_to_row(situation), ensure_ascii=False) if situation else None,
                    head[0] if head else "",
                    topic.body,
                    None,
                )
            )
        if documents or gone:
            self._search.update(documents, gone)
        with database:
            database.executemany("UPDATE topics SET mtime_ns = ?, size = ?, ctime_ns = ? WHERE path = ?", same)
            database.executemany("DELETE FROM topics WHERE path = ?", [(path,) for path in gone])
            database.executemany("INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return doubtful

    def _digests(self, paths: Sequence[str]) -> dict[str, bytes]:
        """What the contents of these files were; a file whose times alone changed is not parsed again."""
        if len(paths) > _COMPARED_UP_TO:
            return dict(self._open().execute("SELECT path, digest FROM topics").fetchall())
        marks = ",".join("?" * len(paths))
        sql = f"SELECT path, digest FROM topics WHERE path IN ({marks})"  # noqa: S608
        return dict(self._open().execute(sql, list(paths)).fetchall())

    def _embed_few(self) -> None:
        embedder = self._embedder()
        if embedder is None or self._search is None:
            return
        missing = self._search.without_vectors()
        if 0 < len(missing) <= _EMBEDDED_AT_ONCE:
            self._embed(missing, embedder)

    def _embed(self, paths: Sequence[str], embedder: Embeds) -> None:
        assert self._search is not None
        documents = [document_of(each.topic) for each in self.read(paths).values()]
        self._search.add_vectors(documents, embedder)

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            try:
                self._open_at(self.folder.search_index)
            except (OSError, sqlite3.OperationalError):
                # A directory that may only be read can still be searched.
                import tempfile

                self._scratch = tempfile.TemporaryDirectory(prefix="reverie-")
                self._open_at(Path(self._scratch.name))
            self._agree()
        assert self._database is not None
        return self._database

    def _open_at(self, place: Path) -> None:
        write_folder(place)
        self._database = _connected(place / _FILE)
        self._search = SearchIndex(place / _SEARCH_FILE, self._embedder())

    def _agree(self) -> None:
        """Forget what only one of the two indexes holds: the other was lost or cut off, and a sweep reads it again."""
        assert self._database is not None
        assert self._search is not None
        if len(self._search) == len(self):
            return
        searched = set(self._search.known())
        held = {path for (path,) in self._database.execute("SELECT path FROM topics WHERE problem IS NULL")}
        self._search.update((), sorted(searched - held))
        with self._database:
            self._database.executemany("DELETE FROM topics WHERE path = ?", [(path,) for path in held - searched])


def document_of(topic: Topic, mtime_ns: int = 0, size: int = 0) -> Document:
    """What of a topic can be found."""
    from reverie.memory.anchors import named

    when = topic.when or When()
    return Document(
        key=topic.path,
        body=topic.body,
        name=topic.name,
        description=topic.description,
        type=topic.type,
        anchors=tuple(named(anchor) for anchor in topic.anchors),
        about=topic.about,
        when=" ".join((*when.files, *when.tools, *when.tasks, *when.words)),
        observed=topic.verified or topic.observed,
        mtime_ns=mtime_ns,
        size=size,
    )


def _indexed(path: str, fields: str, head: str, body: str, mtime_ns: int) -> Indexed:
    return Indexed(topic_from_row(path, fields, body), head, datetime.fromtimestamp(mtime_ns / 1e9, tz=UTC))


def _read(folder: MemoryFolder, path: str) -> tuple[os.stat_result, bytes] | None:
    """A file and how it looked when it was read; a link is never followed."""
    try:
        handle = os.open(place_of(folder, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        return os.fstat(handle), file.read()


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            database.executescript(f"DROP TABLE IF EXISTS topics; {_SCHEMA}")
        database.execute("SELECT count(*) FROM topics").fetchone()
    except sqlite3.OperationalError:
        database.close()
        raise
    except sqlite3.DatabaseError:
        database.close()
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        return _connected(path)
    return database
