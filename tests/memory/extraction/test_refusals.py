from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.extraction.candidate import RefusalReason, RefusedCandidate
from reverie.memory.extraction.refusals import (
    MAX_ROWS,
    append_refusals,
    read_refusals,
    refusals_file,
    remove_refusals,
)
from tests.memory.extraction.kit import MONDAY
from tests.requirements import requirement

REFUSED = RefusedCandidate(RefusalReason.transient, "the build is broken right now", "m1", "s1")


@requirement("extraction:refusals")
def test_a_refusal_is_kept_once_with_reason_and_quote(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)

    append_refusals(folder, [REFUSED, REFUSED], MONDAY)
    append_refusals(folder, [REFUSED], MONDAY)

    [kept] = read_refusals(folder)
    assert replace(kept, when="") == REFUSED
    assert kept.when == MONDAY.isoformat(timespec="seconds")


@requirement("extraction:refusals")
def test_the_file_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)

    append_refusals(folder, [replace(REFUSED, message=str(number)) for number in range(MAX_ROWS + 1)], MONDAY)

    kept = read_refusals(folder)
    assert len(kept) == MAX_ROWS // 2
    assert kept[-1].message == str(MAX_ROWS)


@requirement("extraction:refusals")
def test_erasing_takes_out_what_repeats_the_topic(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    pointing = RefusedCandidate(RefusalReason.known, "as I said before", known="feedback_a.md")
    repeating = RefusedCandidate(RefusalReason.transient, "the build machine is called Otto right now")
    append_refusals(folder, [REFUSED, pointing, repeating], MONDAY)

    assert remove_refusals(folder, ["feedback_a.md"], ["Our build machine is called Otto"]) == 2
    assert [each.quote for each in read_refusals(folder)] == [REFUSED.quote]
    assert b"Otto" not in refusals_file(folder).read_bytes()


def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    append_refusals(folder, [REFUSED], MONDAY)
    with refusals_file(folder).open("a", encoding="utf-8") as file:
        file.write('{"reason": "transi\n[]\n{"reason": "no such", "quote": ""}\n')

    assert len(read_refusals(folder)) == 1


@requirement("extraction:refusals", "extraction:reading")
def test_what_a_sentence_reads_like_is_kept_with_its_refusal(tmp_path: Path) -> None:
    folder = MemoryFolder(tmp_path, tmp_path)
    told = replace(REFUSED, detail="reads like a passing remark (0.91)")

    append_refusals(folder, [told], MONDAY)

    assert [each.detail for each in read_refusals(folder)] == ["reads like a passing remark (0.91)"]
