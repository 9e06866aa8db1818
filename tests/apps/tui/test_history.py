"""What was typed before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.apps.tui.history import Walk, append_input_history, read_input_history
from tests.requirements import requirement

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@requirement("tui:prompt:history")
def test_each_text_stands_once_at_its_last_place(tmp_path: Path) -> None:
    path = tmp_path / "home" / "input.jsonl"
    for text in ("one", "two\nlines", "one"):
        append_input_history(path, text, project=tmp_path, now=NOW)

    assert read_input_history(path) == ["two\nlines", "one"]
    assert path.stat().st_mode & 0o077 == 0, "what was typed is private"


@requirement("tui:prompt:history")
def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "input.jsonl"
    path.write_text('{"text": "good"}\nnot json\n[]\n{"text": 3}\n{"no": 1}\n', encoding="utf-8")

    assert read_input_history(path) == ["good"]
    assert read_input_history(tmp_path / "none.jsonl") == []


@requirement("tui:prompt:history")
@given(st.lists(st.text(min_size=1), max_size=8, unique=True), st.text())
def test_walking_back_and_forth_ends_at_the_draft(texts: list[str], draft: str) -> None:
    walk = Walk(texts)
    back = [text for _ in texts if (text := walk.older(draft)) is not None]
    assert back == texts[::-1]
    assert walk.older(draft) is None
    forth = [text for _ in texts if (text := walk.newer()) is not None]
    assert forth == [*texts[1:], draft] if texts else forth == []
    assert walk.newer() is None
