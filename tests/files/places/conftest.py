from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in a folder, untouched by the configuration of this machine."""
    if shutil.which("git") is None:
        pytest.skip("no git here")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "nobody"),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }

    def run(folder: Path, *arguments: str) -> str:
        folder.mkdir(parents=True, exist_ok=True)
        command = ("git", "-c", "protocol.file.allow=always", *arguments)
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
        return done.stdout.decode("utf-8").removesuffix("\n")

    return run


@pytest.fixture
def make_repository(git: Git) -> Callable[[Path], Path]:
    """Make a repository with one commit whose hash depends on its name."""

    def make(folder: Path) -> Path:
        git(folder, "init", "-q", "-b", "main")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"begin {folder.name}")
        return folder

    return make
