from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reverie.files.secret_scan.visible import INVISIBLE, without


@given(st.text("ab\u200b\ufeff"), st.sampled_from([INVISIBLE, re.compile("b")]))
def test_every_character_that_stays_leads_back_to_itself(text: str, pattern: re.Pattern[str]) -> None:
    kept, origin = without(pattern, text)

    assert kept == pattern.sub("", text)
    assert [text[origin(place)] for place in range(len(kept))] == list(kept)
    assert [origin(place) for place in range(len(kept))] == sorted({origin(place) for place in range(len(kept))})
