from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.context.prompt import read_prompt
from reverie.context.session_notes import (
    NotesCursor,
    NotesFile,
    build_notes_outcome,
    conversation_tokens,
    cursor,
    find_covered,
    instruction,
    is_due,
    keeps_frame,
    notes_by_structure,
    notes_fork,
    read_notes_file,
    sections,
    shorten_notes,
    warnings,
)
from reverie.context.spans import chain
from reverie.files.places import Places
from reverie.messages.entries import BoundaryEntry, NotesEntry
from reverie.settings import NotesSettings
from tests.context.kit import Session, golden, long_session, resumed
from tests.requirements import requirement

PATH = Path("/home/user/notes/summary.md")
FILE = NotesFile(PATH)
FRAME = FILE.frame


def size(text: str) -> int:
    return len(text) // 4


def filled(**bodies: str) -> str:
    """The frame with text below some headings."""
    parts = []
    for section in sections(FRAME):
        body = bodies.get(section.heading.removeprefix("# ").split()[0].lower(), "")
        parts.append("\n".join(filter(None, (section.heading, section.instruction, body))))
    return "\n\n".join(parts) + "\n"


@requirement("context:notes:trigger")
@pytest.mark.parametrize(
    ("state", "used", "due"),
    [
        (NotesCursor(), 9_999, False),
        (NotesCursor(), 10_000, True),
        (NotesCursor(last_reply_calls=True), 10_000, True),
        (NotesCursor("x", 10_000, 3, True), 14_999, False),
        (NotesCursor("x", 10_000, 3, True), 15_000, True),
        (NotesCursor("x", 10_000, 2, True), 15_000, False),
        (NotesCursor("x", 10_000, 0, False), 15_000, True),
        (NotesCursor("x", 10_000, 9, False), 14_000, False),
    ],
)
def test_notes_are_due_by_size_and_then_by_growth_with_work_or_a_pause(
    state: NotesCursor, used: int, due: bool
) -> None:
    assert is_due(state, used, NotesSettings()) is due
    assert not is_due(state, used, NotesSettings(enabled=False))


@requirement("context:notes:trigger")
def test_the_state_is_read_from_the_transcript_and_survives_a_resume() -> None:
    session = Session().say("go").work("Read", "text").reply("done")
    session.add(NotesEntry(session.envelope(), session.uuid(), 12_000))
    session.say("more").work("Read", "a").call("Read")

    state = cursor(session.entries)

    assert (state.base_tokens, state.tool_calls, state.last_reply_calls) == (12_000, 2, True)
    assert cursor(resumed(session.entries)) == state
    assert not cursor(session.answer("b").reply("quiet").entries).last_reply_calls


@requirement("context:notes:trigger")
def test_after_a_compaction_growth_is_measured_from_the_new_size() -> None:
    session = Session().say("go")
    session.add(NotesEntry(session.envelope(), "x", 160_000))
    session.add(BoundaryEntry(session.envelope(), "auto", 167_000, 20_000))

    assert cursor(session.entries).base_tokens == 20_000
    assert cursor(session.entries, beside_tokens=15_000).base_tokens == 5_000
    assert is_due(cursor(session.reply("quiet").entries), 25_000, NotesSettings())


@requirement("context:notes:frame")
def test_the_template_has_the_ten_headings_each_with_one_italic_line() -> None:
    found = sections(FRAME)

    assert [section.heading.removeprefix("# ") for section in found] == [
        "Session Title", "Current State", "Task specification", "Files and Functions", "Workflow",
        "Errors & Corrections", "Codebase and System Documentation", "Learnings", "Key results", "Worklog",
    ]  # fmt: skip
    assert all(section.instruction.startswith("_") and section.instruction.endswith("_") for section in found)
    assert not any(section.body for section in found)


@requirement("context:notes:limits")
def test_notes_from_structure_keep_their_limits() -> None:
    session = long_session(12, lines=150)
    settings = NotesSettings(section_tokens=300, total_tokens=1_500)
    text = notes_by_structure(session.entries, session.view.leaf, session.scene(), settings, FILE)

    assert keeps_frame(text, FRAME)
    assert session.scene().weigh_text(text) <= 1_500 * 1.02


def update(session: Session, text: str, by: str = "a-model") -> None:
    """Write notes on the conversation as it stands."""
    covers = find_covered(session.view, cursor(chain(session.entries)))
    session.take(build_notes_outcome(text, covers, session.tokens(), by, session.scene(), FILE))


@requirement("context:notes:cursor")
def test_the_cursor_moves_to_the_newest_message_after_a_quiet_reply() -> None:
    session = long_session(2)
    last, tokens = session.view.items[-1].uuid, session.tokens()
    update(session, filled(current="x"))

    state = cursor(resumed(session.entries))
    assert (state.covers, state.base_tokens, state.by) == (last, tokens, "a-model")


@requirement("context:notes:cursor")
def test_within_a_long_turn_the_cursor_moves_to_the_last_round_that_is_complete() -> None:
    session = long_session(1)
    session.say("more").work("Read", "text", file_path="b.py")
    complete = session.view.items[-1].uuid
    session.call("Read", file_path="c.py")
    update(session, filled(current="y"))

    assert cursor(chain(session.entries)).covers == complete
    assert cursor(chain(session.entries)).tool_calls == 0
    session.answer("the rest").reply("done")
    assert find_covered(session.view, NotesCursor()) == session.view.items[-1].uuid


@requirement("context:notes:cursor")
def test_an_update_without_a_text_leaves_the_file_alone() -> None:
    session = long_session(1)

    assert build_notes_outcome("  \n", None, 0, "", session.scene(), FILE).writes == ()


@requirement("context:notes:trigger")
def test_only_what_was_said_and_done_counts() -> None:
    session = Session().attach("instructions", "word " * 9_000).say("hello").reply("hello")
    weigh = session.scene().weigh

    assert 0 < conversation_tokens(session.view, weigh) < 100 < sum(map(weigh, session.view.items))


@requirement("context:notes:limits")
def test_each_limit_that_is_passed_gets_a_warning() -> None:
    settings = NotesSettings(section_tokens=50, total_tokens=200)
    text = filled(current="word " * 60, worklog="short")

    found = warnings(text, settings, size)

    assert "WARNING: the section “Current State”" in found
    assert "Worklog" not in found
    assert "CRITICAL" in found
    assert warnings(filled(current="fine"), NotesSettings(), size) == ""


@requirement("context:notes:custom", "context:notes:limits")
def test_the_users_own_template_and_prompt_replace_ours(tmp_path: Path) -> None:
    places = Places.at(tmp_path / "home", tmp_path / "host")
    places.notes_template.parent.mkdir(parents=True)
    places.notes_template.write_text("# Goal\n_what for_\n\n# Next\n_what then_\n", encoding="utf-8")
    places.notes_prompt.write_text("Write to {{notesPath}} now.\n{{currentNotes}}\n", encoding="utf-8")
    path = tmp_path / "summary.md"
    path.write_text("# Goal\n_what for_\n{{notesPath}} is literal here\n\n# Next\n_what then_\n", encoding="utf-8")
    file = read_notes_file(path, places)
    told = instruction(file, NotesSettings(section_tokens=3), size)

    assert told.startswith(f"Write to {path} now.\n# Goal")
    assert "{{notesPath}} is literal here" in told
    assert "WARNING: the section “Goal”" in told
    assert not file.is_blank
    assert keeps_frame(file.text, file.frame)


@requirement("context:notes:custom")
def test_without_files_everything_is_ours(tmp_path: Path) -> None:
    file = read_notes_file(tmp_path / "none.md", Places.at(tmp_path, tmp_path))

    assert file == NotesFile(tmp_path / "none.md")
    assert file.is_blank
    assert file.frame == read_prompt("notes_template")
    assert NotesFile(PATH, filled()).is_blank
    assert not NotesFile(PATH, filled(current="x")).is_blank


@requirement("context:notes:limits")
def test_as_a_summary_the_notes_lose_instructions_and_empty_sections_and_keep_their_limits() -> None:
    text = filled(current="now " * 10, files="path\n" * 3_000, worklog="done")

    short = shorten_notes(text, NotesSettings(), size, total_tokens=3_000, path=PATH)

    assert "# Current State\nnow" in short
    assert "# Worklog\ndone" in short
    assert "# Learnings" not in short
    assert "_" not in short.replace("session_notes", "")
    assert str(PATH) in short
    assert size(short) <= 3_000


@given(st.integers(1, 400), st.text(max_size=200))
@requirement("context:notes:limits")
def test_shortened_notes_are_within_any_limit(limit: int, body: str) -> None:
    text = filled(current=body, errors=body, worklog=body)

    assert size(shorten_notes(text, NotesSettings(), size, total_tokens=limit, path=PATH)) <= limit + len(
        sections(FRAME)
    )


@requirement("context:notes:frame")
def test_the_fork_may_only_edit_the_notes_file() -> None:
    fork = notes_fork(FILE, NotesSettings(max_rounds=2), size)

    assert (fork.tools, fork.paths, fork.max_rounds) == (("Edit",), (PATH,), 2)


@requirement("context:prompts")
def test_the_question_for_notes_is_golden() -> None:
    golden("notes_prompt.md", notes_fork(FILE, NotesSettings(), long_session(1).scene().weigh_text).prompt)


@requirement("context:notes:frame")
def test_a_comment_in_a_code_block_is_no_heading() -> None:
    text = filled(workflow="```sh\n# run the tests first\nmake test\n```")

    assert keeps_frame(text, FRAME)
