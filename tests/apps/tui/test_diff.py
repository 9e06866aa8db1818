from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from reverie.apps.tui.diff import Folded
from tests.requirements import requirement


@requirement("tui:width:cjk")
@given(st.text("ab 値、é\n", max_size=80), st.integers(2, 30))
def test_long_lines_fill_the_width_and_lose_nothing(text: str, width: int) -> None:
    console = Console(width=width)
    lines = console.render_lines(Folded(Text(text)), console.options, pad=False)
    drawn = ["".join(segment.text for segment in line) for line in lines]
    assert "".join(drawn) == text.replace("\n", "")
    assert all(cell_len(line) <= width for line in drawn)


@requirement("tui:width:cjk")
def test_a_wide_word_goes_on_in_its_own_line() -> None:
    console = Console(width=10)
    lines = console.render_lines(Folded(Text("+a # 新しい値です")), console.options, pad=False)
    assert ["".join(segment.text for segment in line) for line in lines] == ["+a # 新し", "い値です"]
