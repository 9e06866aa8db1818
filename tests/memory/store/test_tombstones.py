from __future__ import annotations

from pathlib import Path

from reverie.memory.store.tombstones import (
    Tombstone,
    add_tombstones,
    parse_tombstones,
    read_tombstones,
    tombstone_rows,
    write_tombstone,
)


def test_a_tombstone_knows_the_text_and_does_not_hold_it(tmp_path: Path) -> None:
    write_tombstone(tmp_path, ["The first version.", "The second version."])
    (found,) = read_tombstones(tmp_path)
    assert found.covers("the  SECOND version")
    assert not found.covers("The third version.")
    assert "version" not in "".join(tombstone_rows(tmp_path))
    write_tombstone(tmp_path, ["The first version."])
    assert len({each.salt for each in read_tombstones(tmp_path)}) == 2


def test_tombstones_from_elsewhere_are_kept_once(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_tombstone(other, ["A text."])
    rows = parse_tombstones(tombstone_rows(other))
    assert add_tombstones(tmp_path, rows) == rows
    assert add_tombstones(tmp_path, rows) == ()
    assert read_tombstones(tmp_path) == rows


def test_lines_of_another_shape_are_left_out() -> None:
    salt, mark = "0" * 32, "a" * 64
    good = f'["{salt}", "{mark}"]'
    bad = ["", "{}", "[1, 2]", f'["{salt}"]', f'["{salt}", "short"]', f'["salt", "{mark}"]', "[" * 100_000, None]
    assert parse_tombstones([*bad, good]) == (Tombstone(salt, (mark,)),)
