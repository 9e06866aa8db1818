from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.index.edits import merge_prose
from reverie.memory.store.index.memory_md import IndexEntry, ProseLine, parse_index
from tests.requirements import requirement

_indexes = st.lists(
    st.sampled_from(["# Mine", "", "a line", "another", "third", "- [A](a.md) — x", "- [B](b.md) — y"]), max_size=6
).map(lambda lines: "".join(f"{line}\n" for line in lines))


def prose(text: str) -> set[str]:
    return {line.text for line in parse_index(text) if isinstance(line, ProseLine)}


def items(text: str) -> list[str]:
    return [line.text for line in parse_index(text) if isinstance(line, IndexEntry)]


@requirement("memory:index:prose-stays")
@given(_indexes, _indexes, _indexes)
def test_no_line_that_a_side_added_is_lost_and_items_are_mine(base: str, mine: str, theirs: str) -> None:
    merged = merge_prose(base, mine, theirs)

    assert prose(merged) >= (prose(mine) | prose(theirs)) - prose(base)
    assert prose(merged) <= prose(mine) | prose(theirs)
    assert items(merged) == items(mine)


@requirement("memory:index:prose-stays")
@given(_indexes, _indexes)
def test_where_only_one_side_changed_its_prose_that_side_stands(base: str, changed: str) -> None:
    assert merge_prose(base, changed, base) == changed
    assert prose(merge_prose(base, base, changed)) == prose(changed)
