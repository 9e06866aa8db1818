from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.facts import gather
from reverie.context.receipt import Fate, Sort
from reverie.context.spans import PIN, history
from reverie.context.survive import REMEMBERED, SurvivalLimits, bring_back, divide, facts_of, must_survive
from reverie.messages.message import user
from reverie.messages.view import Item, ItemKind
from tests.context.kit import Session, long_session
from tests.requirements import requirement

ROOM = SurvivalLimits(10_000, 10_000, 10_000, 10_000)


def size(text: str) -> int:
    return len(text) // 3


def summary(text: str) -> Item:
    return Item("s", ItemKind.SUMMARY, user(text))


@requirement("context:survive:list")
def test_the_list_has_every_sort_of_thing_that_must_survive() -> None:
    session = Session().say("Please never use mocks. Build the importer with asyncio.")
    session.attach("instructions", "Contents of CLAUDE.md: be brief")
    session.work("Read", "1\tdef load(): ...", file_path="src/load.py")
    session.work("Bash", "E   KeyError: 'row'\n1 failed", command="pytest", is_error=True)
    session.mark(PIN, uuid=session.uuid())
    session.work("Skill", "ok", skill="release")
    session.work(
        "TodoWrite", "ok", todos=[{"content": "tag it", "status": "pending"}, {"content": "x", "status": "completed"}]
    )
    session.work("ExitPlanMode", "approved", plan="1. parse 2. load")
    found = {(one.sort, one.probe) for one in must_survive(session.entries, skills=["deploy"]).survivors}

    assert (Sort.REQUEST, "Please never use mocks. Build the importer with asyncio.") in found
    assert (Sort.FILE, "src/load.py") in found
    assert (Sort.TASK, "tag it") in found
    assert (Sort.TASK, "x") not in found
    assert (Sort.PLAN, "1. parse 2. load") in found
    assert {(Sort.SKILL, "release"), (Sort.SKILL, "deploy")} <= found
    assert (Sort.INSTRUCTIONS, "Contents of CLAUDE.md: be brief") in found
    assert {Sort.DECISION, Sort.TROUBLE, Sort.PIN} <= {sort for sort, _ in found}


@requirement("context:survive:list")
def test_what_the_view_says_is_kept_and_the_rest_is_brought_back() -> None:
    must = must_survive(long_session(2).entries)
    shown = [summary("We worked on src/importer_0.py after ValueError: row 0 has no key.")]
    carried = bring_back(must, shown, ROOM, size)
    fates = {(line.sort, line.pointer): line.fate for line in carried.lines}

    assert fates[Sort.FILE, "src/importer_0.py"] is Fate.KEPT
    assert fates[Sort.FILE, "src/importer_1.py"] is Fate.BACK
    assert "- src/importer_1.py: read, edited" in carried.text
    assert "- src/importer_0.py" not in carried.text
    assert "importer number 0" in carried.text
    assert "importer number 1" in carried.text


@requirement("context:survive:list")
def test_an_item_that_has_no_id_yet_vouches_for_nothing() -> None:
    session = Session().say("go")
    session.work("TodoWrite", "ok", todos=[{"content": "tag it", "status": "pending"}])
    carried = bring_back(must_survive(session.entries), [Item("", ItemKind.SUMMARY, user("-"))], ROOM, size)

    assert "- [pending] tag it" in carried.text


@requirement("context:survive:list")
def test_a_name_inside_a_longer_name_does_not_count() -> None:
    session = Session().say("go").work("Read", "1\tx = 1", file_path="a.py")
    must = must_survive(session.entries)

    for text, there in [("see data.py", False), ("see lib/a.py", False), ("see a.py.", True), ("`a.py`", True)]:
        kept, _ = divide(must, [summary(text)])
        assert (Sort.FILE in {one.sort for one in kept}) is there, text


@requirement("context:survive:user-text")
def test_a_short_answer_of_the_user_is_not_found_by_accident() -> None:
    session = Session().say("shall we?").reply("Shall I delete it?").say("yes").reply("done")
    must = must_survive(session.entries)
    _, missing = divide(must, [summary("yes, that was all; shall we?")])

    assert [one.text for one in missing if one.sort is Sort.REQUEST] == ["shall we?", "yes"]
    carried = bring_back(must, [summary("yes")], ROOM, size)
    _, missing = divide(must, [summary(carried.text)])
    assert not [one for one in missing if one.sort is Sort.REQUEST]


@requirement("context:survive:user-text")
def test_beyond_the_limit_the_longest_give_way_first_and_keep_both_ends() -> None:
    session = Session()
    session.say("short one about the parser").reply("ok")
    session.say("BEGIN " + "middle " * 400 + "END").reply("ok")
    session.say("another short one on the loader").reply("ok")
    must = must_survive(session.entries)
    carried = bring_back(must, [summary("-")], SurvivalLimits(300, 0, 0, 0), size)
    fates = [line.fate for line in carried.lines if line.sort is Sort.REQUEST]

    assert fates == [Fate.BACK, Fate.PART, Fate.BACK]
    assert "BEGIN" in carried.text
    assert "END" in carried.text
    assert f"the whole message is [{must.short[must.facts.requests[1].uuid]}]" in carried.text
    assert size(carried.text) <= 300 + 60


@requirement("context:survive:user-text")
def test_when_nothing_fits_runs_of_messages_are_listed_by_pointer_and_the_current_one_stays() -> None:
    session = Session()
    for number in range(200):
        session.say(f"remark number {number} about the parser").reply("ok")
    must = must_survive(session.entries)
    carried = bring_back(must, [summary("-")], SurvivalLimits(100, 0, 0, 0), size)
    fates = [line.fate for line in carried.lines if line.sort is Sort.REQUEST]

    assert fates.count(Fate.OUT) > 150
    assert fates[-1] is Fate.BACK
    assert f"{fates.count(Fate.OUT)} messages, from [{must.short[must.facts.requests[0].uuid]}]" in carried.text
    assert size(carried.text) < 300


@requirement("context:survive:list")
def test_errors_and_files_give_way_before_tasks_and_decisions_do() -> None:
    session = Session().say("Please always use tabs in this project. Never touch the vendored folder.")
    for number in range(30):
        session.work("Read", "text", file_path=f"/src/module_{number}.py")
    session.work("TodoWrite", "ok", todos=[{"content": "write the parser tests", "status": "pending"}])
    carried = bring_back(must_survive(session.entries), [summary("-")], SurvivalLimits(0, 0, 200, 40), size)
    fates = {sort: [one.fate for one in carried.lines if one.sort is sort] for sort in Sort}

    assert set(fates[Sort.TASK]) == {Fate.BACK}
    assert 0 < fates[Sort.FILE].count(Fate.BACK) < 10
    assert size("\n".join(row for row in carried.text.split("\n") if "module_" in row)) <= 40 + 10


@requirement("context:survive:list")
def test_a_pinned_reply_comes_back_word_for_word() -> None:
    session = Session().say("what is it?").reply("The number is 4711.\nDo not forget it.")
    session.mark(PIN, uuid=session.uuid())
    carried = bring_back(must_survive(session.entries), [summary("-")], ROOM, size)

    assert "The number is 4711.\nDo not forget it." in carried.text
    assert [line.fate for line in carried.lines if line.sort is Sort.PIN] == [Fate.BACK]


@requirement("context:survive:list")
def test_a_pinned_request_is_not_told_twice() -> None:
    session = Session().say("Remember that the port is 8080 everywhere.").reply("ok")
    session.mark(PIN, uuid=session.uuid(0))
    carried = bring_back(must_survive(session.entries), [summary("-")], ROOM, size)

    assert carried.text.count("the port is 8080") == 1
    assert Fate.OUT not in {line.fate for line in carried.lines}


@requirement("context:survive:list")
@given(st.lists(st.text(min_size=1, max_size=200), max_size=12), st.integers(0, 400))
def test_every_survivor_has_one_line_whatever_the_limits(said: list[str], limit: int) -> None:
    session = Session()
    for text in said:
        session.say(text).reply("ok")
    must = must_survive(session.entries)
    carried = bring_back(must, [summary("-")], SurvivalLimits(limit, limit, limit, limit), size)

    assert sorted((line.sort, line.pointer) for line in carried.lines) == sorted(
        (one.sort, one.pointer) for one in must.survivors
    )
    _, missing = divide(must, [summary(carried.text)])
    told = {(line.sort, line.pointer) for line in carried.lines if line.fate in (Fate.PART, Fate.OUT)}
    assert {(one.sort, one.pointer) for one in missing} <= told


@requirement("digest:facts:fold")
def test_the_facts_of_conversations_that_take_turns_are_their_own() -> None:
    sessions = [Session().say(f"look at module_{number}.py") for number in range(REMEMBERED + 2)]
    for turn in range(3):
        for number, session in enumerate(sessions):
            session.work("Read", f"def load_{number}_{turn}(): ...", file_path=f"/src/module_{number}.py")
            items = history(session.entries)
            assert facts_of(items) == gather(items)
