from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.files.git import ask_git
from reverie.files.places.git_programs import configured_programs, may_look_at_files
from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Policy
from reverie.session.opening_prompt import git_status
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.security.hostile import Trap, trap
from tests.security.hostile_git import (
    HOSTILE,
    LEADING_ELSEWHERE,
    commondir_in_git,
    git_file_with_blank,
    promisor_upload_pack,
)
from tests.security.test_hostile_repository import asked, provider

QUESTIONS = ("git status", "git diff", "git log -p")


def verdict(command: str, directory: Path, project: Path) -> PermissionVerdict:
    policy = Policy(project, project.parent, roots=(project,))
    return decide(Need("Bash", Act.RUN, command=command, directory=directory), policy).verdict


def run_plainly(command: str, directory: Path, home: Path) -> bytes:
    environment = {"PATH": os.defpath, "HOME": str(home), "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(command.split(), cwd=directory, env=environment, capture_output=True, check=False, timeout=30)
    return done.stdout + done.stderr


@requirement("security:repository:git", "security:repository:git-by-git")
@pytest.mark.parametrize("make", HOSTILE, ids=lambda make: make.__name__)
async def test_a_repository_from_an_archive_starts_nothing(made: Trap, make: Callable[[Trap], Path]) -> None:
    directory = make(made)

    async def ask(arguments: tuple[str, ...]) -> str | None:
        return ask_git(directory, *arguments, as_user=arguments[0] == "config")

    assert {verdict(question, directory, made.project) for question in QUESTIONS} == {PermissionVerdict.ASK}
    await git_status(ask, looks_at_files=may_look_at_files(directory))
    assert made.sprung == [], "neither our own questions nor the judging of them run anything"

    for question in QUESTIONS:
        run_plainly(question, directory, made.project.parent)
    assert made.sprung, "the trap is one: git as a user runs it springs it"


@requirement("security:repository:elsewhere")
@pytest.mark.parametrize("make", LEADING_ELSEWHERE, ids=lambda make: make.__name__)
def test_a_repository_that_would_show_another_folder_is_asked_about(made: Trap, make: Callable[[Trap], Path]) -> None:
    directory = make(made)
    questions = (
        "git log",
        "git cat-file --batch-all-objects --batch",
        "git worktree list --porcelain",
        "git blame data.txt",
        "git show-ref",
    )

    assert {verdict(question, directory, made.project) for question in questions} == {PermissionVerdict.ASK}
    shown = b"".join(run_plainly(question, directory, made.project.parent) for question in questions)
    assert b"private words" in shown, "it would be shown"


@requirement("security:repository:git", "security:repository:nothing-runs")
@pytest.mark.parametrize("make", [commondir_in_git, git_file_with_blank, promisor_upload_pack])
def test_opening_a_session_there_starts_nothing(made: Trap, victim: Terminal, make: Callable[[Trap], Path]) -> None:
    make(made)
    with provider() as running:
        ran = asked(victim, "hello", running)

    assert ran.code == 0, ran.err
    assert made.sprung == []


@requirement("security:repository:git-by-git")
def test_an_ordinary_repository_is_asked_without_a_question(made: Trap) -> None:
    made.git("init", "-q", "-b", "main")
    made.file("data.txt", "one\n")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "first")
    made.git("worktree", "add", "-q", "../tree")
    made.git("clone", "-q", ".", "../clone")
    for key, value in {
        "user.name": "Ada",
        "core.hooksPath": ".husky/_",
        "core.sshCommand": "ssh -i key",
        "remote.origin.url": "https://example.org/x.git",
        "branch.main.vscode-merge-base": "origin/main",
        "filter.lfs.process": "git-lfs filter-process",
        "filter.lfs.required": "true",
        "alias.st": "status",
        "credential.helper": "store",
        "diff.algorithm": "histogram",
        "submodule.lib.url": "https://example.org/lib.git",
        "blame.ignoreRevsFile": ".git-blame-ignore-revs",
    }.items():
        made.git("config", key, value)
    below = made.project / "src" / "deep"
    below.mkdir(parents=True)

    for directory in (made.project, below, made.project.parent / "tree", made.project.parent / "clone"):
        assert configured_programs(directory) == frozenset()
        assert may_look_at_files(directory)
        assert {verdict(question, directory, directory) for question in QUESTIONS} == {PermissionVerdict.ALLOW}


@requirement("security:repository:git-by-git")
def test_a_submodule_as_git_makes_it_is_asked_without_a_question(made: Trap) -> None:
    library = trap(made.project.parent / "marks")
    library.git("init", "-q", "-b", "main")
    library.git("commit", "-q", "--allow-empty", "-m", "first")
    made.git("init", "-q", "-b", "main")
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.project), "lib")

    assert configured_programs(made.project) == frozenset()
    assert configured_programs(made.project / "lib") == frozenset()


@requirement("security:repository:git-by-git")
def test_a_work_tree_that_is_configured_to_lie_elsewhere_is_asked_about(made: Trap) -> None:
    """`git diff` would show the files of another folder."""
    made.git("init", "-q", "-b", "main")
    made.git("config", "core.worktree", str(made.project.parent))

    assert verdict("git diff", made.project, made.project) is PermissionVerdict.ASK


@requirement("security:repository:git-by-git")
@pytest.mark.parametrize("key", ["core.newProgram", "hook.x.command", "future.thing", "lfs.extension.x.clean"])
def test_a_setting_that_nobody_knows_is_asked_about(made: Trap, key: str) -> None:
    made.git("init", "-q")
    made.git("config", key, "x")

    assert verdict("git status", made.project, made.project) is PermissionVerdict.ASK
