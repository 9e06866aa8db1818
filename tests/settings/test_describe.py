from __future__ import annotations

import re
from pathlib import Path

from reverie.settings.describe import as_markdown, meaning
from reverie.settings.schema import keys
from tests.requirements import requirement

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


@requirement("settings:docs:true")
def test_the_reference_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == as_markdown(), "run `reverie settings --markdown > docs/settings.md`"


@requirement("settings:docs:true")
def test_every_key_is_on_the_page_with_a_sentence_of_its_own() -> None:
    page = as_markdown()
    for key in keys().values():
        assert f"| `{key.name}`" in page
        assert re.fullmatch(r"[^ ].*\.", meaning(key)), key.name
