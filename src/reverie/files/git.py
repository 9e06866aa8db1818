"""The one place that runs git on a user's repository, with every way switched off by which it could start a program.

A repository may have come in an archive, with a configuration, hooks and filters of somebody else. So a call inherits
no variable and no configuration of the user, and flags take precedence over the repository's own file. Two things have
names of the repository's choice and cannot be switched off by a flag: filters, and what a submodule configures.
Whoever lets git look at the files of a work tree asks `reverie.files.places.git_programs` first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Unavailable
from reverie.patterns import lazy_regex

if TYPE_CHECKING:
    from subprocess import CompletedProcess

GIT_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    # A repository that lacks objects would fetch them, by a program of its choice.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}
"""What every git process of ours gets, in place of the variables of the user."""
GIT_FLAGS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.pager=cat"),
    *("-c", "log.showSignature=false"),
    *("-c", "submodule.recurse=false"),
    *("-c", "status.submoduleSummary=false"),
    *("-c", "diff.submodule=short"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
    # Who owns it does not matter where nothing of it can run.
    *("-c", "safe.directory=*"),
)
"""Given on every command line. A comparison of contents also needs `--no-ext-diff` and `--no-textconv`."""
_FLAGS_AS_USER = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "safe.directory=*")


_OF_A_REPOSITORY = lazy_regex(
    r"""GIT_(?:
        ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|CONFIG_COUNT|OBJECT_DIRECTORY|DIR|WORK_TREE|GRAFT_FILE
        |IMPLICIT_WORK_TREE|INDEX_FILE|NO_REPLACE_OBJECTS|REPLACE_REF_BASE|PREFIX|SHALLOW_FILE|COMMON_DIR
        |INTERNAL_SUPER_PREFIX|NAMESPACE|QUARANTINE_PATH|TRACE\w*|EXEC_PATH|TEMPLATE_DIR
    )""",
    re.VERBOSE,
)
"""Variables that say which repository git works on, or what it tells: ours to set."""


def transport_environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment of a git that reaches a remote as the user would: with their keys and helpers, asking nothing."""
    kept = {name: value for name, value in inherited.items() if not _OF_A_REPOSITORY.fullmatch(name)}
    return {
        **kept,
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }


def find_git() -> str | None:
    """The path of the `git` program, or None where it is not installed."""
    import shutil

    return shutil.which("git")


def git_environment(program: str, home: Path) -> dict[str, str]:
    """The whole environment of a git process; nothing is inherited."""
    path = os.pathsep.join(dict.fromkeys((str(Path(program).parent), "/usr/bin", "/bin")))
    return {**GIT_ENVIRONMENT, "PATH": path, "HOME": str(home)}


def run_git(directory: Path, *arguments: str, seconds: float = 5.0, as_user: bool = False) -> CompletedProcess[bytes]:
    """Run git in a directory to its end.

    `as_user` lets the user's own configuration count and that of the repository unchanged: only for `config` and
    `rev-parse`, which look at settings and paths and run nothing.

    Raises:
        Unavailable: there is no git, or it took longer than it may.
    """
    program = find_git()
    if program is None:
        raise Unavailable("git is not installed")
    assert not as_user or arguments[0] in ("config", "rev-parse"), arguments
    flags = _FLAGS_AS_USER if as_user else GIT_FLAGS
    environment = git_environment(program, Path.home())
    if as_user:
        environment = {name: value for name, value in environment.items() if not name.startswith("GIT_CONFIG")}
    return run_program([program, *flags, *arguments], directory, environment, seconds)


def ask_git(directory: Path, *arguments: str, seconds: float = 5.0, as_user: bool = False) -> str | None:
    """What git prints; None when it fails, is not there or takes too long."""
    try:
        done = run_git(directory, *arguments, seconds=seconds, as_user=as_user)
    except Unavailable:
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def run_program(
    command: Sequence[str], directory: Path, environment: Mapping[str, str], seconds: float
) -> CompletedProcess[bytes]:
    """Run a git command line to its end, and end all it started when it takes too long.

    Raises:
        Unavailable: it cannot be run, or took longer than it may.
    """
    import signal
    from subprocess import DEVNULL, PIPE, CompletedProcess, Popen, TimeoutExpired  # few commands start a program

    try:
        process = Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        raise Unavailable(f"git cannot be run in {directory}: {problem}") from problem
    with process:
        try:
            out, err = process.communicate(timeout=seconds)
        except BaseException as problem:
            # With whatever it started: a child that holds the pipe would keep us waiting.
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(problem, TimeoutExpired):
                raise Unavailable(f"git took longer than {seconds:.0f} s in {directory}") from problem
            raise
    return CompletedProcess(command, process.returncode, out, err)
