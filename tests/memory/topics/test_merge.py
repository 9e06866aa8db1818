from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import given

from reverie.files.merge import MergedText
from reverie.memory.topics.anchors import FileAnchor
from reverie.memory.topics.merge import TopicConflict, merge_topics
from reverie.memory.topics.topic import MemoryType, Topic, parse_topic, render_topic
from tests.memory.topic_strategies import topics
from tests.requirements import requirement

BASE = Topic(
    "feedback_testing.md",
    "Testing",
    "How tests are written",
    MemoryType.feedback,
    body="Never mock.\n\nOne.\n\nTwo.",
    anchors=(FileAnchor("a.py"), FileAnchor("b.py")),
)


def merged(base: Topic, mine: Topic, theirs: Topic) -> Topic:
    result = merge_topics(base.path, *(render_topic(topic) for topic in (base, mine, theirs)))
    assert isinstance(result, MergedText), result
    return parse_topic(base.path, result.text)


@requirement("memory:topic:merge-by-key")
def test_edits_of_different_keys_and_different_lines_come_together() -> None:
    mine = replace(BASE, description="Tests use a real database", body=BASE.body.replace("One.", "1."))
    theirs = replace(BASE, name="Tests", pinned=True, body=BASE.body.replace("Two.", "2."))

    assert merged(BASE, mine, theirs) == replace(
        BASE, description=mine.description, name="Tests", pinned=True, body="Never mock.\n\n1.\n\n2."
    )


@requirement("memory:topic:merge-by-key")
def test_lists_take_what_each_side_added_or_removed_and_dates_the_later_one() -> None:
    mine = replace(BASE, anchors=(FileAnchor("a.py"), FileAnchor("c.py")), verified=date(2026, 1, 2))
    theirs = replace(BASE, anchors=(*BASE.anchors, FileAnchor("d.py")), verified=date(2026, 3, 4))

    result = merged(BASE, mine, theirs)

    assert [anchor.path for anchor in result.anchors if isinstance(anchor, FileAnchor)] == ["a.py", "c.py", "d.py"]
    assert result.verified == date(2026, 3, 4)


@requirement("memory:topic:merge-by-key")
def test_two_ways_to_say_one_thing_are_a_conflict_that_names_it() -> None:
    mine, theirs = replace(BASE, description="mine", body="x"), replace(BASE, description="theirs", body="y")

    result = merge_topics(BASE.path, render_topic(BASE), render_topic(mine), render_topic(theirs))

    assert isinstance(result, TopicConflict)
    assert result.keys == ("description", "body")
    assert '"mine"' in result.text
    assert '"theirs"' in result.text


def test_comments_of_both_sides_stay_where_the_lines_allow() -> None:
    base = "---\nname: A\n# one\ndescription: B\ntype: user\nzzz: 1\n---\nbody\n"

    result = merge_topics("a.md", base, base.replace("# one", "# mine"), base.replace("zzz: 1", "zzz: 2 # theirs"))

    assert result == MergedText("---\nname: A\n# mine\ndescription: B\ntype: user\nzzz: 2 # theirs\n---\nbody\n")


def test_files_that_are_no_topics_are_merged_as_lines() -> None:
    broken = '---\nname: "open\n---\nbody\n'

    assert merge_topics("a.md", broken, broken, broken + "more\n") == MergedText(broken + "more\n")
    assert isinstance(merge_topics("a.md", broken, broken + "x\n", broken + "y\n"), TopicConflict)


@given(topics, topics)
def test_a_side_that_changed_nothing_yields_to_the_other(base: Topic, other: Topic) -> None:
    assert merged(base, base, other) == merged(base, other, base) == merged(base, other, other) == other


@given(topics, topics, topics)
def test_a_conflict_does_not_depend_on_the_side(base: Topic, mine: Topic, theirs: Topic) -> None:
    texts = [render_topic(topic) for topic in (base, mine, theirs)]
    forth, back = merge_topics("a.md", *texts), merge_topics("a.md", texts[0], texts[2], texts[1])

    assert type(forth) is type(back)
    if isinstance(forth, MergedText) and isinstance(back, MergedText):
        one, two = parse_topic("a.md", forth.text), parse_topic("a.md", back.text)
        assert replace(one, extra=()) == replace(two, extra=())
        assert dict(one.extra) == dict(two.extra)


@requirement("memory:topic:merge-by-key", "memory:asks")
def test_asks_of_both_sides_are_kept_and_what_one_side_removed_is_gone() -> None:
    base = replace(BASE, asks=("a", "b"))
    mine = replace(BASE, asks=("a", "b", "c"))
    theirs = replace(BASE, asks=("b", "d"))

    assert merged(base, mine, theirs).asks == ("b", "c", "d")
