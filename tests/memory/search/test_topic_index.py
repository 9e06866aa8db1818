from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from reverie.files.places.paths import MemoryFolder
from reverie.memory.search.document import Query
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.search.topic_table import topic_from_row, topic_to_row
from reverie.memory.store.usage_log import Use, append_uses
from reverie.memory.topics.topic import Topic
from tests.memory.topic_strategies import topics
from tests.requirements import requirement

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def folder(directory: Path) -> IndexedFolder:
    directory.mkdir(exist_ok=True)
    return IndexedFolder(MemoryFolder(directory, directory))


def keys(indexed: IndexedFolder, text: str) -> list[str]:
    return [hit.key for hit in indexed.search(Query(text, NOW))]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@requirement("recall:derived")
@given(topics)
def test_a_topic_survives_its_row(topic: Topic) -> None:
    assert topic_from_row(topic.path, topic_to_row(topic), topic.body) == topic


@requirement("recall:edits-visible")
def test_a_sweep_finds_what_was_written_changed_and_removed(tmp_path: Path) -> None:
    indexed = folder(tmp_path)
    write(tmp_path / "a.md", "# Kiwi\n\nThe kiwi server listens on port 8099.\n")
    assert indexed.sweep() == ("a.md",)
    assert keys(indexed, "kiwi server port") == ["a.md"]

    write(tmp_path / "a.md", "# Mango\n\nThe mango queue is drained nightly.\n")
    indexed.sweep()
    assert keys(indexed, "kiwi server port") == []
    assert keys(indexed, "mango queue drained") == ["a.md"]

    (tmp_path / "a.md").unlink()
    assert indexed.sweep() == ("a.md",)
    assert keys(indexed, "mango queue drained") == []
    assert len(indexed) == 0


@requirement("recall:edits-visible")
def test_an_edit_that_keeps_size_and_time_is_found(tmp_path: Path) -> None:
    indexed = folder(tmp_path)
    path = tmp_path / "a.md"
    write(path, "The kiwi server listens on port 8099.\n")
    looks = path.stat()
    indexed.sweep()

    write(path, "The kiwi server listens on port 7077.\n")
    os.utime(path, ns=(looks.st_atime_ns, looks.st_mtime_ns))

    indexed.sweep()
    assert "7077" in indexed.read(["a.md"])["a.md"].topic.body


@requirement("recall:edits-visible")
def test_an_unchanged_directory_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "The kiwi server listens on port 8099.\n")
    os.utime(tmp_path / "a.md", (1, 1))
    first = folder(tmp_path)
    while first.sweep():
        pass
    first.close()

    assert folder(tmp_path).sweep() == ()


@requirement("recall:derived")
def test_damaged_files_are_named_and_the_rest_is_found(tmp_path: Path) -> None:
    write(tmp_path / "bad.md", "---\nname: [unclosed\n---\nText\n")
    write(tmp_path / "latin.md", "")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9 au lait")
    write(tmp_path / "good.md", "The kiwi server listens on port 8099.\n")
    indexed = folder(tmp_path)
    indexed.sweep()

    assert [problem.path for problem in indexed.unreadable()] == ["bad.md", "latin.md"]
    assert keys(indexed, "kiwi server port") == ["good.md"]
    assert len(indexed) == 1


@requirement("recall:derived")
def test_a_lost_or_damaged_index_is_built_anew(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "The kiwi server listens on port 8099.\n")
    first = folder(tmp_path)
    first.sweep()
    first.close()
    names = sorted(path.name for path in (tmp_path / ".index").iterdir() if path.suffix == ".db")
    assert names == ["index.db"]

    for name in names:
        for content in (None, b"this is no database" * 100):
            broken = tmp_path / ".index" / name
            for ending in ("-wal", "-shm"):
                Path(f"{broken}{ending}").unlink(missing_ok=True)
            broken.unlink() if content is None else broken.write_bytes(content)
            again = folder(tmp_path)
            again.sweep()
            assert keys(again, "kiwi server port") == ["a.md"], (name, content)
            again.close()


@requirement("recall:derived")
def test_the_files_of_the_version_before_make_way_for_one(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "The kiwi server listens on port 8099.\n")
    (tmp_path / ".index").mkdir()
    for name in ("topics.db", "search.db", "search.db-wal", "rows.db"):
        (tmp_path / ".index" / name).write_bytes(b"of the version before")
    indexed = folder(tmp_path)
    indexed.sweep()

    assert keys(indexed, "kiwi server port") == ["a.md"]
    assert indexed.rebuilt is None
    assert {path.name for path in (tmp_path / ".index").iterdir()} <= {"index.db", "index.db-wal", "index.db-shm"}


@requirement("recall:derived", "search:index:derived", "search:asks")
def test_an_index_of_another_version_is_rebuilt_without_a_word(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "---\nname: A\ndescription: b\nasks: [kiwi server port]\n---\nIt is 8099.\n")
    before = folder(tmp_path)
    before.sweep()
    before.close()
    with closing(sqlite3.connect(tmp_path / ".index" / "index.db")) as database:
        database.execute("PRAGMA user_version = 6")

    indexed = folder(tmp_path)
    indexed.sweep()

    assert keys(indexed, "kiwi server port") == ["a.md"]
    assert indexed.rebuilt is None


@requirement("recall:derived")
def test_asking_about_a_memory_that_does_not_exist_makes_no_directory(tmp_path: Path) -> None:
    directory = tmp_path / "none"
    indexed = IndexedFolder(MemoryFolder(directory, directory))

    assert indexed.sweep() == ()
    assert keys(indexed, "kiwi server port") == []
    assert list(indexed.topics()) == []
    assert not directory.exists()


class Dictionary:
    """An embedder that knows two meanings."""

    def __init__(self) -> None:
        self.embedded: list[str] = []
        self.is_held = False
        self.go = threading.Event()

    def windows(self, text: str) -> tuple[str, ...]:
        return (text,)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.is_held:
            assert self.go.wait(60)
        self.embedded += texts
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for number, text in enumerate(texts):
            vectors[number, 0 if {"automobile", "car"} & set(text.lower().split()) else 1] = 1
        return vectors


@requirement("recall:finds:whole-text")
def test_with_vectors_a_memory_is_found_by_its_meaning(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "Her automobile stands in Lisbon\n")
    write(tmp_path / "b.md", "The mango queue is drained nightly\n")
    dictionary = Dictionary()
    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path), embedder=lambda: dictionary)
    indexed.sweep()
    query = Query("car location", NOW, abstains=False)

    assert indexed.search(replace(query, by_words=True)) == []
    assert dictionary.embedded == []
    (best, *_) = indexed.search(query)
    assert best.key == "a.md"
    assert best.why.similarity is not None
    assert indexed.embed_all() == 0
    indexed.close()


@requirement("recall:vectors-complete")
def test_many_new_memories_get_their_vectors_beside_while_words_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.memory.search.topic_index._EMBEDDED_WHILE_WAITING", 20)
    for number in range(40):
        write(tmp_path / f"{number}.md", f"Her automobile {number} stands in Lisbon\n")
    dictionary = Dictionary()
    dictionary.is_held = True
    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path), embedder=lambda: dictionary)
    indexed.sweep()

    assert all(hit.similarity is None for hit in indexed.search(Query("automobile 7 Lisbon", NOW)))
    dictionary.go.set()
    assert indexed._embedding is not None
    indexed._embedding.join(60)
    assert indexed.search(Query("car 7", NOW, abstains=False))[0].similarity is not None
    indexed.close()


@requirement("recall:vectors-complete")
def test_closing_ends_the_embedding_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.memory.search.topic_index._EMBEDDED_WHILE_WAITING", 0)
    for number in range(40):
        write(tmp_path / f"{number}.md", f"Her automobile {number} stands in Lisbon\n")
    dictionary = Dictionary()
    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path), embedder=lambda: dictionary)
    indexed.sweep()
    indexed.search(Query("automobile 7 Lisbon", NOW))
    indexed.close()
    embedded = len(dictionary.embedded)
    indexed.remove()

    assert len(dictionary.embedded) == embedded
    assert not (tmp_path / ".index" / "index.db").exists()


@requirement("recall:scripts-without-spaces", "recall:says-nothing")
def test_a_query_in_a_script_that_the_model_cannot_read_is_answered_by_words(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "数据库迁移必须在周五之前完成。\n")
    dictionary = Dictionary()
    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path), embedder=lambda: dictionary)
    indexed.sweep()

    assert [hit.key for hit in indexed.search(Query("数据库迁移何时完成", NOW))] == ["a.md"]
    assert indexed.search(Query("今天天气怎么样", NOW)) == []
    assert dictionary.embedded == []
    indexed.search(Query("où est la base de données ?", NOW))
    assert dictionary.embedded
    indexed.close()


@requirement("recall:derived")
def test_two_users_of_one_index_see_each_others_changes(tmp_path: Path) -> None:
    one, other = folder(tmp_path), folder(tmp_path)
    write(tmp_path / "a.md", "The kiwi server listens on port 8099.\n")
    one.sweep()
    other.sweep()

    write(tmp_path / "b.md", "The mango queue is drained nightly.\n")
    one.refresh(["b.md"])

    assert keys(other, "mango queue drained") == ["b.md"]
    assert other.find_path_by_name("b") == "b.md"


@requirement("recall:use-counts")
def test_of_two_that_say_the_same_the_one_that_was_recalled_before_comes_first(tmp_path: Path) -> None:
    indexed = folder(tmp_path)
    for name in ("a.md", "b.md"):
        write(tmp_path / name, "# Kiwi\n\nThe kiwi server listens on port 8099.\n")
    indexed.sweep()
    assert keys(indexed, "kiwi server port") == ["a.md", "b.md"]

    append_uses(indexed.folder, [Use("b.md", "2026-05-01", "kiwi", 0.5)])

    assert keys(indexed, "kiwi server port") == ["b.md", "a.md"]
    assert indexed.search(Query("kiwi server port", NOW))[0].why.parts["use"] > 0


def test_topics_are_found_by_their_exact_text(tmp_path: Path) -> None:
    indexed = folder(tmp_path)
    for name, body in {"a": "The same text.", "b": "The same text.", "c": "Another text."}.items():
        write(tmp_path / f"{name}.md", f"---\nname: {name}\n---\n{body}\n")
    indexed.sweep()
    assert [topic.path for topic in indexed.with_body("The same text.")] == ["a.md", "b.md"]
    write(tmp_path / "a.md", "---\nname: a\n---\nChanged.\n")
    (tmp_path / "b.md").unlink()
    indexed.sweep()
    assert indexed.with_body("The same text.") == []
    indexed.close()
