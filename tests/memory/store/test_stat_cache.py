from __future__ import annotations

from pathlib import Path

from reverie.memory.store.worktree import Entries, StatCache, TrackedFile


def test_a_cache_grows_by_what_changed_and_is_written_anew_in_time(tmp_path: Path) -> None:
    path = tmp_path / "state"
    cache = StatCache(path)
    entries: Entries = {f"{number}.md": TrackedFile(bytes(20), (number, 0, 0, 0, 0)) for number in range(400)}
    cache.write("a" * 40, entries, entries)
    lines = []
    for number in range(205):
        entries["7.md"] = TrackedFile(bytes(20), (number, 1, 1, 1, 1))
        entries.pop(f"{number}.md", None) if number != 7 else None
        cache.write(f"{number:040}", entries, {"7.md", f"{number}.md"})
        lines.append(len(path.read_bytes().splitlines()))
        assert StatCache(path).read() == entries
    assert lines[0] == 2
    assert max(lines) == 200
    assert lines[-1] < 10
    assert cache.read_noted_commit() == f"{204:040}"


def test_a_file_that_another_wrote_is_replaced_and_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "state"
    cache = StatCache(path)
    entries: Entries = {f"{number}.md": TrackedFile(bytes(20), (number, 0, 0, 0, 0)) for number in range(9)}
    cache.write(None, entries, entries)
    assert cache.read_noted_commit() == ""
    path.write_bytes(b"another program's")
    assert cache.read_noted_commit() == ""
    cache.write("b" * 40, entries, {"1.md"})
    assert StatCache(path).read() == entries
    path.unlink()
    cache.write("c" * 40, entries, {"2.md"})
    assert (StatCache(path).read(), cache.read_noted_commit()) == (entries, "c" * 40)
