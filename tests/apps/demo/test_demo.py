from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.apps.demo.script import sample_key
from tests.requirements import requirement

pytestmark = [pytest.mark.program, pytest.mark.timeout(600)]
SECONDS = 500


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where somebody lives who has only just heard of it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def shown(home: Path) -> str:
    """What the demonstration prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "reverie.apps.demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "COLUMNS": "100"},
        cwd=home,
        timeout=SECONDS,
        check=True,
    )
    return ran.stdout


def chapter(shown: str, number: int) -> str:
    """The text of one chapter."""
    return re.split(r"^(?:\d  |Look at it)", shown, flags=re.MULTILINE)[number]


@requirement("demo:runs")
def test_it_leaves_nothing_but_its_own_home_and_no_secret(home: Path, shown: str) -> None:
    assert [path.name for path in home.iterdir()] == [".reverie"]
    assert [path.name for path in (home / ".reverie").iterdir()] == ["demo"]
    assert sample_key() not in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert str(home) not in shown


@requirement("demo:runs")
def test_it_learns_and_refuses_with_a_reason(shown: str) -> None:
    weeks = re.findall(r"week \d .* (\d+) sessions +(\d+) learnt .* (\d+) refused", chapter(shown, 1))

    assert len(weeks) == 3
    assert sum(int(learnt) for _, learnt, _ in weeks) >= 10
    told = chapter(shown, 2)
    for reason in ("holds a secret", "judges a person", "already known", "can be read from the repository"):
        assert reason in told
    assert "an order for once " in told
    assert "words of a file " in told
    assert ", kept" not in told


@requirement("demo:runs")
def test_memory_changes_what_the_agent_does(shown: str) -> None:
    before, after = chapter(shown, 3).split("three weeks later")

    assert "mock.Mock()" in before
    assert "nothing recalled" in before
    assert "recalled: Never mock the database" in after
    assert "with connect()" in after
    assert "mock.Mock()" not in after


@requirement("demo:runs")
def test_a_dream_merges_resolves_and_retires(shown: str) -> None:
    told = chapter(shown, 4)

    assert re.search(r"1 merged, 2 archived, 1 changed", told)
    for step in ("merged: ", "contradiction resolved: ", "retired: ", "changed: ", "left for you to decide: "):
        assert step in told
    assert "- We deploy on Tuesdays" in told


@requirement("demo:runs")
def test_strategies_are_compared_by_what_they_forgot_and_cost(shown: str) -> None:
    told = chapter(shown, 5)
    tokens = int(re.search(r"([\d,]+) tokens through", shown)[1].replace(",", ""))  # type: ignore[index]
    rows = re.findall(r"^  (\w[\w ]+?) +\$[\d.]+ +(\d+)", told, re.MULTILINE)
    forgotten = {name: int(lost) for name, lost in rows}

    assert tokens >= 150_000
    assert int(re.search(r"compacted (\d+) times", told)[1]) >= 2  # type: ignore[index]
    assert forgotten["Reverie"] < min(lost for name, lost in forgotten.items() if name != "Reverie")
    kept, without = re.findall(r"\$(\d+\.\d+)", chapter(shown, 6))[:2]
    assert float(kept) < float(without)


@requirement("demo:runs", "team:http:join")
def test_two_people_share_a_memory_over_a_server(shown: str) -> None:
    told = chapter(shown, 7)

    assert re.search(r"mira> reverie team push\n +pushed project_integration_tests.md", told)
    assert re.search(r"tom> reverie recall .*\n +Integration tests .*said by mira \(team\)", told)


@requirement("demo:runs")
def test_without_packages_to_download_it_goes_on_by_words(tmp_path: Path) -> None:
    home, models = tmp_path / "home", tmp_path / "models"
    home.mkdir()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(home), "UV_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "reverie.apps.demo", "--vectors", str(models)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "COLUMNS": "80", **offline},
        cwd=home,
        timeout=SECONDS,
        check=True,
    )

    assert "the demonstration goes on by words" in ran.stdout
    assert "What it costs" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80
