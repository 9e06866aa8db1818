from __future__ import annotations

from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.worktree import list_tracked
from tests.requirements import requirement


@requirement("store:foreign:noticed")
def test_listed_are_markdown_archive_and_conflict_copies_and_nothing_of_others(tmp_path: Path) -> None:
    memory, outside = tmp_path / "memory", tmp_path / "outside"
    for place in (
        "a.md",
        "sub/deep/b.md",
        "picture.png",
        ".hidden.md",
        ".hidden/c.md",
        "logs/2026.md",
        ".archive/d.md.archived",
        ".conflicts/e.conflict",
        "cloned/.git",
        "cloned/f.md",
    ):
        (memory / place).parent.mkdir(parents=True, exist_ok=True)
        (memory / place).write_text("text", encoding="utf-8")
    outside.mkdir()
    (outside / "g.md").write_text("text", encoding="utf-8")
    (memory / "link.md").symlink_to(outside / "g.md")
    (memory / "linked").symlink_to(outside)
    listed = list_tracked(MemoryFolder(memory, memory))
    assert set(listed) == {"a.md", "sub/deep/b.md", ".archive/d.md.archived", ".conflicts/e.conflict"}
    (memory / "a.md").write_text("a longer text", encoding="utf-8")
    again = list_tracked(MemoryFolder(memory, memory))
    assert {path for path in listed if again[path] != listed[path]} == {"a.md"}
