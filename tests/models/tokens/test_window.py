from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.models.tokens.window import Buffers, WindowLevel, budget, effective_tokens
from tests.requirements import requirement


@requirement("tokens:window:levels")
@pytest.mark.parametrize(
    ("window", "lines"),
    [
        (200_000, (180_000, 167_000, 133_600, 150_300, 177_000, 162_000, 171_000)),
        (1_000_000, (980_000, 967_000, 773_600, 870_300, 977_000, 882_000, 931_000)),
    ],
)
def test_the_lines_of_the_usual_windows(window: int, lines: tuple[int, ...]) -> None:
    drawn = budget(window, 64_000)
    assert lines == (
        drawn.effective_tokens,
        drawn.compact_at_tokens,
        drawn.warning_tokens,
        drawn.error_tokens,
        drawn.blocking_tokens,
        drawn.collapse_stage_tokens,
        drawn.collapse_run_tokens,
    )


@requirement("tokens:window:levels")
@pytest.mark.parametrize(
    ("used", "level"),
    [
        (0, WindowLevel.CALM),
        (133_600, WindowLevel.CALM),
        (133_601, WindowLevel.WARNING),
        (150_300, WindowLevel.WARNING),
        (150_301, WindowLevel.ERROR),
        (167_000, WindowLevel.ERROR),
        (167_001, WindowLevel.COMPACT),
        (177_000, WindowLevel.COMPACT),
        (177_001, WindowLevel.BLOCKED),
        (300_000, WindowLevel.BLOCKED),
    ],
)
def test_a_line_is_crossed_above_it_and_not_at_it(used: int, level: WindowLevel) -> None:
    assert budget(200_000, 64_000, used_tokens=used).level is level


def test_a_model_that_writes_little_keeps_more_of_its_window() -> None:
    assert effective_tokens(200_000, 8_192) == 191_808


@requirement("tokens:window:order")
@given(st.integers(1_000, 5_000_000), st.none() | st.integers(1, 500_000))
def test_the_lines_keep_their_order_on_every_window(window: int, max_output: int | None) -> None:
    drawn = budget(window, max_output)
    assert 0 < drawn.warning_tokens < drawn.error_tokens < drawn.compact_at_tokens < drawn.blocking_tokens
    assert drawn.blocking_tokens < drawn.effective_tokens <= drawn.window_tokens
    assert drawn.collapse_stage_tokens < drawn.collapse_run_tokens < drawn.effective_tokens


@given(st.integers(0, 2_000_000))
def test_the_share_left_is_never_below_nothing(used: int) -> None:
    left = budget(200_000, used_tokens=used).percent_left
    assert 0 <= left <= 100
    assert left == pytest.approx(max(0, (167_000 - used) / 167_000 * 100))


def test_without_automatic_compaction_the_effective_window_is_the_measure() -> None:
    drawn = budget(200_000, compacts=False).using(170_000)
    assert drawn.level is WindowLevel.ERROR
    assert drawn.percent_left == pytest.approx(10_000 / 180_000 * 100)
    assert drawn.must_compact


def test_automatic_compaction_may_act_as_if_the_window_were_smaller() -> None:
    drawn = budget(1_000_000, 64_000, compact_window_tokens=200_000)
    assert drawn.compact_at_tokens == 167_000
    assert drawn.blocking_tokens == 977_000
    assert budget(200_000, 64_000, compact_window_tokens=1_000_000) == budget(200_000, 64_000)


def test_collapse_has_its_two_lines() -> None:
    drawn = budget(200_000, 64_000)
    assert not drawn.using(162_000).must_stage_collapse
    assert drawn.using(162_001).must_stage_collapse
    assert not drawn.using(171_000).must_run_collapse
    assert drawn.using(171_001).must_run_collapse


def test_every_number_can_be_set() -> None:
    drawn = budget(100_000, buffers=Buffers(10_000, 5_000, 1_000, 0.5, 0.6, 0.7, 0.8))
    assert (drawn.effective_tokens, drawn.compact_at_tokens, drawn.blocking_tokens) == (90_000, 85_000, 89_000)
    assert (drawn.warning_tokens, drawn.error_tokens) == (42_500, 51_000)
    assert (drawn.collapse_stage_tokens, drawn.collapse_run_tokens) == (63_000, 72_000)
