from __future__ import annotations

import io
import json
from datetime import date, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from rich.console import Console

from reverie import __version__
from reverie.apps.demo.chapters import describe_step
from reverie.apps.demo.compare import COMPARED, compare_strategies
from reverie.apps.demo.home import WEEKS, first_monday, open_demo_home
from reverie.apps.demo.migration import migration_turns
from reverie.apps.demo.page import Page, cut, wrap
from reverie.apps.demo.project import BANKS, write_project
from reverie.apps.demo.script import read_story, sample_key
from reverie.memory.dream.tidy import TidyContext, tidy
from reverie.settings import Settings
from tests.memory.dream.kit import text
from tests.requirements import requirement

SAMPLE = Path(str(files("reverie.apps.demo") / "sample-session.jsonl"))


@requirement("demo:runs")
def test_every_session_of_the_story_can_be_played() -> None:
    story = read_story(Path("/project"))

    assert [session.day for session in story] == sorted(session.day for session in story)
    assert all(turn.actions[-1].text and not turn.actions[-1].tool_calls for one in story for turn in one.turns)
    assert any(sample_key() in turn.text for session in story for turn in session.turns)


@requirement("demo:runs")
def test_the_long_session_finds_what_it_replaces(tmp_path: Path) -> None:
    write_project(tmp_path, now=datetime(2026, 5, 4, 8).astimezone())

    for bank in BANKS:
        assert bank.old_reader in (tmp_path / bank.path).read_text()
        assert bank.is_usual == (bank.new_reader() == bank.new_reader(usual=True))
    assert len(migration_turns(tmp_path)) == len(BANKS)


@requirement("demo:runs")
@pytest.mark.parametrize("day", range(16, 23))
def test_the_story_ends_before_this_week_and_is_not_older_than_a_month(day: int) -> None:
    today = date(2026, 11, day)
    monday = first_monday(today)

    assert monday.weekday() == 0
    assert today - timedelta(days=30) < monday
    assert monday + timedelta(days=7 * WEEKS) <= today


@requirement("demo:runs")
def test_a_home_that_is_there_is_opened_and_not_made_again(tmp_path: Path) -> None:
    now = datetime(2026, 11, 17, 9).astimezone()
    mark = {"format": 1, "version": __version__, "monday": first_monday(now.date()).isoformat()}
    (tmp_path / "complete.json").write_text(json.dumps(mark))

    home = open_demo_home(tmp_path, now, lambda *_: pytest.fail("it is made again"))

    assert home.clock.at(0, 8).date() == first_monday(now.date())


@requirement("demo:runs")
def test_all_strategies_are_asked_the_same() -> None:
    results = compare_strategies(SAMPLE, "claude-sonnet-4-5", Settings(), 8_000)

    assert [each.name for each in results] == list(COMPARED.values())
    assert len({each.survival.expected for each in results}) == 1
    assert len({each.requests for each in results}) == 1
    assert all(set(each.survival.lost) <= set(each.survival.absent) for each in results)
    assert all(0 < each.cost_usd < each.uncached_usd for each in results)


@requirement("demo:runs")
def test_steps_of_a_dream_are_told_by_names() -> None:
    texts = {
        "old.md": text("old.md", "We deploy on Tuesdays.", name="Tuesdays", observed=date(2026, 5, 4)),
        "new.md": text("new.md", "We deploy on Thursdays from now on.", name="Thursdays", observed=date(2026, 5, 6)),
    }

    (step,) = tidy(texts, TidyContext(today=date(2026, 5, 8))).steps

    told = "contradiction resolved: “Thursdays”, of 2026-05-06, takes the place of “Tuesdays”"
    assert describe_step(step) == told


@requirement("demo:runs")
def test_nothing_is_wider_than_the_terminal() -> None:
    printed = io.StringIO()
    page = Page(Console(file=printed, width=40, highlight=False))

    page.head("A title")
    page.say("words " * 30)
    page.line("导入失败的时候不要静默跳过，因为财务部门必须看到每一笔被拒绝的记录。")
    page.rows([("name", "1", "x" * 90), ("longer name", "10", "")], right=(1,))

    assert all(len(line) <= 40 for line in printed.getvalue().splitlines())
    assert cut("一二三四五", 6) == "一二…"
    assert wrap("one two three", 7) == ["one two", "three"]
