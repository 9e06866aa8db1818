"""The report: nothing in it is typed by hand, and what could not be measured is said."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from bench.__main__ import describe_machine, describe_part, main, run_parts
from bench.chart import chart
from bench.figures import Figure, Result, Row, Table, mean, percentile, read_result, share, spread
from bench.parts import PARTS, README, Part
from bench.render import (
    DATA,
    PICTURES,
    README_FILE,
    REPORT,
    put_into_readme,
    render_pictures,
    render_readme,
    render_report,
)

from tests.requirements import requirement


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return content


@requirement("docs:figures")
def test_the_committed_report_is_its_figures_rendered(committed: dict[str, Any]) -> None:
    assert REPORT.read_text(encoding="utf-8") == render_report(committed), "run `python -m bench.render`"
    drawn = {path.name: path.read_text(encoding="utf-8") for path in PICTURES.glob("*.svg")}
    assert drawn == render_pictures(committed), "run `python -m bench.render`"


@requirement("docs:figures")
def test_the_figures_of_the_readme_are_those_of_the_report(committed: dict[str, Any]) -> None:
    text = README_FILE.read_text(encoding="utf-8")

    assert render_readme(committed) in text, "run `python -m bench.render`"
    assert put_into_readme(text, committed) == text


@requirement("docs:figures")
def test_every_part_has_a_section_with_the_command_that_makes_it(committed: dict[str, Any]) -> None:
    page = render_report(committed)

    assert [each["name"] for each in committed["parts"]] == [part.name for part in PARTS]
    for part in PARTS:
        assert f"\n## {part.title}\n\n`{part.command(is_quick=committed['is_quick'])}`\n" in page
    assert committed["commit"] in page
    assert {shown.part for shown in README} <= {part.name for part in PARTS}


@requirement("docs:figures")
def test_what_was_not_measured_is_said_in_words() -> None:
    table = Table("t", "Title", "How.", "none", [Row("reverie", {"time": Figure(1.0, unit="s")}, is_ours=True)])
    parts = [describe_part(part, is_quick=True, problem="the machine was off") for part in PARTS]
    parts[0] |= {**asdict(Result([table], ["a peer: it is not installed"])), "problem": "", "seconds": 2.0}
    content = {
        "command": "make bench", "is_quick": True, "date": "today", "commit": "abc", "is_changed": False,
        "machine": describe_machine(), "load": [1.0, 2.0], "seconds": 3.0, "parts": parts,
    }  # fmt: skip

    page = render_report(content)

    assert page.count("Not measured: the machine was off.") == len(PARTS) - 1
    assert "- a peer: it is not installed" in page
    assert "| **reverie** | 1 s |" in page
    assert render_readme(content).count("not measured: the machine was off") == sum(
        shown.part != PARTS[0].name for shown in README
    )


@requirement("docs:figures")
def test_a_part_that_fails_is_named_and_loses_nobody_else() -> None:
    broken = [Part(name, name, "bench.no_such_module", is_timed=name == "b") for name in ("a", "b")]
    slow = Part("c", "c", "bench.no_such_module", is_slow=True)

    done, is_interrupted = run_parts([*broken, slow], os.environ, is_quick=True)

    assert {name: each["problem"] for name, each in done.items()} == {
        "a": "it ended with 1",
        "b": "it ended with 1",
        "c": "it is part of a full run only",
    }
    assert not is_interrupted


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["nonsense"])

    assert ended.value.code == 2
    assert "no part nonsense; there are recall, " in capsys.readouterr().err


def test_a_result_is_read_as_it_was_written() -> None:
    rows = [Row("reverie", {"found": share(3, 4), "none": Figure(None)}, is_ours=True), Row("other", {})]
    result = Result([Table("t", "T", "a", "i", rows, "found")], ["b"])

    assert read_result(json.loads(json.dumps(asdict(result)))) == result


def test_figures_have_intervals_and_units() -> None:
    assert str(share(0, 0)) == "–"
    assert str(share(50, 100)) == "50 % (40–60)"
    assert str(spread([3.0, 1.0, 2.0], "ms")) == "2 ms (1–3)"
    assert str(Figure(12_345.0)) == "12,345"
    assert str(Figure(0.0123, unit="$")) == "$0.012"
    alone = mean([("one session", 0.0), ("one session", 1.0)])
    assert (alone.low, alone.value, alone.high) == (0.5, 0.5, 0.5)
    middle = mean([(number, float(number % 2)) for number in range(100)])
    assert middle.low is not None
    assert middle.high is not None
    assert 0.3 < middle.low < 0.5 < middle.high < 0.7
    assert percentile([float(number) for number in range(100)], 0.99, "ms").value == 99.0


def test_a_picture_has_a_bar_for_every_row_with_the_figure() -> None:
    rows = [Row("<ours>", {"found": share(9, 10)}, is_ours=True), Row("b", {"found": share(1, 10)}), Row("c", {})]

    drawn = chart("Found & lost", "found", rows)

    assert drawn.startswith("<svg")
    assert drawn.count(' rx="2"') == 2
    assert "&lt;ours&gt;" in drawn
    assert "Found &amp; lost" in drawn


def test_no_figure_of_the_report_names_a_place_of_the_machine(committed: dict[str, Any]) -> None:
    assert str(Path.home()) not in json.dumps(committed)
