from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.usage_log import (
    Use,
    UseCounts,
    append_uses,
    read_counts,
    read_uses,
    redact_query,
    remove_uses,
    usage_file,
)
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
@given(st.lists(st.lists(st.sampled_from(["a.md", 'b "quoted".md', "日本.md", "c\\d.md"]), max_size=4), max_size=5))
def test_counts_read_step_by_step_are_those_of_the_whole_log(batches: list[list[str]]) -> None:
    with TemporaryDirectory() as place:
        folder = MemoryFolder(Path(place), Path(place))
        counts = UseCounts(folder)
        for batch in batches:
            append_uses(folder, [Use(path, "2026-05-01", "one", 0.5) for path in batch])
            assert counts.read() == read_counts(folder)
        remove_uses(folder, ["a.md"])
        assert counts.read() == read_counts(folder)


@requirement("recall:noted")
def test_a_secret_in_a_request_is_not_kept() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4

    use = Use("a.md", NOW.isoformat(), redact_query(f"why does {token} not work"), 0.5)

    assert token not in use.query
    assert "why does" in use.query
