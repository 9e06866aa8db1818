"""What the status line says at which width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reverie.apps.tui.status_line import MODES, status_text
from reverie.models.tokens.window import WindowLevel
from reverie.session.events import Status
from tests.requirements import requirement

FULL = Status("claude-sonnet-5", 84_000, 180_000, WindowLevel.CALM, 0.93, 0.4213, "default", ("dreaming", "indexing"))


@requirement("tui:status:shows")
def test_everything_is_there_when_there_is_room() -> None:
    line = status_text(FULL, 120).plain

    assert line.startswith("claude-sonnet-5 · ▕████▋·····▏47% of 180k")
    for part in ("cache 93%", "$0.42", "asks first", "2 in background"):
        assert part in line


@requirement("tui:status:shows")
@given(st.integers(20, 200), st.sampled_from(WindowLevel), st.integers(0, 400_000), st.sampled_from([*MODES, "other"]))
def test_the_line_fits_and_keeps_what_matters(width: int, level: WindowLevel, used: int, mode: str) -> None:
    status = Status("claude-sonnet-5", used, 180_000, level, 0.93, 0.4213, mode, ("dreaming",))
    line = status_text(status, width).plain

    assert cell_len(line) <= max(width, len("claude-sonnet-5"))
    assert line.startswith("claude-sonnet-5")
    if width >= 60:
        assert "%" in line
    if width >= 70:
        assert "in background" in line


@requirement("tui:status:shows")
@pytest.mark.parametrize(
    ("level", "word", "style"),
    [
        (WindowLevel.WARNING, "filling", "yellow"),
        (WindowLevel.ERROR, "nearly full", "red"),
        (WindowLevel.BLOCKED, "blocked", "bold red reverse"),
    ],
)
def test_each_level_has_its_word_and_colour(level: WindowLevel, word: str, style: str) -> None:
    text = status_text(Status("m", 150, 180, level), 100)

    assert word in text.plain
    assert style in {str(span.style) for span in text.spans}


@requirement("tui:status:shows")
def test_the_meter_can_be_left_out() -> None:
    line = status_text(FULL, 120, meter=False).plain

    assert "%" not in line
    assert "$" not in line
