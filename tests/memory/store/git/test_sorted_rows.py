from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.git.sorted_rows import SortedRows, zipped

_rows = st.dictionaries(st.binary(min_size=1, max_size=2), st.binary(max_size=6), max_size=40)
_changes = st.lists(st.tuples(st.binary(min_size=1, max_size=2), st.none() | st.binary(max_size=6)), max_size=30)


@given(_rows, _changes)
def test_rows_changed_one_by_one_are_the_rows_in_order_and_their_stream_is_what_zlib_reads(
    rows: dict[bytes, bytes], changes: list[tuple[bytes, bytes | None]]
) -> None:
    kept = SortedRows(rows)
    for key, row in changes:
        kept.deflated()
        kept.put(key, row)
        rows.pop(key, None)
        if row is not None:
            rows[key] = row
    _agree(kept, rows)


def test_blocks_split_and_vanish_without_a_trace() -> None:
    rows = {b"%05d" % number: b"row %d\n" % number for number in range(0, 3_000, 2)}
    kept = SortedRows(rows)
    kept.deflated()
    for number in range(1, 3_000, 2):
        key = b"%05d" % number
        rows[key] = b"between\n"
        kept.put(key, b"between\n")
    _agree(kept, rows)
    for key in list(rows):
        kept.put(key, None)
    _agree(kept, {})


def _agree(kept: SortedRows, rows: dict[bytes, bytes]) -> None:
    whole = b"".join(rows[key] for key in sorted(rows))
    assert (len(kept), kept.joined()) == (len(rows), whole)
    assert zlib.decompress(zipped(b"head", whole, kept.deflated())) == b"head" + whole
