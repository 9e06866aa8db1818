""""""

from __future__ import annotations

import json
import re

from reverie.settings import Declaration
from reverie.settings.describe import as_json, as_markdown, as_text, meaning
from reverie.settings.schema import keys
from tests.requirements import requirement


@requirement("settings:docs:true")
def test_every_key_is_on_the_page_with_a_sentence_of_its_own() -> None:
    page = as_markdown()
    for key in keys().values():
        assert f"| `{key.name}`" in page
        assert re.fullmatch(r"[^ ].*\.", meaning(key)), key.name


@requirement("settings:secrets:never-shown")
def test_what_may_be_a_secret_is_masked() -> None:
    secret = "".join(["s3", "cr", "3t"])
    block = {
        "Stop": [
            {"hooks": [{"type": "http", "url": f"https://me:{secret}@host/?sig={secret}", "headers": {"X": secret}}]},
            {"hooks": [{"type": "command", "command": "run", "env": {"A": secret}, "apiToken": [secret]}]},
        ]
    }
    declared = Declaration(source="user", place="s:1", committed=False, text=json.dumps(block))
    shown = json.dumps(as_json((declared, f"http://{secret}@h/", f"http://h/?a=1&api_key={secret}&b=2")))
    assert secret not in shown
    assert "https://***@host/?sig=***" in shown
    assert "http://h/?a=1&api_key=***&b=2" in shown
    assert '"command": "run"' in shown
    assert secret not in as_text((declared,))


@requirement("settings:cli:origins")
def test_values_are_shown_as_one_writes_them() -> None:
    shown = [as_text(value) for value in (None, True, 5, 200_000, 0.5, "a", ("a", "b"), ())]
    assert shown == ["not set", "true", "5", "200_000", "0.5", '"a"', '["a", "b"]', "[]"]
    declared = Declaration(source="user", place="s:1", committed=False, text='{"Stop": [], "Setup": []}')
    assert as_text((declared,)) == "Stop, Setup (s:1)"
