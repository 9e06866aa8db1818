from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.index.edits import IndexEdit, apply_edit, index_edits
from reverie.memory.store.index.memory_md import render_index
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import Topic
from tests.memory.topic_strategies import lines
from tests.requirements import requirement

A = Topic("a.md", "Alpha", "the first letter")
B = Topic("b.md", "Beta", "the second letter")


@requirement("memory:index:edit-is-an-edit")
def test_a_rewritten_hook_becomes_the_description_and_a_rewritten_title_the_name() -> None:
    base = render_index([A, B])
    text = base.replace("the first letter", "it comes first").replace("[Beta]", "[Second]")

    edits = index_edits(base, text, [A, B])

    assert edits == (IndexEdit("a.md", hook="it comes first"), IndexEdit("b.md", name="Second"))
    assert apply_edit(A, edits[0]) == Topic("a.md", "Alpha", "it comes first")
    assert apply_edit(B, edits[1]) == Topic("b.md", "Second", "the second letter")


@requirement("memory:index:edit-is-an-edit")
def test_what_was_there_when_the_directory_was_taken_over_is_no_edit() -> None:
    foreign = "- [another title](a.md) — another hook\n"

    assert index_edits(foreign, foreign, [A]) == ()


def test_prose_moved_and_deleted_items_are_no_edits() -> None:
    base = render_index([A, B])

    assert index_edits(base, "words\n\n## Mine\n" + base.splitlines()[1] + "\n", [A, B]) == ()


@requirement("memory:index:edit-is-an-edit")
def test_an_edit_of_a_hook_that_was_shown_cut_keeps_what_was_not_shown() -> None:
    long = Topic("a.md", "Alpha", "first " + "word " * 60 + "last")
    base = render_index([long])

    (edit,) = index_edits(base, base.replace("first", "FIRST"), [long])

    assert apply_edit(long, edit).description == "FIRST " + "word " * 60 + "last"


@requirement("memory:index:edit-is-an-edit")
def test_editing_the_rule_shown_in_the_index_changes_the_rule() -> None:
    rule = Topic("a.md", "Tests", "How to test", body="Never mock.\n\n**Why:** …", when=When(always=True))
    base = render_index([rule])

    (edit,) = index_edits(base, base.replace("Never mock.", "Mock nothing."), [rule])
    edited = apply_edit(rule, edit)

    assert edited.body == "Mock nothing.\n\n**Why:** …"
    assert edited.description == "Mock nothing."
    assert render_index([edited], base) == base.replace("Never mock.", "Mock nothing.")


_texts = lines.map(lambda text: " ".join(text.split())).filter(bool)


@given(st.builds(Topic, st.just("a.md"), _texts, _texts, st.none(), st.just("")), _texts, _texts)
def test_what_was_typed_into_the_index_is_what_the_index_shows_afterwards(topic: Topic, name: str, hook: str) -> None:
    wanted = render_index([Topic("a.md", name, hook)])

    for edit in index_edits(render_index([topic]), wanted, [topic]):
        topic = apply_edit(topic, edit)

    assert render_index([topic], wanted) == wanted
