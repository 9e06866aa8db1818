from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reverie.context.pipeline import prepare, write_outcome_files
from reverie.context.spill import keep_inline, spill
from reverie.context.stage import NOTHING, StageOutcome
from reverie.files.places.paths import SessionFolder
from reverie.messages.blocks import ToolUse
from reverie.messages.entries import SpillEntry
from reverie.messages.view import Projection
from reverie.settings import SpillSettings
from tests.context.kit import Session, resumed, texts
from tests.requirements import requirement

SMALL = SpillSettings(result_chars=1_000, search_result_chars=300, round_chars=3_000, preview_bytes=200)


def lines(count: int, word: str = "line") -> str:
    return "\n".join(f"{word} {number}" for number in range(count))


def run(session: Session, folder: Path, settings: SpillSettings = SMALL) -> StageOutcome:
    return spill(settings, SessionFolder(folder).spill)(session.view, session.scene())


def decided(outcome: StageOutcome) -> dict[str, bool]:
    """Each call that was decided on, and whether its result was spilled."""
    return {
        one.tool_use_id: one.preview is not None
        for entry in outcome.entries
        if isinstance(entry, SpillEntry)
        for one in entry.decisions
    }


@requirement("context:spill:limits")
def test_a_result_over_the_limit_of_its_tool_is_spilled(tmp_path: Path) -> None:
    session = Session().say("go")
    session.work("Bash", lines(200)).work("Grep", lines(120)).work("Bash", lines(60)).work("Read", lines(300))

    assert decided(run(session, tmp_path)) == {"call_1": True, "call_2": True, "call_3": False, "call_4": False}


@requirement("context:spill:limits")
def test_the_largest_results_of_a_round_go_until_the_rest_fits_together(tmp_path: Path) -> None:
    session = Session().say("go")
    calls = [ToolUse(f"c{n}", "Bash", {}) for n in range(5)]
    session.reply(*calls)
    for number in range(5):
        session.calls = number
        session.say(_result(f"c{number}", "x" * (700 + number)))

    spilled = [call for call, gone in decided(run(session, tmp_path)).items() if gone]

    assert spilled == ["c4"]


def _result(call: str, text: str):  # type: ignore[no-untyped-def]  # a block
    from reverie.messages.blocks import ToolResult

    return ToolResult(call, text)


@requirement("context:spill:limits")
def test_rounds_are_measured_apart(tmp_path: Path) -> None:
    session = Session().say("go")
    for _ in range(6):
        session.work("Bash", "y" * 900)

    assert not any(decided(run(session, tmp_path)).values())


@requirement("context:spill:frozen")
def test_both_decisions_hold_whatever_the_limits_become(tmp_path: Path) -> None:
    session = Session().say("go").work("Bash", lines(200)).work("Bash", lines(20))
    shown = session.take(run(session, tmp_path))

    assert run(session, tmp_path, SpillSettings(result_chars=10)) is NOTHING
    assert run(session, tmp_path, SpillSettings(result_chars=10**6)) is NOTHING
    session.entries = resumed(session.entries)
    assert session.view == shown
    assert run(session, tmp_path, SpillSettings(result_chars=10)) is NOTHING


@requirement("context:spill:honest")
def test_the_preview_says_that_it_is_a_part_and_where_the_whole_is(tmp_path: Path) -> None:
    text = lines(200)
    session = Session().say("go").work("Grep", text, pattern="line")
    outcome = run(session, tmp_path)
    session.take(outcome)
    path = tmp_path / "tool-results" / "call_1.txt"
    preview = session.view.items[-1].message.tool_results[0].text

    assert outcome.writes[0].path == path
    assert outcome.writes[0].content == text
    assert preview.startswith("<persisted-output>")
    assert preview.endswith("</persisted-output>")
    assert str(path) in preview
    assert f"of {len(text):,} bytes, of 200 lines" in preview
    assert hashlib.sha256(text.encode()).hexdigest()[:16] in preview
    assert "line 0\n" in preview
    assert "line 199" not in preview
    assert "lin\n" not in preview.replace("\nline", "")


@requirement("context:spill:honest")
def test_the_preview_of_a_shell_shows_the_end_too_because_errors_come_last(tmp_path: Path) -> None:
    session = Session().say("go").work("Bash", lines(300) + "\nfatal: no space left", command="make")
    session.take(run(session, tmp_path))

    assert "line 0\n" in texts(session.view)
    assert "fatal: no space left" in texts(session.view)


@requirement("context:spill:disk")
def test_a_disk_that_refuses_leaves_the_result_whole(tmp_path: Path) -> None:
    (tmp_path / "tool-results").write_text("a file where the folder should be", encoding="utf-8")
    session = Session().say("go").work("Bash", lines(200))
    projection = Projection().extend(session.entries)

    done = prepare(
        projection,
        session.scene(),
        [spill(SMALL, SessionFolder(tmp_path).spill)],
        lambda _: 0,
        write_outcome_files,
    )

    assert decided(done.outcome) == {"call_1": False}
    assert not done.outcome.writes
    assert "line 199" in texts(projection.view())


@requirement("context:spill:disk")
def test_only_the_refused_file_is_taken_back(tmp_path: Path) -> None:
    session = Session().say("go").work("Bash", lines(200)).work("Bash", lines(201))
    outcome = run(session, tmp_path)

    kept = keep_inline(outcome, {outcome.writes[0].path})

    assert decided(kept) == {"call_1": False, "call_2": True}
    assert len(kept.writes) == 1
    [told], [wanted] = kept.reductions, outcome.reductions
    assert told.items == 1
    assert 0.4 * wanted.freed_tokens < told.freed_tokens < 0.6 * wanted.freed_tokens


@requirement("context:spill:disk")
@pytest.mark.parametrize("call", ["../../etc/passwd", "a/b", "", "x" * 300])
def test_an_id_that_is_no_file_name_keeps_its_result_inline(call: str, tmp_path: Path) -> None:
    session = Session().say("go").reply(ToolUse(call, "Bash", {})).say(_result(call, lines(200)))

    assert decided(run(session, tmp_path)) == {call: False}


@requirement("context:spill:limits")
def test_without_a_place_or_when_switched_off_everything_stays(tmp_path: Path) -> None:
    session = Session().say("go").work("Bash", lines(200))

    assert decided(spill(SMALL, None)(session.view, session.scene())) == {"call_1": False}
    assert run(session, tmp_path, SpillSettings(enabled=False)) is NOTHING
