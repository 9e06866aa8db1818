"""Summaries and notes without a model."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.digest import notes, quote_requests, summary
from reverie.context.digest.choose import choose
from reverie.context.digest.line import DigestLine, DigestTopic
from reverie.context.facts import gather
from reverie.context.facts.values import UserRequest
from reverie.context.prompt import read_prompt
from reverie.context.spans import plain, read_span
from reverie.messages.entries import Entry
from reverie.messages.records import decode_lines
from reverie.messages.view import project
from reverie.models.tokens.estimate import weigh_text
from tests.context.kit import RATES, Session, golden, long_session
from tests.requirements import requirement
from tests.strategies import conversations

SECTIONS = (
    "1. Primary Request and Intent",
    "2. Key Technical Concepts",
    "3. Files and Code Sections",
    "4. Errors and Fixes",
    "5. Problem Solving",
    "6. All User Messages",
    "7. Pending Tasks",
    "8. Current Work",
    "9. Optional Next Step",
)


def weigh(text: str) -> float:
    return weigh_text(text, RATES)


@pytest.fixture(scope="module")
def sample() -> list[Entry]:
    data = files("reverie.apps.demo").joinpath("sample-session.jsonl").read_bytes()
    return list(decode_lines(data))


@requirement("digest:summary:deterministic")
def test_the_summary_of_the_sample_session_reads_as_expected(sample: list[Entry]) -> None:
    golden("digest-summary.md", summary(gather(project(sample).items), limit_tokens=3_000, weigh=weigh))


@requirement("digest:notes:template")
def test_the_notes_of_the_sample_session_read_as_expected(sample: list[Entry]) -> None:
    facts = gather(project(sample).items)
    golden("digest-notes.md", notes(facts, section_tokens=2_000, total_tokens=12_000, weigh=weigh).rstrip("\n"))


@requirement("digest:summary:sections")
def test_a_full_summary_has_the_nine_sections_in_order() -> None:
    session = long_session()
    session.work("TodoWrite", "ok", todos=[{"content": "write the tests", "status": "in_progress"}])
    text = summary(gather(session.view.items), limit_tokens=6_000, weigh=weigh)
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == SECTIONS
    assert text.endswith("- write the tests")


@requirement("digest:summary:limit", "digest:summary:deterministic")
@given(conversations(), st.integers(0, 1_500))
def test_a_summary_is_never_over_its_limit(entries: list[Entry], limit: int) -> None:
    facts = gather(project(entries).items)
    text = summary(facts, limit_tokens=limit, weigh=weigh)
    assert weigh(text) <= limit
    assert text == summary(gather(project(entries).items), limit_tokens=limit, weigh=weigh)


@requirement("digest:summary:deterministic")
def test_of_two_lines_that_tell_as_much_the_first_is_taken_whatever_their_names() -> None:
    """Names are kept in sets, whose order differs from process to process; a sum of floats would depend on it."""
    for number in range(200):
        names = [f"{letter}_{number}" for letter in "abcdef"]
        lines = [
            DigestLine(DigestTopic.STATEMENT, (0,), "some words", frozenset(names[:3])),
            DigestLine(DigestTopic.STATEMENT, (1,), "same words", frozenset(names[3:])),
        ]
        worth = dict(zip(names, [0.1, 0.2, 0.3, 0.1, 0.2, 0.3], strict=True))

        taken = choose(lines, worth, limit_tokens=14, weigh=len)

        assert [line.text for line in taken] == ["some words"]


@requirement("digest:summary:limit")
@pytest.mark.parametrize("limit", [300, 1_000, 3_000])
def test_a_long_session_fits_any_limit_and_uses_it(limit: int) -> None:
    text = summary(gather(long_session(12).view.items), limit_tokens=limit, weigh=weigh)
    assert limit * 0.6 <= weigh(text) <= limit


@requirement("digest:summary:users-words")
def test_every_message_of_the_user_is_there_word_for_word() -> None:
    session = long_session(5)
    session.say("一つだけ：\n\n    keep  this   spacing\n\nplease.")
    facts = gather(session.view.items)
    text = summary(facts, limit_tokens=6_000, weigh=weigh)
    for request in facts.requests:
        assert request.text in text


@requirement("digest:summary:users-words")
@given(st.lists(st.text("abc é\n語", min_size=1, max_size=1_500), min_size=1, max_size=6), st.integers(200, 2_000))
def test_what_is_too_long_keeps_head_tail_and_pointer(texts: list[str], limit: int) -> None:
    requests = [UserRequest(f"{number:08d}-rest", text, 0) for number, text in enumerate(texts)]
    pieces = quote_requests(requests, limit_tokens=limit, weigh=weigh)
    assert len(pieces) == len(requests)
    for request, piece in zip(requests, pieces, strict=True):
        said = request.text.strip("\n")
        assert piece.startswith(f"[{request.uuid[:8]}] ")
        if said not in piece:
            assert said[:50] in piece
            assert said[-50:] in piece
            assert f"read {request.uuid[:8]} for all" in piece


@requirement("digest:summary:users-words")
def test_a_message_that_stays_in_view_is_not_repeated() -> None:
    session = long_session(3)
    facts = gather(session.view.items)
    kept = facts.requests[-1]
    text = summary(facts, limit_tokens=4_000, weigh=weigh, kept_ids={kept.uuid})
    assert f"[{kept.uuid[:8]}] {kept.text}" not in text
    assert all(f"[{one.uuid[:8]}] {one.text}" in text for one in facts.requests[:-1])


@requirement("digest:summary:not-twice")
def test_room_goes_to_what_the_kept_messages_do_not_show() -> None:
    session = Session().say("go")
    for name in ("alpha", "omega"):
        for number in range(30):
            session.reply(f"The function {name}_{number} reads {name}_table_{number} and must not fail.")
    facts = gather(session.view.items)
    beside = "\n".join(f"omega_{n} omega_table_{n}" for n in range(30))
    without = summary(facts, limit_tokens=700, weigh=weigh)
    beside_it = summary(facts, limit_tokens=700, weigh=weigh, beside=beside)
    assert beside_it.count("alpha_table") > without.count("alpha_table")


@requirement("digest:summary:pointers")
def test_every_round_can_be_read_again_by_the_index() -> None:
    session = long_session(8)
    text = summary(gather(session.view.items), limit_tokens=5_000, weigh=weigh)
    spans = re.findall(r"^- \[(\w+)-(\w+)\]", text, re.MULTILINE)
    read = "\n".join(
        read_span(session.entries, weigh=lambda part: round(weigh(part)), first=first, last=last).text
        for first, last in spans
    )
    for item in session.view.items:
        if item.message.tool_uses or item.message.tool_results:
            assert plain(item) in read


@requirement("digest:facts:quoted")
def test_what_the_assistant_said_is_quoted_and_not_retold(sample: list[Entry]) -> None:
    items = project(sample).items
    text = summary(gather(items), limit_tokens=3_000, weigh=weigh)
    said = " ".join(" ".join(item.message.text.split()) for item in items)
    rows = text.split("The assistant said:\n")[1].split("\nCommands:")[0].split("\n")
    assert len(rows) > 3
    for row in rows:
        for sentence in re.split(r"(?<=[.?;]) ", row.removeprefix("- ")):
            assert sentence in said


@requirement("digest:notes:template")
def test_headings_and_instruction_lines_of_the_template_stay() -> None:
    text = notes(gather(long_session(2).view.items), section_tokens=500, total_tokens=3_000, weigh=weigh)
    template = read_prompt("notes_template").split("\n")
    kept = [line for line in text.split("\n") if line.startswith(("# ", "_")) and line in template]
    assert kept == [line for line in template if line]


@requirement("digest:notes:template")
def test_a_template_of_the_users_own_is_filled_where_its_headings_are_known() -> None:
    template = "# Worklog\n_steps_\n\n# Wishes\n_mine_\n"
    text = notes(
        gather(long_session(2).view.items), section_tokens=500, total_tokens=1_000, weigh=weigh, template=template
    )
    assert re.findall(r"^# (.+)$", text, re.MULTILINE) == ["Worklog", "Wishes"]
    assert "read importer_0.py" in text.split("# Wishes")[0]
    assert text.split("# Wishes\n_mine_")[1].strip() == ""


@requirement("digest:notes:limits")
@given(conversations(), st.integers(60, 600), st.integers(400, 3_000))
def test_neither_a_section_nor_the_whole_is_over_its_limit(entries: list[Entry], section: int, total: int) -> None:
    text = notes(gather(project(entries).items), section_tokens=section, total_tokens=total, weigh=weigh)
    assert weigh(text) <= total
    for part in re.split(r"^(?=# )", text, flags=re.MULTILINE)[1:]:
        assert weigh(part.rstrip("\n")) <= section


@requirement("digest:notes:limits")
def test_notes_on_a_long_session_are_within_their_limits() -> None:
    text = notes(gather(long_session(30).view.items), section_tokens=2_000, total_tokens=12_000, weigh=weigh)
    parts = re.split(r"^(?=# )", text, flags=re.MULTILINE)[1:]
    assert max(map(weigh, parts)) <= 2_000
    assert 4_000 <= weigh(text) <= 12_000
