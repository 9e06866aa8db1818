from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from bench.extraction.__main__ import loses_meaning, main
from bench.extraction.labels import read_written

from tests.memory.extraction.kit import candidate

pytest.importorskip("numpy", reason="the `semantic` extra is not installed")


def test_the_weights_were_fitted_to_the_sentences_that_are_there() -> None:
    from bench.extraction.fit import digest

    stored = json.loads((files("reverie.memory.extraction") / "weights.json").read_text(encoding="utf-8"))

    assert stored["fitted_to"] == digest(), "run `python -m bench.extraction.fit`"


def test_there_are_exemplars_of_every_kind_and_none_stands_twice() -> None:
    from bench.extraction.fit import read_exemplars

    exemplars = read_exemplars()

    assert {"feedback", "user", "project", "reference", "task", "quote"} <= {kind for kind, _ in exemplars}
    assert len({text for _, text in exemplars}) == len(exemplars)


def test_a_set_may_label_passages_or_whole_messages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"id": "1", "text": "Never push to main, ever.", "store": True, "kind": "feedback", "why": "a rule"},
        {"id": "2", "text": "Run it again.", "store": False, "kind": None, "why": "for now"},
        {"id": "3", "text": "Hi. I'm a nurse.", "expect": [{"type": "user", "words": "I'm a nurse"}]},
        {
            "id": "4",
            "text": "Hi. I'm a nurse.",
            "before": "Hello",
            "keep": [{"type": "user", "sentence": "I'm a nurse"}],
        },
    ]
    file = tmp_path / "mine.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")

    first, second, third, fourth = read_written(file)

    assert (first.part, [each.type for each in first.wanted], len(first.found)) == ("mine", ["feedback"], 1)
    assert (second.wanted, second.found) == ((), ())
    assert [(each.start, each.end) for each in third.wanted] == [(4, 15)]
    assert fourth.wanted == third.wanted
    assert main(["--set", str(file)]) == 0
    assert "100 %" in capsys.readouterr().out


def test_a_memory_whose_title_says_otherwise_or_whose_quote_was_not_said_has_lost_its_meaning() -> None:
    text = "Never push to main. Run it."
    said = candidate("Never push to main.", name="Never push to main")

    assert not loses_meaning(said, text)
    assert loses_meaning(replace(said, name="Push to main"), text)
    assert loses_meaning(replace(said, quote="Never push to master."), text)


@pytest.mark.program
def test_hardly_any_of_the_messages_that_only_look_like_rules_is_kept_by_the_rules() -> None:
    tempting = [each for each in read_written() if each.part == "tempting"]
    kept = [each.text for each in tempting if each.found]

    assert len(tempting) > 800
    assert len(kept) <= len(tempting) // 100, kept
