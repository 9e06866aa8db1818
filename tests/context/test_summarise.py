from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.summarise import EMBEDDED, SECTIONS, SummaryRequest, by_round, summarise, summary_of, with_less
from reverie.errors import ContextTooLong
from reverie.messages.rules import legal_cuts
from reverie.models.flow import as_request
from reverie.settings import CompactionSettings
from reverie.testing.build import picture, reply, request, tool_call, tool_result
from tests.context.kit import Session, ask, conclude, golden, long_session
from tests.messages.violations import violations
from tests.requirements import requirement

NINE = "\n".join(f"{number}. {name}: …" for number, name in enumerate(SECTIONS, 1))


def wanted(session: Session, **changes: object) -> SummaryRequest:
    asked = SummaryRequest(session.view.items, 2_000, session.tokens(), lambda: "by structure")
    return replace(asked, **changes)  # type: ignore[arg-type]  # fields by name


@requirement("context:compact:two-parts")
def test_the_analysis_is_dropped_and_the_summary_taken() -> None:
    assert summary_of(reply(f"<analysis>draft</analysis>\n<summary>\n{NINE}\n</summary> bye")) == NINE
    assert summary_of(reply(f"<analysis>never closed <summary>{NINE}</summary>")) == NINE
    assert summary_of(reply(f"<summary>{NINE}")) == NINE
    assert summary_of(reply(NINE)) == NINE


@requirement("context:compact:never-an-error")
@pytest.mark.parametrize(
    "answer",
    ["", "   ", "<summary> </summary>", "API Error: 500 internal", "I am sorry, I cannot do that.", "<analysis>x"],
)
def test_what_is_no_summary_is_replaced_by_one_from_structure(answer: str) -> None:
    session = long_session(2)
    written = conclude(summarise(wanted(session), session.scene(), CompactionSettings()), answer)

    assert (written.text, written.by) == ("by structure", EMBEDDED)


@requirement("context:compact:never-an-error")
def test_a_refusal_a_tool_call_and_a_longer_text_are_no_summary() -> None:
    session = long_session(2)
    assert summary_of(reply(f"<summary>{NINE}</summary>", stop_reason="refusal")) == ""
    assert summary_of(reply(f"<summary>{NINE}</summary>", tool_call("Read"))) == ""

    longer = "<summary>" + "word " * session.tokens() + "</summary>"
    written = conclude(summarise(wanted(session), session.scene(), CompactionSettings()), longer)
    assert written.by == EMBEDDED


@requirement("context:compact:prepared")
def test_the_summariser_reads_what_was_sent() -> None:
    session = (
        Session().say("look", picture()).attach("skill_listing", "a list of skills").attach("date_change", "today")
    )
    session.call("Read").say(tool_result("call_1", "seen:", picture()))
    question = ask(summarise(wanted(session), session.scene(), CompactionSettings()))

    assert question.context == tuple(item.message for item in session.view.items)


@requirement("context:compact:prepared")
def test_the_question_carries_the_whole_conversation_and_the_users_instructions() -> None:
    session = long_session(2)
    question = ask(
        summarise(wanted(session, instructions="Keep every SQL statement."), session.scene(), CompactionSettings())
    )

    assert question.purpose == "summary"
    assert question.embedded_on_failure
    assert question.context == tuple(item.message for item in session.view.items)
    assert "Keep every SQL statement." in question.prompt
    assert "{{" not in question.prompt
    assert question.embedded() == "by structure"


@requirement("context:prompts")
def test_the_question_for_a_summary_is_golden() -> None:
    session = long_session(1)

    golden("summary_prompt.md", ask(summarise(wanted(session), session.scene(), CompactionSettings())).prompt)


@requirement("context:compact:too-long")
def test_a_request_that_is_too_long_is_asked_again_without_the_oldest_rounds() -> None:
    session = long_session(4)
    flow = summarise(wanted(session), session.scene(), CompactionSettings())
    first = next(flow)
    gap = session.tokens() // 3
    second = flow.throw(ContextTooLong("too long", used_tokens=10_000 + gap, limit_tokens=10_000))
    dropped = len(first.context) - len(second.context) + 1

    assert first.context[dropped:] == second.context[1:]
    assert f"The {dropped} oldest messages did not fit" in second.context[0].text
    freed = sum(session.scene().weigh(item) for item in session.view.items[:dropped])
    assert gap <= freed < gap + session.tokens() // 3
    with pytest.raises(StopIteration) as end:
        flow.send(reply(f"<summary>{NINE}</summary>"))
    assert end.value.value.unread == dropped
    assert end.value.value.text.endswith(NINE)
    assert f"The {dropped} oldest messages" in end.value.value.text


@requirement("context:compact:too-long")
@given(rounds=st.integers(3, 14), gap_share=st.floats(0.05, 0.8), tries=st.integers(1, 3))
def test_a_retry_within_one_long_turn_keeps_all_but_the_oldest_rounds_and_every_pair(
    rounds: int, gap_share: float, tries: int
) -> None:
    """As it is sent: a provider's rules drop what begins with a reply, and that must not be the rest of the turn."""
    session = Session().say("Look at all of these files, please.")
    for number in range(rounds):
        session.work("Read", f"text of file {number} " * 40, file_path=f"/project/{number}.py")
    flow = summarise(wanted(session), session.scene(), CompactionSettings())
    next(flow)
    for _ in range(tries):
        gap = int(session.tokens() * gap_share)
        try:
            question = flow.throw(ContextTooLong("too long", used_tokens=10_000 + gap, limit_tokens=10_000))
        except StopIteration as end:
            written = end.value
            break
        sent = as_request(question, request("x"), "x").messages
        shown = [result.tool_use_id for message in sent for result in message.tool_results]
        called = [call.id for message in sent for call in message.tool_uses]
        every = [f"call_{number}" for number in range(session.calls - rounds + 1, session.calls + 1)]
        assert shown == called == every[len(every) - len(shown) :]
        assert shown, "never from nothing"
        assert not violations(sent)
    else:
        flow.close()
        return
    assert written.by == EMBEDDED, "never from nothing"


@requirement("context:compact:too-long")
def test_without_a_gap_a_fifth_of_the_rounds_goes() -> None:
    session = long_session(4)
    groups = by_round(session.view.items)

    assert with_less(groups, None, session.scene(), CompactionSettings()) == groups[round(len(groups) * 0.2) :]
    assert with_less(groups[:1], None, session.scene(), CompactionSettings()) == []


@requirement("context:compact:too-long")
def test_after_three_more_tries_the_summary_comes_from_structure() -> None:
    session = long_session(4)
    errors = [ContextTooLong("too long") for _ in range(9)]
    written = conclude(summarise(wanted(session), session.scene(), CompactionSettings()), *errors)

    assert written.by == EMBEDDED
    asked = []
    flow = summarise(wanted(session), session.scene(), CompactionSettings())
    try:
        question = next(flow)
        while True:
            asked.append(question)
            question = flow.throw(ContextTooLong("too long"))
    except StopIteration:
        pass
    assert len(asked) == 4


@requirement("context:compact:too-long")
def test_groups_are_whole_rounds() -> None:
    session = long_session(3)
    items = session.view.items
    groups = by_round(items)

    assert [item for group in groups for item in group] == list(items)
    cuts = set(legal_cuts(items))
    assert all(sum(map(len, groups[:number])) in cuts for number in range(len(groups)))
    assert len(groups) > 6
