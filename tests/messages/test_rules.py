from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import Entry
from reverie.messages.message import Message, Role, assistant, merge_neighbours, user
from reverie.messages.rules import UNANSWERED, Conforming, conform, legal_cuts
from reverie.messages.view import project
from tests.messages.violations import Rule, violations
from tests.requirements import requirement
from tests.strategies import blocks, conversations

CALL = ToolUse("t1", "Read", {})
OTHER_CALL = ToolUse("t2", "Read", {})
RESULT = ToolResult("t1", "ok")
OTHER_RESULT = ToolResult("t2", "ok")

any_messages = st.lists(
    st.builds(Message, st.sampled_from(list(Role)[:2]), st.lists(blocks, max_size=4).map(tuple)), max_size=8
)


def rules(*messages: Message) -> list[Rule]:
    return [violation.rule for violation in violations(messages)]


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([user("a"), assistant(CALL), user(RESULT)], []),
        ([assistant("a")], [Rule.STARTS_WITH_USER]),
        ([user("a"), assistant(CALL)], [Rule.CALL_ANSWERED]),
        ([user("a"), assistant(CALL), user("b")], [Rule.CALL_ANSWERED]),
        ([user(RESULT)], [Rule.RESULT_CALLED]),
        ([user("a"), assistant(CALL), user("b", RESULT)], [Rule.RESULTS_FIRST]),
        ([user("a"), assistant(CALL), user(RESULT, RESULT)], [Rule.ANSWERED_ONCE]),
        ([user("a"), assistant(CALL, CALL), user(RESULT)], [Rule.CALLED_ONCE]),
        ([user("a"), user("b")], [Rule.ROLES_ALTERNATE]),
        ([user("")], [Rule.NOT_EMPTY]),
        ([user("a"), assistant(CALL, Thinking("hm", "sig")), user(RESULT)], [Rule.THINKING_FIRST]),
        ([user("a"), assistant(CALL, OTHER_CALL), user(RESULT, OTHER_RESULT)], []),
    ],
)
@requirement("messages:rules:conform")
def test_each_demand_of_a_provider_is_recognised(messages: list[Message], broken: list[Rule]) -> None:
    assert rules(*messages) == broken


@requirement("messages:rules:conform")
@given(conversations())
def test_a_conformed_conversation_breaks_no_rule(made: list[Entry]) -> None:
    messages = conform(project(made).messages)

    assert violations(messages) == ()
    assert conform(messages) == messages


@requirement("messages:rules:conform")
@given(any_messages)
def test_any_heap_of_messages_can_be_conformed(messages: list[Message]) -> None:
    conformed = conform(messages)

    broken = {violation.rule for violation in violations(conformed)}
    assert broken <= {Rule.THINKING_FIRST}, "thinking is never moved; all else is repaired"
    assert conform(conformed) == conformed


@requirement("messages:rules:conform")
@given(conversations(), st.lists(st.integers(0, 40), max_size=8), any_messages)
def test_conforming_step_by_step_equals_conforming_all_at_once(
    made: list[Entry], steps: list[int], heap: list[Message]
) -> None:
    grown = [item.message for item in project(made).items] + heap
    conforming = Conforming()
    # Mostly longer from time to time, as a conversation is; sometimes shorter, as after a compaction.
    for until in [*sorted(steps), *steps, len(grown)]:
        assert conforming.conform(grown[:until]) == conform(grown[:until])


@requirement("messages:rules:conform")
def test_a_call_id_of_long_ago_is_still_known() -> None:
    begun = [user("a"), assistant(CALL), user(RESULT), assistant("b"), user("c"), assistant("d"), user("e")]
    conforming = Conforming()
    conforming.conform(begun)
    again = [*begun, assistant("f", CALL), user(RESULT)]

    assert conforming.conform(again) == conform(again) != tuple(again)


@requirement("messages:rules:conform")
def test_what_is_already_right_is_not_touched() -> None:
    messages = (user("a"), assistant("thinking aloud", CALL), user(RESULT, "and then"), assistant("done"))

    assert conform(messages) == messages


@requirement("messages:rules:conform")
def test_an_unanswered_call_is_answered_with_the_truth() -> None:
    messages = conform([user("a"), assistant(CALL, OTHER_CALL), user(OTHER_RESULT), assistant("b")])

    assert messages[2].content == (OTHER_RESULT, ToolResult("t1", UNANSWERED, is_error=True))


@requirement("messages:rules:conform")
@given(conversations())
def test_conforming_keeps_every_word_of_the_user(made: list[Entry]) -> None:
    before = [
        block.text
        for m in project(made).messages
        if m.role is Role.USER
        for block in m.content
        if isinstance(block, Text)
    ]
    after = [block.text for m in conform(project(made).messages) for block in m.content if isinstance(block, Text)]

    assert [text for text in before if text not in after] == []


@requirement("messages:rules:legal-cuts")
@given(conversations())
def test_both_sides_of_a_legal_cut_are_whole(made: list[Entry]) -> None:
    items = project(made).items
    unanswered = {
        v.detail for v in violations(merge_neighbours(i.message for i in items)) if v.rule is Rule.CALL_ANSWERED
    }

    cuts = legal_cuts(items)

    assert cuts[0] == 0
    assert cuts[-1] == len(items)
    for cut in cuts:
        for side in (items[:cut], items[cut:]):
            broken = {
                v
                for v in violations(merge_neighbours(item.message for item in side))
                if v.rule in (Rule.RESULT_CALLED, Rule.CALL_ANSWERED) and v.detail not in unanswered
            }
            assert broken == set()
        if 0 < cut < len(items) and items[cut].message_id is not None:
            assert items[cut - 1].message_id != items[cut].message_id


@requirement("messages:rules:legal-cuts")
@given(conversations())
def test_one_may_cut_before_anything_the_user_typed(made: list[Entry]) -> None:
    items = project(made).items

    typed = {number for number, item in enumerate(items) if item.kind in ("typed", "meta")}

    assert typed <= set(legal_cuts(items))
