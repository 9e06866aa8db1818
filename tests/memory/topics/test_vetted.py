from __future__ import annotations

from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.topics.value import Topic, Vetted
from tests.requirements import requirement

TOPIC = Topic("a.md", "Kiwi", "Where the kiwi server runs", body="In Frankfurt.")


@requirement("store:save:once")
def test_only_the_very_content_that_was_looked_at_is_known() -> None:
    vetted = Vetted()
    vetted.add(b"one", TOPIC)

    assert vetted.get("a.md", b"one") is TOPIC
    assert vetted.get("a.md", b"two") is None
    assert vetted.get("b.md", b"one") is None
    vetted.clear()
    assert vetted.get("a.md", b"one") is None


@requirement("store:save:once")
def test_the_index_takes_what_was_vetted_and_reads_what_somebody_wrote_in_between(tmp_path: Path) -> None:
    indexed = IndexedFolder(MemoryFolder(tmp_path, tmp_path))
    file = tmp_path / "a.md"
    file.write_text("never parsed", encoding="utf-8")
    indexed.vetted.add(b"never parsed", TOPIC)
    indexed.refresh(["a.md"])
    assert indexed.names() == {"a.md": "Kiwi"}

    file.write_text("# Mango\n\nWritten in between.\n", encoding="utf-8")
    indexed.refresh(["a.md"])
    assert indexed.names() == {"a.md": "Mango"}
    indexed.close()
