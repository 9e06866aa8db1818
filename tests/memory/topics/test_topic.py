from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Damaged, UserMistake
from reverie.memory.topics.topic import MemoryType, Topic, Trust, parse_topic, render_topic
from tests.memory.topic_strategies import topics
from tests.requirements import requirement

BY_HAND = """---
name: Testing
# a comment of mine
description: How tests are written   # keep
metadata:
  node_type: memory   # host
  type: feedback
tags: [a, 'b']
---

Never mock.
"""


@requirement("memory:topic:round-trip")
@given(topics)
def test_a_topic_written_and_read_again_is_the_same_topic(topic: Topic) -> None:
    text = render_topic(topic)

    assert parse_topic(topic.path, text) == topic
    assert render_topic(topic, text) == text


@requirement("memory:topic:round-trip")
@given(topics, topics)
def test_a_topic_written_over_another_is_the_new_topic(before: Topic, after: Topic) -> None:
    for previous in (render_topic(before), render_topic(before).replace("\n", "\r\n"), before.body, BY_HAND):
        try:
            written = render_topic(after, previous)
        except Damaged:
            continue
        assert parse_topic(after.path, written) == after


@requirement("memory:topic:quoted")
def test_what_is_written_is_plain_yaml_with_quoted_texts_and_a_stable_order() -> None:
    topic = Topic(
        "feedback_testing.md",
        "No mocks: ever",
        'Use a "real" database # always',
        MemoryType.feedback,
        body="Never mock.",
        trust=Trust.said,
        observed=date(2026, 1, 2),
        pinned=True,
    )

    text = render_topic(topic)

    assert text == (
        "---\n"
        'name: "No mocks: ever"\n'
        'description: "Use a \\"real\\" database # always"\n'
        "type: feedback\n"
        "trust: said\n"
        "observed: 2026-01-02\n"
        "pinned: true\n"
        "---\n"
        "Never mock.\n"
    )
    assert yaml.safe_load(text.split("---")[1])["name"] == "No mocks: ever"


@requirement("memory:topic:three-shapes")
@pytest.mark.parametrize(
    "block",
    [
        "type: project",
        "metadata:\n  node_type: memory\n  type: project",
        "metadata:\n  type: project",
        "metadata: {type: project}",
        "type: Project",
    ],
)
def test_the_type_is_found_in_every_shape(block: str) -> None:
    text = f"---\nname: slug-name\ndescription: d\n{block}\n---\nbody\n"
    topic = parse_topic("a.md", text)

    assert topic.type is MemoryType.project
    assert render_topic(topic, text) == text
    changed = replace(topic, type=MemoryType.user)
    assert parse_topic("a.md", render_topic(changed, text)) == changed


@requirement("memory:topic:unknown-type")
def test_an_unknown_type_is_no_type_and_stays_in_the_file() -> None:
    text = "---\nname: n\ndescription: d\ntype: opinion\n---\nbody\n"
    topic = parse_topic("a.md", text)

    assert topic.type is None
    assert "type: opinion\n" in render_topic(replace(topic, description="other"), text)


@requirement("memory:topic:edits-are-surgical")
@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ({"name": "Tests"}, "name: Testing\n", 'name: "Tests"\n'),
        ({"description": "x"}, "description: How tests are written   # keep\n", 'description: "x"\n'),
        ({"type": MemoryType.user}, "  type: feedback\n", "  type: user\n"),
        ({"body": "Always mock."}, "Never mock.\n", "Always mock.\n"),
        ({"trust": Trust.said}, "metadata:\n", "trust: said\nmetadata:\n"),
        ({"extra": (("metadata", '{"node_type": "memory"}'), ("tags", "[1]"))}, "tags: [a, 'b']\n", "tags: [1]\n"),
        ({"extra": (("metadata", '{"node_type": "memory"}'),)}, "tags: [a, 'b']\n", ""),
    ],
)
@pytest.mark.parametrize("style", ["\n", "\r\n"])
def test_an_edit_changes_the_lines_of_what_changed_and_no_other_byte(
    change: dict[str, object], old: str, new: str, style: str
) -> None:
    text = BY_HAND.replace("\n", style)
    topic = parse_topic("a.md", text)

    edited = render_topic(replace(topic, **change), text)  # type: ignore[arg-type]

    assert edited == BY_HAND.replace(old, new).replace("\n", style)


@requirement("memory:topic:edits-are-surgical")
@given(st.sampled_from([BY_HAND, BY_HAND.replace("\n", "\r\n"), "\ufeff" + BY_HAND, "just text\n", "# T\n\ntext", ""]))
def test_a_topic_that_did_not_change_is_written_byte_for_byte(text: str) -> None:
    assert render_topic(parse_topic("a.md", text), text) == text


@requirement("memory:topic:unknown-keys")
@given(topics)
def test_unknown_keys_survive_any_edit(after: Topic) -> None:
    kept = parse_topic("a.md", BY_HAND).extra

    written = render_topic(replace(after, path="a.md", extra=kept), BY_HAND)

    assert dict(parse_topic("a.md", written).extra) == dict(kept)


@requirement("memory:topic:unknown-keys")
def test_a_value_that_was_not_understood_goes_only_when_a_better_one_takes_its_place() -> None:
    text = "---\nname: n\ndescription: d\nobserved: soon\n---\nbody\n"
    topic = parse_topic("a.md", text)

    assert "observed: soon\n" in render_topic(replace(topic, pinned=True), text)
    assert render_topic(replace(topic, observed=date(2026, 1, 2)), text) == text.replace("soon", "2026-01-02")


@requirement("memory:topic:damage-is-named")
def test_damaged_front_matter_is_never_overwritten() -> None:
    broken = '---\nname: "open\n---\nbody\n'

    with pytest.raises(Damaged):
        render_topic(Topic("a.md", "n", "d"), broken)


@requirement("memory:topic:no-front-matter")
@pytest.mark.parametrize(
    ("path", "text", "name", "description"),
    [
        ("x/feedback_no-mocks.md", "Use a real database.\nMore.\n", "feedback no mocks", "Use a real database."),
        ("a.md", "# Real databases #\n\n> - Use them.\n", "Real databases", "Use them."),
        ("a.md", "```\n# not a title\n```\n\n## Title\n\n---\n| a |\n<!-- c -->\ntext\n", "Title", "text"),
        ("a.md", "\ufeff# 标题\r\n\r\n正文。\r\n", "标题", "正文。"),
        ("a.md", "", "a", ""),
        ("a.md", "---\nothers: 1\n---\n# Title\nline\n", "Title", "line"),
    ],
)
def test_without_front_matter_the_text_itself_gives_name_and_description(
    path: str, text: str, name: str, description: str
) -> None:
    topic = parse_topic(path, text)

    assert (topic.name, topic.description) == (name, description)


@requirement("memory:topic:no-front-matter")
def test_front_matter_is_added_only_when_there_is_something_to_say() -> None:
    text = "# Title\n\nFirst line.\n"
    topic = parse_topic("a.md", text)

    assert render_topic(replace(topic, body="# Title\n\nFirst line.\n\nMore."), text) == text + "\nMore.\n"
    assert render_topic(replace(topic, pinned=True), text).startswith(
        '---\nname: "Title"\ndescription: "First line."\n'
    )


def test_a_long_first_line_makes_a_short_description() -> None:
    assert len(parse_topic("a.md", "word " * 100).description) <= 201


def test_names_are_one_line_and_bodies_lose_outer_blank_lines() -> None:
    topic = Topic("a.md", " a\n b ", "c\td", body="\n \n  indented\r\nend \n\n")

    assert (topic.name, topic.description, topic.body) == ("a b", "c d", "  indented\nend")


def test_text_that_no_file_can_hold_is_replaced() -> None:
    topic = Topic("a.md", "a\ud800b", "d", body="x\udfff")

    assert parse_topic("a.md", render_topic(topic)) == topic
    render_topic(topic).encode()


def test_the_stamp_of_a_host_is_read_and_renewed_in_place() -> None:
    text = "---\nname: n\nmodified: 2026-01-02T03:04:05.678Z\ndescription: d\n---\nbody\n"
    topic = parse_topic("a.md", text)
    now = datetime.fromisoformat("2026-02-03T04:05:06+02:00")

    assert topic.modified == datetime.fromisoformat("2026-01-02T03:04:05.678+00:00")
    assert render_topic(replace(topic, modified=now), text) == text.replace(
        "2026-01-02T03:04:05.678Z", "2026-02-03T02:05:06Z"
    )


@given(st.text())
def test_any_text_is_read_or_named_as_damaged(text: str) -> None:
    for candidate in (text, f"---\n{text}\n---\n", f"---\nname: {text}\n---\n"):
        try:
            topic = parse_topic("a.md", candidate)
        except Damaged:
            continue
        assert topic.name
        assert render_topic(topic, candidate) == candidate


@requirement("topic:plain-words")
def test_a_caller_may_write_types_as_plain_words() -> None:
    topic = Topic(name="Plain", type="feedback", trust="said")  # type: ignore[arg-type]  # that is the point

    assert (topic.type, topic.trust) == (MemoryType.feedback, Trust.said)


@requirement("topic:plain-words")
def test_a_type_that_there_is_not_is_a_mistake_with_those_that_there_are() -> None:
    with pytest.raises(UserMistake, match="reference"):
        Topic(name="Wrong", type="habit")  # type: ignore[arg-type]  # that is the point
