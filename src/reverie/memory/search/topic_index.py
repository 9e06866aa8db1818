"""One memory directory as recall sees it: what its files say, beside the search index and in step with the disk.

A sweep looks at every file (one `stat` each), reads those that look different and brings the index up to date, so
an edit by any program is found. Everything here is derived, lies in `.index/index.db` and may be deleted at any time.
Committing edits by others is `topic_store.py` of `store`; ranking is `engine.py`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.errors import Damaged, Error, Unavailable
from reverie.files import write_folder
from reverie.memory.index_file import INDEX_DB, IndexFile
from reverie.memory.search.semantic import can_read
from reverie.memory.store.worktree import fingerprint, is_topic_path, list_tracked, place_of
from reverie.memory.topics.value import Vetted

if TYPE_CHECKING:
    import tempfile

    from reverie.files.places.paths import MemoryFolder
    from reverie.memory.search.document import Query, SearchDocument
    from reverie.memory.search.engine import SearchIndex
    from reverie.memory.search.features import Candidate
    from reverie.memory.search.topic_table import Indexed, Looks, TopicRow, TopicTable, UnreadableTopic
    from reverie.memory.search.vectors import Embeds
    from reverie.memory.store.usage_log import UseCounts
    from reverie.memory.store.worktree import Seen
    from reverie.memory.topics.situations import When
    from reverie.memory.topics.value import Topic

_CLOCK_STEP_NS = 20_000_000
"""File times come from a clock that ticks every 4-10 ms; two edits within one tick look the same."""
_EMBEDDED_AT_ONCE = 16
"""So many memories get their vectors in one step; queries are answered in between."""
_EMBEDDED_WHILE_WAITING = 200
"""So many new memories get their vectors while a query waits, some seconds at most; until more have theirs, words
answer."""
_HEAD = r"(?s)\A\ufeff?---[ \t]*\r?\n(?:.*?\n)??---[ \t]*(?:\r?\n|\Z)"


class IndexedFolder:
    """The topics of one memory directory, ready to be searched. Safe to use from several threads."""

    vetted: Vetted
    """What a store of this directory has just scanned for secrets, so that it is not scanned again."""
    rebuilt: str | None
    """Why the index was built anew, where it was damaged or of another version."""
    has_news: bool
    """Whether a sweep found edits that nobody told of; whoever commits them sets it back."""

    def __init__(self, folder: MemoryFolder, *, embedder: Callable[[], Embeds | None] = lambda: None) -> None:
        self.folder = folder
        self.vetted = Vetted()
        self.has_news = False
        self.rebuilt = None
        self._uses: UseCounts | None = None
        self._embedder = embedder
        self._lock = threading.RLock()
        self._parts: tuple[TopicTable, IndexFile] | None = None
        self._by_words: SearchIndex | None = None
        self._meaning: SearchIndex | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._listed: dict[str, Seen] | None = None
        self._swept = float("-inf")
        self._beside: threading.Thread | None = None
        self._embedding: threading.Thread | None = None
        self._closing = threading.Event()

    def embedder(self) -> Embeds | None:
        """What turns text into vectors, where there is such a thing."""
        return self._embedder()

    @property
    def seconds_since_sweep(self) -> float:
        return time.monotonic() - self._swept

    def sweep(self) -> tuple[str, ...]:
        """Bring the index up to the files on disk; return the paths whose contents differed."""
        return self._sweep()[1]

    def list_paths(self) -> list[str]:
        """Sweep, and list every topic file by its path, also those that cannot be read."""
        return [path for path in self._sweep()[0] if is_topic_path(path)]

    def _sweep(self) -> tuple[dict[str, Seen], tuple[str, ...]]:
        started = time.monotonic()
        # Outside the lock: looking at ten thousand files takes longer than answering a query.
        listed = list_tracked(self.folder)
        with self._lock:
            self._swept = max(self._swept, started)
            if listed == self._listed or not self._exists():
                return listed, ()
            try:
                return listed, self._brought_up_to(listed)
            except sqlite3.OperationalError as problem:
                # A full disk, for instance: what cannot be kept can still be searched.
                self._open_aside(problem)
                return listed, self._brought_up_to(listed)

    def _brought_up_to(self, listed: dict[str, Seen]) -> tuple[str, ...]:
        looks_like = fingerprint(listed)
        if self._listed is None and self._table.swept() == looks_like:
            self._listed = listed
            return ()
        present = {path: (seen[0], seen[2], seen[1]) for path, seen in listed.items() if is_indexed(path)}
        indexed = self._table.looks()
        changed = [path for path, looks in present.items() if indexed.get(path) != looks]
        removed = [path for path in indexed if path not in present]
        different, is_doubtful = self._update(changed, removed) if changed or removed else ((), False)
        self._listed = None if is_doubtful else listed
        self._table.note_swept(b"" if is_doubtful else looks_like)
        self.has_news |= bool(different)
        return different

    def renew(self) -> None:
        """Let go of files that another process has replaced, as an erasure does; the next sweep fills the new ones."""
        with self._lock:
            if self._parts is None or self._scratch is not None or not self._parts[1].is_replaced:
                return
            self._let_go()
            self._swept = float("-inf")

    def sweep_beside(self) -> None:
        """Sweep in a thread of its own, so that a query need not wait; one at a time."""
        if self._beside is None or not self._beside.is_alive():
            self._beside = threading.Thread(target=self._sweep_quietly, name="reverie-sweep", daemon=True)
            self._beside.start()

    def refresh(self, paths: Iterable[str]) -> None:
        """Bring the index up to date for files that are known to have changed."""
        with self._lock:
            if not self._exists():
                return
            self._listed = None
            try:
                self._update([path for path in paths if is_indexed(path)], ())
            except sqlite3.OperationalError as problem:
                raise Unavailable(f"the search index in {self._place} cannot be written: {problem}") from problem

    def search(self, query: Query) -> list[Candidate]:
        """What answers the query, best first; by words as long as vectors are missing that take long to compute."""
        # Loaded outside the lock: a query by words of another thread must not wait for it.
        embedder = None if query.by_words or not self._exists() or not can_read(query.text) else self._embedder()
        if embedder is not None and not self._has_all_vectors():
            embedder = None
        with self._lock:
            if not self._exists():
                return []
            query = replace(query, uses=self._read_uses())
            if embedder is None:
                return self._search.search(query)
            if self._meaning is None:
                from reverie.memory.search.engine import SearchIndex

                self._meaning = SearchIndex(self._place / INDEX_DB, embedder)
            return self._meaning.search(query)

    def _has_all_vectors(self) -> bool:
        """Give the topics that lack vectors theirs: a few at once, many in a thread of its own while nobody waits."""
        with self._lock:
            missing = len(self._search.without_vectors()) if self._exists() else 0
        if missing > _EMBEDDED_WHILE_WAITING:
            if self._embedding is None or not self._embedding.is_alive():
                self._embedding = threading.Thread(target=self._embed_quietly, name="reverie-embed", daemon=True)
                self._embedding.start()
            return False
        if missing:
            self.embed_all()
        return True

    def _embed_quietly(self) -> None:
        with suppress(Error, OSError, sqlite3.Error):
            self.embed_all()

    def sharing(self, text: str, limit: int) -> list[str]:
        """The paths of topics that share the most telling words with a text; quicker than `search`."""
        with self._lock:
            return self._search.sharing(text, limit) if self._exists() else []

    def embed_all(self, progress: Callable[[int, int], None] = lambda _done, _of: None) -> int:
        """Give every topic that has none its vectors; return how many there were."""
        embedder = self._embedder()
        if embedder is None or not self._exists():
            return 0
        with self._lock:
            missing = self._search.without_vectors()
        for start in range(0, len(missing), _EMBEDDED_AT_ONCE):
            if self._closing.is_set():
                break
            self._embed(missing[start : start + _EMBEDDED_AT_ONCE], embedder)
            progress(min(start + _EMBEDDED_AT_ONCE, len(missing)), len(missing))
        return len(missing)

    def read(self, paths: Sequence[str]) -> dict[str, Indexed]:
        """The topics at these paths, as they were last seen."""
        with self._lock:
            return self._table.read(paths) if paths and self._exists() else {}

    def topics(self) -> Iterator[Indexed]:
        """Every topic that can be read, in the order of paths."""
        with self._lock:
            return self._table.topics() if self._exists() else iter(())

    def read_fields(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The path of every topic and what its front matter says, in the order of paths; quicker than `topics`."""
        with self._lock:
            return self._table.read_fields() if self._exists() else iter(())

    def with_body(self, body: str) -> list[Topic]:
        """The topics that have exactly this text."""
        with self._lock:
            return self._table.with_body(body) if self._exists() else []

    def names(self) -> dict[str, str]:
        """Path → name of every topic."""
        with self._lock:
            return self._table.names() if self._exists() else {}

    def find_path_by_name(self, name: str) -> str | None:
        """The path of the topic that has this name, whatever the case."""
        with self._lock:
            return self._table.find_path_by_name(name) if self._exists() else None

    def unreadable(self) -> tuple[UnreadableTopic, ...]:
        """Every file that cannot be read as a topic."""
        with self._lock:
            return self._table.unreadable() if self._exists() else ()

    def __len__(self) -> int:
        with self._lock:
            return len(self._table) if self._exists() else 0

    def close(self) -> None:
        """Let go of the files."""
        self._closing.set()
        for thread in (self._beside, self._embedding):
            if thread is not None:
                thread.join()
        self._closing.clear()
        with self._lock:
            self._let_go()

    def remove(self) -> None:
        """Delete everything derived: after an erasure no page of a database may keep the text."""
        self.close()
        with self._lock, suppress(FileNotFoundError):
            for path in self.folder.search_index.iterdir():
                if path.is_file():
                    path.unlink()

    def _let_go(self) -> None:
        for part in (self._parts and self._parts[1], self._meaning):
            if part is not None:
                part.close()
        if self._scratch is not None:
            self._scratch.cleanup()
        self._parts = self._by_words = self._meaning = self._scratch = self._listed = None

    @property
    def _table(self) -> TopicTable:
        return self._open()[0]

    @property
    def _search(self) -> SearchIndex:
        # Names and topics are listed without the engine, which takes longer to import than they to read.
        file = self._open()[1]
        if self._by_words is None:
            from reverie.memory.search.engine import SearchIndex

            self._by_words = SearchIndex(file)
        return self._by_words

    @property
    def _place(self) -> Path:
        return Path(self._scratch.name) if self._scratch is not None else self.folder.search_index

    def _read_uses(self) -> Mapping[str, int]:
        """How often each topic was recalled; listing and reading need none of it."""
        if self._uses is None:
            from reverie.memory.store.usage_log import UseCounts

            self._uses = UseCounts(self.folder)
        return self._uses.read()

    def _exists(self) -> bool:
        """Whether there is anything to index; asking about a memory must not make its directory."""
        return self._parts is not None or self.folder.directory.is_dir()

    def _sweep_quietly(self) -> None:
        with suppress(Error, OSError, sqlite3.Error):
            self.sweep()

    def _update(self, changed: Sequence[str], removed: Sequence[str]) -> tuple[tuple[str, ...], bool]:
        """Index these files; return which have other contents, and whether one may change again unseen."""
        from hashlib import blake2b

        rows: list[TopicRow] = []
        touched: list[tuple[str, Looks]] = []
        gone = list(removed)
        is_doubtful = False
        digests = self._table.digests(changed)
        now_ns = time.time_ns()
        for path in changed:
            read = _read(self.folder, path)
            if read is None:
                gone.append(path)
                continue
            status, content = read
            is_recent = status.st_ctime_ns > now_ns - _CLOCK_STEP_NS
            is_doubtful |= is_recent
            looks = (status.st_mtime_ns, status.st_size, 0 if is_recent else status.st_ctime_ns)
            digest = blake2b(content, digest_size=16).digest()
            if digests.get(path) == digest:
                touched.append((path, looks))
            else:
                rows.append(_row(path, looks, digest, content, self.vetted.get(path, content)))
        dropped = [*gone, *(row.path for row in rows if row.topic is None)]
        documents = [document_of(row.topic) for row in rows if row.topic is not None]
        with self._open()[1].writing():
            if documents or dropped:
                self._search.update(documents, dropped)
            self._table.update(rows, touched, gone)
        return (*(row.path for row in rows), *gone), is_doubtful

    def _embed(self, paths: Sequence[str], embedder: Embeds) -> None:
        """Give topics their vectors; what changed while they were computed is left for the next time."""
        from reverie.memory.search.engine import embed_documents

        documents = self._read_documents(paths)
        vectors = embed_documents(list(documents.values()), embedder)
        with self._lock:
            now = self._read_documents(paths)
            self._search.write_vectors({path: vectors[path] for path in documents if now.get(path) == documents[path]})

    def _read_documents(self, paths: Sequence[str]) -> dict[str, SearchDocument]:
        with self._lock:
            return {path: document_of(each.topic) for path, each in self._table.read(paths).items()}

    def _open(self) -> tuple[TopicTable, IndexFile]:
        if self._parts is None:
            try:
                self._parts = self._open_at(self.folder.search_index)
            except (Error, OSError, sqlite3.OperationalError):
                # A directory that may only be read can still be searched.
                self._open_scratch()
        assert self._parts is not None
        return self._parts

    def _open_aside(self, problem: Exception) -> None:
        """Leave an index that cannot be written, for one that only this process has."""
        if self._scratch is not None:
            raise Unavailable(f"no space for the search index: {problem}; free disk space and try again") from problem
        self._let_go()
        self._open_scratch()

    def _open_scratch(self) -> None:
        import tempfile

        try:
            self._scratch = tempfile.TemporaryDirectory(prefix="reverie-")
            self._parts = self._open_at(Path(self._scratch.name))
        except (OSError, sqlite3.OperationalError) as problem:
            raise Unavailable(f"no space for the search index: {problem}; free disk space and try again") from problem

    def _open_at(self, place: Path) -> tuple[TopicTable, IndexFile]:
        from reverie.memory.search.topic_table import TopicTable

        write_folder(place)
        file = IndexFile(place / INDEX_DB)
        self.rebuilt = file.take_rebuilt() or self.rebuilt
        return TopicTable(file), file


def is_indexed(path: str) -> bool:
    """Whether a file has a place in the index: a topic whose name is text. `doctor.py` names the others."""
    if not is_topic_path(path):
        return False
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def document_of(topic: Topic) -> SearchDocument:
    """What of a topic can be found."""
    from reverie.memory.search.document import SearchDocument
    from reverie.memory.topics.anchors import describe_anchor

    return SearchDocument(
        key=topic.path,
        body=topic.body,
        name=topic.name,
        description=topic.description,
        type=topic.type,
        anchors=tuple(describe_anchor(anchor) for anchor in topic.anchors),
        about=topic.about,
        when=_situations(topic),
        asks=topic.asks,
        observed=topic.verified or topic.observed,
    )


def _situations(topic: Topic) -> When | None:
    """When a topic holds: as it says, as its text says where it does not, and always where its text is such a rule."""
    from reverie.memory.topics.situations import derive_when

    derived = derive_when(topic.name, topic.description, topic.body, topic.type)
    if topic.when is None or derived is None:
        return topic.when or derived
    return replace(topic.when, always=topic.when.always or derived.always)


def _row(path: str, looks: Looks, digest: bytes, content: bytes, vetted: Topic | None) -> TopicRow:
    """What is to be kept of a content; one that was vetted is neither parsed nor scanned."""
    from reverie.files.secret_scan import scan
    from reverie.memory.search.topic_table import LEFT_OUT, TopicRow
    from reverie.memory.topics.topic import parse_topic

    try:
        text = content.decode()
        topic = vetted or parse_topic(path, text)
    except Damaged as problem:
        return TopicRow(path=path, looks=looks, digest=digest, problem=str(problem))
    except UnicodeDecodeError as problem:
        detail = f"it is not UTF-8 text (byte {problem.start + 1} of {len(content)})"
        return TopicRow(path=path, looks=looks, digest=digest, problem=detail)
    if vetted is None and (rules := sorted({finding.rule for finding in scan(text)})):
        # What a hand wrote into a file stays there, but is neither copied into the index nor recalled.
        return TopicRow(path=path, looks=looks, digest=digest, problem=f"{LEFT_OUT} ({', '.join(rules)})")
    head = re.match(_HEAD, text)
    return TopicRow(path=path, looks=looks, digest=digest, topic=topic, head=head[0] if head else "")


def _read(folder: MemoryFolder, path: str) -> tuple[os.stat_result, bytes] | None:
    """A file and how it looked when it was read; a link is never followed."""
    try:
        handle = os.open(place_of(folder, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        return os.fstat(handle), file.read()
