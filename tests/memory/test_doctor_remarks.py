from __future__ import annotations

from hypothesis import given

from reverie.memory.doctor import Remark, topic_remarks
from reverie.memory.topics.topic import Topic, render_topic
from tests.memory.topic_strategies import topics
from tests.requirements import requirement


@requirement("memory:topic:guesses-are-named")
def test_what_was_guessed_or_ignored_is_named_with_its_line() -> None:
    text = "---\nname: a: b\ntype: opinion\nname: c\n---\nbody\n"

    assert topic_remarks("a.md", text) == (
        Remark(2, "this is not YAML and was read as text: put the value in quotes"),
        Remark(4, "'name' stands here a second time; the last one counts"),
        Remark(3, "'type' cannot mean \"opinion\"; it is kept and not used"),
        Remark(None, "it has no description: the first line of its text stands in"),
    )
    (remark,) = topic_remarks("a.md", "just text")
    assert "no front matter" in remark.text


@given(topics.filter(lambda topic: bool(topic.description)))
def test_there_is_nothing_to_say_about_what_we_wrote(topic: Topic) -> None:
    assert topic_remarks(topic.path, render_topic(topic)) == ()
