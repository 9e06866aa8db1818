from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reverie.memory.usage_log import Use, append_uses, read_counts, read_uses, remove_uses, told_query, usage_file
from reverie.places.paths import MemoryFolder
from tests.requirements import requirement

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@requirement("recall:noted")
def test_recalls_are_kept_counted_and_forgotten(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    append_uses(folder, [Use("a.md", "2026-05-01", "one", 0.5), Use("b.md", "2026-05-01", "one", 0.4, "s")])
    append_uses(folder, [Use("a.md", "2026-05-02", "two", 0.5)])
    with usage_file(folder).open("a", encoding="utf-8") as file:
        file.write("torn {\n")

    assert [use.query for use in read_uses(folder, "a.md")] == ["one", "two"]
    assert read_counts(folder) == {"a.md": 2, "b.md": 1}
    remove_uses(folder, ["a.md"])
    assert [use.path for use in read_uses(folder)] == ["b.md"]
    assert usage_file(folder).stat().st_mode & 0o077 == 0


@requirement("recall:noted")
def test_a_secret_in_a_request_is_not_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4

    use = Use("a.md", NOW.isoformat(), told_query(f"why does {token} not work"), 0.5)

    assert token not in use.query
    assert "why does" in use.query
