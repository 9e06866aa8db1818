from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Damaged
from reverie.files.front_matter import (
    Scalar,
    Table,
    Value,
    canonical,
    parse_value,
    plain_text,
    quote_string,
    split,
)
from tests.memory.topic_strategies import values
from tests.requirements import requirement


def table(block: str) -> dict[str, Value]:
    matter = split("a.md", f"---\n{block}---\nbody\n")
    assert matter is not None
    return dict(matter.table().pairs)


@given(st.text(), st.text("-.:#a \t\r\n", max_size=40))
def test_a_file_cut_at_its_front_matter_and_joined_is_the_same_file(body: str, block: str) -> None:
    for text in (body, f"---\n{block}\n---\n{body}", f"\ufeff---\r\nname: x\r\n---\r\n{body}"):
        try:
            matter = split("a.md", text)
        except Damaged:
            continue
        assert matter is None or matter.join(matter.lines, matter.body) == text


@requirement("memory:topic:text-stays-text")
@given(st.text())
def test_quoted_text_is_the_same_for_yaml_and_json_and_stands_on_one_line(text: str) -> None:
    line = quote_string(text)

    assert yaml.safe_load(line) == text
    assert json.loads(line.replace("\\U", "\\u")) == text or "\\U" in line
    assert len(line.splitlines()) == 1


@given(values)
def test_a_value_written_on_one_line_is_read_again(value: Value) -> None:
    assert parse_value(canonical(value)) == value
    assert "\n" not in canonical(value)


@requirement("memory:topic:text-stays-text")
def test_scalars_stay_the_text_that_stands_in_the_file() -> None:
    found = table("a: yes\nb: 1e3\nc: 2026-01-02\nd: 007\ne: 12:30:00\nf: 'no'\ng: ~\n")

    assert [plain_text(value) for value in found.values()] == [
        "yes",
        "1e3",
        "2026-01-02",
        "007",
        "12:30:00",
        "no",
        None,
    ]
    assert found["f"] == Scalar("no")


def test_of_a_repeated_key_the_last_value_stands() -> None:
    assert table("a: 1\nb: 2\na: 3\n") == {"a": Scalar("3", plain=True), "b": Scalar("2", plain=True)}


def test_tables_and_lists_are_kept_in_order() -> None:
    assert table("m:\n  b: x\n  a: [1, 'y']\n") == {
        "m": Table((("b", Scalar("x")), ("a", (Scalar("1", plain=True), Scalar("y")))))
    }


@requirement("memory:topic:text-stays-text")
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("description: use: a colon", "use: a colon"),
        ("description: *bold* words", "*bold* words"),
        ("description: @scope/pkg breaks", "@scope/pkg breaks"),
        ("description: `code` first", "`code` first"),
        ("description: fixes #12 and #13", "fixes #12 and #13"),
        ("description: 100% sure: yes # really", "100% sure: yes # really"),
        ("description:\ttabbed", "tabbed"),
    ],
)
def test_what_people_write_without_quotes_is_read_as_they_meant_it(line: str, text: str) -> None:
    assert plain_text(table(f"name: x\n{line}\n")["description"]) == text


def test_a_hash_is_a_comment_where_no_text_is_expected() -> None:
    assert plain_text(table("type: user # me\n")["type"]) == "user"


def test_tabs_for_indentation_are_forgiven_and_noted() -> None:
    matter = split("a.md", "---\nmetadata:\n\ttype: user\nname: a: b\n---\n")

    assert matter is not None
    assert matter.find("metadata") is not None
    assert matter.repaired == (3, 4)


@requirement("memory:topic:damage-is-named")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('---\nname: ok\ndescription: "open\n---\nbody\n', 3),
        ("---\nname: ok\nlist: [1, 2\n---\n", 3),
        ("---\nname: ok\n  bad: indent\n---\n", 3),
        ("---\nname: never closed\n\nbody\n", 1),
        ("---\nname: &a [*a]\n---\n", 1),
    ],
)
def test_what_is_not_yaml_is_named_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Damaged) as caught:
        split("feedback_x.md", text)

    assert caught.value.path.name == "feedback_x.md"
    assert caught.value.line == line
    assert str(caught.value).startswith(f"feedback_x.md, line {line}: ")


@requirement("memory:topic:damage-is-named")
def test_front_matter_that_unfolds_without_end_is_refused_quickly() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
    )

    with pytest.raises(Damaged, match="unfolds"):
        split("a.md", f"---\n{bomb}---\n")


@requirement("memory:topic:damage-is-named")
@pytest.mark.parametrize(
    "block",
    [
        "a: " + "[" * 100_000,
        "a: " + "[" * 3_000 + "]" * 3_000,
        "- " * 50_000 + "x",
        "a:\n" + "".join(" " * depth + "a:\n" for depth in range(1, 3_000)),
        "a: &a\n  b: *a",
    ],
    ids=["open brackets", "brackets", "dashes", "indentation", "itself"],
)
def test_front_matter_that_is_nested_without_end_is_damage_and_not_the_end_of_the_process(block: str) -> None:
    with pytest.raises(Damaged):
        split("a.md", f"---\nname: x\n{block}\n---\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "# Title\n---\nmore",
        "---\nJust a line between rules.\n---\nmore",
        "---",
        "----\nname: x\n---\n",
        "\n---\nname: x\n---\n",
    ],
)
def test_a_rule_or_a_heading_is_no_front_matter(text: str) -> None:
    assert split("a.md", text) is None


def test_an_empty_block_and_the_other_end_marker_are_front_matter() -> None:
    for text in ("---\n---\nbody\n", "---\n# only a comment\n...\nbody\n"):
        matter = split("a.md", text)
        assert matter is not None
        assert matter.entries == ()
        assert matter.body == "body\n"
