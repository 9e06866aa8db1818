"""Which files were read, and how much of them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.tools.seen_files import SeenFiles
from tests.requirements import requirement


def pages_of(total: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    lines = st.integers(1, total)
    return st.lists(st.tuples(lines, lines).map(lambda two: (min(two), max(two))))


@requirement("tools:change:needs-read")
@given(st.integers(1, 12).flatmap(lambda total: st.tuples(st.just(total), pages_of(total))))
def test_a_file_is_whole_when_every_line_was_on_some_page(given_: tuple[int, list[tuple[int, int]]]) -> None:
    total, pages = given_
    seen, path = SeenFiles(), Path("/nowhere/file")
    for first, last in pages:
        seen.note_page(path, b"content", first, last, total)

    shown = {line for first, last in pages for line in range(first, last + 1)}
    known = seen.get(path)
    assert (known is not None and known.is_whole) == (len(shown) == total)


@requirement("tools:change:needs-read")
def test_pages_of_another_content_do_not_count_and_the_oldest_file_goes() -> None:
    seen = SeenFiles(limit=2)
    seen.note_page(Path("/n/a"), b"old", 1, 1, 2)
    seen.note_page(Path("/n/a"), b"new", 2, 2, 2)

    known = seen.get(Path("/n/a"))
    assert known is not None
    assert not known.is_whole
    assert not seen.is_current(Path("/n/a"), b"old")
    seen.note(Path("/n/b"), b"")
    seen.note(Path("/n/c"), b"")
    assert seen.paths == (Path("/n/b"), Path("/n/c"))
