from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.apps.demo.story import sample_key
from tests.requirements import requirement


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demonstration prints."""
    home = tmp_path_factory.mktemp("home")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "COLUMNS": "120"}
    ran = subprocess.run(
        [sys.executable, "-m", "reverie.apps.demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        cwd=home,
        timeout=110,
        check=True,
    )
    assert not list(Path(home).iterdir()), "it leaves nothing behind"
    return ran.stdout


@requirement("demo:runs")
def test_it_learns_once_and_refuses_with_a_reason(shown: str) -> None:
    first, again = re.findall(r"(\d+) new messages in \d+ sessions: saved (\d+), refused (\d+)", shown)

    assert int(first[1]) >= 10
    assert int(first[2]) >= 2
    assert again == ("0", "0", "0")
    assert "holds a secret" in shown
    assert sample_key() not in shown
    assert "curl" not in shown


@requirement("demo:runs")
def test_it_recalls_with_reasons_and_says_nothing_where_nothing_fits(shown: str) -> None:
    mocks, commit, deploy, novel = re.split(r"^> ", shown.split("a dream:", maxsplit=1)[0], flags=re.MULTILINE)[1:]

    assert "mock the database" in mocks
    assert "why:" in mocks
    assert "linter" in commit
    assert "grafana" in deploy
    assert "no relevant memories" in novel


@requirement("demo:runs")
def test_a_dream_proposes_a_diff_and_becomes_one_commit(shown: str) -> None:
    dream = shown.split("a dream:")[1].split("a long session", maxsplit=1)[0]

    assert "+++" in dream
    assert re.search(r"\bdream\b", dream)


@requirement("demo:runs")
def test_a_compaction_shows_its_receipt_and_strategies_are_compared(shown: str) -> None:
    assert re.search(r"Compacted from [\d,]+ to [\d,]+ tokens", shown)
    assert "brought back" in shown
    table = shown.split("under four strategies")[1]
    for strategy in ("default", "truncate", "clear-tools", "summarise"):
        assert re.search(rf"{strategy} +\d+/\d+ .*\$", table)


@requirement("demo:runs", "team:http:join")
def test_two_people_share_a_memory_over_a_server(shown: str) -> None:
    shared = shown.split("two people share a memory")[1]

    assert re.search(r"ada> reverie team push --yes\npushed +project_integration_tests.md", shared)
    assert re.search(r"bob> reverie recall .*\nIntegration tests .*said by ada \(team\)", shared)


@requirement("demo:runs")
def test_without_packages_to_download_it_goes_on_by_words(tmp_path: Path) -> None:
    home, models = tmp_path / "home", tmp_path / "models"
    home.mkdir()
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(home), "UV_OFFLINE": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "reverie.apps.demo", "--vectors", str(models)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "COLUMNS": "120", **offline},
        cwd=home,
        timeout=110,
        check=True,
    )

    assert "the demonstration goes on by words" in ran.stdout
    assert "under four strategies" in ran.stdout
