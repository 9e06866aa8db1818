"""Names for memories that were only said."""

from __future__ import annotations

import pytest

from reverie.memory.drafts import NAME_CHARS, name_of
from tests.requirements import requirement


@requirement("tui:memory:said")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Never mock the database. It hid a bug.", "Never mock the database"),
        ("use tabs", "use tabs"),
        ("提交说明用中文。不要用英文。", "提交说明用中文"),
    ],
)
def test_the_first_sentence_is_the_name(text: str, name: str) -> None:
    assert name_of(text) == name


@requirement("tui:memory:said")
def test_a_long_sentence_is_cut_between_words() -> None:
    name = name_of("word " * 40)

    assert len(name) <= NAME_CHARS + 1
    assert name.endswith("word…")
