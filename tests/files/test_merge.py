from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from reverie.files.merge import Conflicted, ConflictRegion, MergedText, merge
from tests.requirements import requirement

documents = st.lists(st.sampled_from("abcde"), max_size=8).map("\n".join) | st.text("ab\r\n", max_size=12)


def test_changes_of_different_lines_come_together() -> None:
    assert merge("1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n") == MergedText("one\n2\n3\n4\nfive\n")


def test_the_same_change_on_both_sides_is_made_once() -> None:
    assert merge("a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nX\nc\nD\n") == MergedText("a\nX\nc\nD\n")


def test_different_changes_of_one_line_conflict_and_show_both() -> None:
    result = merge("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n")

    assert isinstance(result, Conflicted)
    (region,) = (part for part in result.parts if isinstance(part, ConflictRegion))
    assert (region.line, region.base, region.mine, region.theirs) == (2, ("b",), ("mine",), ("theirs",))
    assert result.text() == "a\n<<<<<<< mine\nmine\n=======\ntheirs\n>>>>>>> theirs\nc\n"


def test_changes_of_neighbouring_lines_conflict() -> None:
    assert isinstance(merge("a\nb\n\n", "A\nb\n\n", "a\nB\n\n"), Conflicted)


def test_two_different_lines_added_at_the_end_conflict() -> None:
    assert isinstance(merge("a\n", "a\nmine\n", "a\ntheirs\n"), Conflicted)


def test_a_side_that_only_changed_its_line_ends_changed_no_line() -> None:
    assert merge("a\nb\nc\nd\n", "a\r\nb\r\nc\r\nd\r\n", "a\nb\nc\nD\n") == MergedText("a\r\nb\r\nc\r\nD\r\n")


def test_texts_that_repeat_their_lines_merge_quickly() -> None:
    base = "\n".join(f"{'' if n % 2 else 'x'}" for n in range(3000))
    mine = "first\n" + base
    theirs = base + "\nlast"

    assert merge(base, mine, theirs) == MergedText(f"first\n{base}\nlast")
    assert isinstance(merge(base, base.replace("x", "y"), base.replace("x", "z")), Conflicted)


@given(documents, documents)
def test_a_side_that_changed_nothing_yields_to_the_other(base: str, other: str) -> None:
    assert merge(base, base, other) == merge(base, other, base) == merge(base, other, other) == MergedText(other)


@given(documents, documents, documents)
def test_merging_is_the_same_from_either_side(base: str, mine: str, theirs: str) -> None:
    assume("\r" not in base + mine + theirs)  # where line ends differ, each side keeps its own
    forth, back = merge(base, mine, theirs), merge(base, theirs, mine)

    assert type(forth) is type(back)
    if isinstance(forth, MergedText):
        assert forth == back


@given(documents, documents, documents)
def test_merging_the_result_again_changes_nothing(base: str, mine: str, theirs: str) -> None:
    result = merge(base, mine, theirs)

    if isinstance(result, MergedText):
        assert merge(mine, mine, result.text) == result


@requirement("merge:three-way:nothing-lost")
@given(documents, documents, documents)
@example("a", "a\nb", "a\nc")
def test_no_line_that_either_side_added_is_lost(base: str, mine: str, theirs: str) -> None:
    result = merge(base, mine, theirs)

    text = result.text if isinstance(result, MergedText) else result.text()
    kept = set(text.replace("\r", "").split("\n"))
    for side in (mine, theirs):
        added = set(side.replace("\r", "").split("\n")) - set(base.replace("\r", "").split("\n"))
        assert added <= kept


@st.composite
def edits(draw: st.DrawFn, lines: list[str], mark: str) -> str:
    """A text with some lines replaced, dropped or followed by a line of this side's own."""
    result: list[str] = []
    for line in lines:
        match draw(st.sampled_from(["keep"] * 4 + ["replace", "drop", "insert"])):
            case "keep":
                result.append(line)
            case "replace":
                result.append(f"{mark}{line}")
            case "insert":
                result += [line, f"after {line} {mark}"]
    return "".join(f"{line}\n" for line in result)


@st.composite
def three_texts(draw: st.DrawFn) -> tuple[str, str, str]:
    # Distinct lines have one longest common subsequence, so that every diff algorithm sees the same hunks.
    lines = [f"line {number}" for number in range(draw(st.integers(0, 7)))]
    base = "".join(f"{line}\n" for line in lines)
    return base, draw(edits(lines, "x")), draw(edits(lines, draw(st.sampled_from("xy"))))


@requirement("merge:three-way:like-git")
def test_conflicts_are_those_of_git(tmp_path: Path) -> None:
    def by_git(base: str, mine: str, theirs: str) -> tuple[bool, str]:
        names = ("mine", "base", "theirs")
        for name, text in zip(names, (mine, base, theirs), strict=True):
            (tmp_path / name).write_text(text, encoding="utf-8")
        command = ["git", "merge-file", "-p", "--", *(str(tmp_path / name) for name in names)]
        done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
        return done.returncode == 0, done.stdout

    @settings(max_examples=40, deadline=None)
    @given(three_texts())
    def compare(texts: tuple[str, str, str]) -> None:
        is_clean, text = by_git(*texts)
        ours = merge(*texts)

        assert isinstance(ours, MergedText) == is_clean
        if isinstance(ours, MergedText):
            assert ours.text == text

    try:
        subprocess.run(["git", "--version"], capture_output=True, check=True)
    except OSError:
        pytest.skip("no git here")
    compare()
