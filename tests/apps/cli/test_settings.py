from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from reverie.apps.cli.program import cli
from reverie.settings.describe import as_markdown
from tests.requirements import requirement


class Terminal:
    """A user with a home and a project, who types commands."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.user = self.home / ".reverie" / "settings.toml"
        self.committed = self.project / ".reverie" / "settings.toml"
        for path in (self.user, self.committed):
            path.parent.mkdir(parents=True)
        self.user.write_text("[recall]\nmax_files = 3\n[permissions]\ndeny = ['A']\n", encoding="utf-8")
        self.committed.write_text("permissions.deny = ['B']\nmemory.directory = '/x/y'\n", encoding="utf-8")
        self.environ: dict[str, str] = {
            **{name: "" for name in os.environ if name.startswith(("REVERIE_", "CLAUDE_", "DISABLE_"))},
            "HOME": str(self.home),
            "REVERIE_DREAM_MIN_HOURS": "3",
        }

    def run(self, *words: str) -> Result:
        return CliRunner().invoke(
            cli, ["--project", str(self.project), *words], env=self.environ, catch_exceptions=False
        )

    def rows(self, *words: str) -> dict[str, dict[str, Any]]:
        return {row["key"]: row for row in json.loads(self.run(*words, "--json").stdout)}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@requirement("settings:cli:origins")
def test_every_value_is_shown_with_where_it_came_from(terminal: Terminal) -> None:
    rows = terminal.rows("--set", "index.max_lines=9", "settings")
    assert len(rows) > 150
    assert rows["recall.max_files"] == {
        "key": "recall.max_files",
        "value": 3,
        "source": f"user ({terminal.user}:2)",
        "default": 5,
        "type": "a whole number of at least 0",
        "doc": "Maximum memories per turn.",
        "variable": "REVERIE_RECALL_MAX_FILES",
    }
    assert rows["dream.min_hours"]["source"] == "environment (REVERIE_DREAM_MIN_HOURS)"
    assert rows["index.max_lines"]["source"] == "flag (--set)"
    assert rows["recall.min_words"]["source"] == "default"
    assert rows["permissions.deny"]["value"] == ["A", "B"]
    assert rows["permissions.deny"]["source"] == f"user ({terminal.user}:4), project ({terminal.committed}:1)"


@requirement("settings:cli:origins")
def test_people_see_lines_and_programs_see_nothing_but_json(terminal: Terminal) -> None:
    shown = terminal.run("settings", "--changed")
    assert [line.split()[0] for line in shown.stdout.splitlines()] == [
        "recall.max_files",
        "dream.min_hours",
        "permissions.deny",
    ]
    assert f"user ({terminal.user}:2)" in shown.stdout
    assert f"{terminal.committed}:2: `memory.directory` is ignored" in shown.stderr
    assert json.loads(terminal.run("settings", "--json").stdout)


@requirement("settings:cli:origins")
def test_everybody_who_set_a_value_is_shown_on_request(terminal: Terminal) -> None:
    words = ("--set", "recall.max_files=7", "settings", "recall.max_files", "--origin")
    lines = terminal.run(*words).stdout.splitlines()
    assert [line.split() for line in lines[:3]] == [
        ["recall.max_files", "7", "flag", "(--set)"],
        ["flag", "(--set):", "7"],
        ["user", f"({terminal.user}:2):", "3"],
    ]
    assert terminal.rows(*words)["recall.max_files"]["origins"] == [
        {"source": "user", "place": f"{terminal.user}:2", "value": 3},
        {"source": "flag", "place": "--set", "value": 7},
    ]


@requirement("settings:cli:one-key")
def test_a_group_is_shown_by_its_name(terminal: Terminal) -> None:
    assert set(terminal.rows("settings", "clearing.time")) == {
        f"clearing.time.{name}"
        for name in ("enabled", "gap_minutes", "min_fill_fraction", "keep_results", "keep_floor")
    }
    assert terminal.rows("settings", "models") == {}


@requirement("settings:cli:one-key")
def test_one_key_is_shown_with_what_it_means(terminal: Terminal) -> None:
    assert terminal.run("settings", "recall.max_files").stdout.splitlines()[2:] == [
        "Maximum memories per turn.",
        "Takes a whole number of at least 0; default 5; variable REVERIE_RECALL_MAX_FILES.",
    ]


@requirement("settings:cli:one-key", "settings:mistakes:place")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["settings", "recall.max_file"], "unknown setting `recall.max_file`; did you mean `recall.max_files`?"),
        (["--set", "recall.max_files=x", "settings"], "--set: `recall.max_files` takes a whole number"),
    ],
)
def test_a_mistake_ends_with_2_and_says_what_to_do(terminal: Terminal, words: list[str], sentence: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "reverie", *words],
        env={**os.environ, **terminal.environ},
        cwd=terminal.project,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert sentence in ran.stderr


@requirement("settings:secrets:never-shown")
def test_a_password_in_an_address_is_masked(terminal: Terminal) -> None:
    password = "".join(["pa", "ss", "word"])
    terminal.environ["ANTHROPIC_BASE_URL"] = f"http://me:{password}@127.0.0.1:9"
    for words in (("settings", "model"), ("settings", "model", "--json"), ("settings", "model", "--origin")):
        shown = terminal.run(*words).stdout
        assert password not in shown
        assert "http://***@127.0.0.1:9" in shown


@requirement("settings:docs:true")
def test_the_reference_page_is_printed(terminal: Terminal) -> None:
    assert terminal.run("settings", "--markdown").stdout == as_markdown()
