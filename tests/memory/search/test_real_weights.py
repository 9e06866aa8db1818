"""Runs with the real model where it is installed, and says so where it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.memory.search.weights import MODEL_NAME, find_weights
from tests.requirements import requirement

pytest.importorskip("tokenizers", reason="the `semantic` extra is not installed")

_NOTES = (
    ("user", "Pets", "The user owns a golden retriever called Biscuit", "He was adopted from a shelter."),
    ("project", "Release calendar", "Version 4 ships at the end of March", "The audit moved it twice."),
    (
        "reference",
        "Build machines",
        "Continuous integration runs on four machines in Frankfurt",
        "They sleep on Sunday.",
    ),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of its own with the model that the user has installed."""
    installed = Path(os.environ.get("REVERIE_HOME", Path.home() / ".reverie")) / "models"
    weights = find_weights(installed)
    if weights is None:
        pytest.skip(f"no model in {installed}: run `reverie models install` to run this test")
    (tmp_path / "home" / "models").mkdir(parents=True)
    (tmp_path / "home" / "models" / MODEL_NAME).symlink_to(weights)
    return tmp_path / "home"


@requirement("search:vectors:end-to-end")
def test_the_command_finds_a_paraphrase_that_shares_no_word_with_the_memory(home: Path, tmp_path: Path) -> None:
    def reverie(*words: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "REVERIE_HOME": str(home)}
        command = [sys.executable, "-m", "reverie", *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for kind, name, description, body in _NOTES:
        reverie("save", "--type", kind, "--name", name, "--description", description, "--body", body)

    (hit,) = json.loads(reverie("recall", "--json", "--limit", "1", "What breed is my dog?"))["hits"]

    assert hit["name"] == "Pets"
    assert hit["why"].startswith("semantic similarity")
    assert json.loads(reverie("recall", "--json", "How do I sort a list in Python?"))["hits"] == []
