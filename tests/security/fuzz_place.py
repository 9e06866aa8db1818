"""Where made-up commands are run: a hostile project beside a folder that nobody may see, and what they did."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.security.hostile import Trap, trap

OUTSIDE = "outside-" + hashlib.sha256(b"what lies outside").hexdigest()[:16]
"""Stands in files outside of the project and in no command."""
_SECONDS = 5.0
"""A command that waits for more is ended; what it did until then counts."""
_WATCHED = """
__state() {
    declare -p PATH IFS CDPATH HOME ENV BASH_ENV LD_PRELOAD PS4 PROMPT_COMMAND GLOBIGNORE EXECIGNORE TMPDIR REPLY UID \
        POSIXLY_CORRECT LESSOPEN EDITOR GIT_DIR GIT_EXTERNAL_DIFF GIT_SSH_COMMAND LOCPATH HISTFILE \
        BASH_ALIASES FUNCNEST TIMEFORMAT OPTIND OPTARG 2>/dev/null
    declare -F; alias; trap; shopt; set +o; umask; enable -a
}
__before=$(__state)
eval "$1"
[ "$__before" = "$(__state)" ] || /usr/bin/touch "$2"
"""
"""Runs a command as the tool does, and leaves a mark when the shell is not as it was."""
_FOLDERS = (".", "src", "sub", "sub/deep", "bin", "3", "x", "docs")
_SHADOWED = (
    "ls",
    "cat",
    "git",
    "grep",
    "sed",
    "head",
    "sort",
    "wc",
    "find",
    "date",
    "uname",
    "git-x",
    "gpg",
    "git-lfs",
)
_HARMLESS_BUT_NAMED = {
    **dict.fromkeys(
        ("core.editor", "core.sshCommand", "core.askPass", "credential.helper", "sequence.editor"), "./evil"
    ),
    **dict.fromkeys(("difftool.x.cmd", "mergetool.x.cmd", "gui.x", "init.templateDir", "http.proxy"), "./evil"),
    **dict.fromkeys(
        ("alias.x", "alias.st", "alias.status", "alias.log", "alias.whatchanged", "submodule.x.update"), "!./evil"
    ),
    **dict.fromkeys(("remote.o.url", "branch.main.remote", "remote.o.pushurl"), "ext::./evil"),
    "remote.o.fetch": "+refs/*:refs/*",
    "core.hooksPath": "hooks",
    "user.name": "Ada",
    "diff.tool": "x",
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
}
_HOOKS = (
    "pre-commit",
    "post-checkout",
    "reference-transaction",
    "pre-push",
    "fsmonitor-watchman",
    "post-merge",
    "pre-auto-gc",
)


@dataclass(frozen=True)
class Place:
    """A project made to be run in."""

    made: Trap
    directory: Path
    """Where the commands stand."""
    home: Path

    def run(self, command: str) -> bytes:
        """What a command prints, run as the tool runs it."""
        names = ("PAGER", "GIT_PAGER", "LANGUAGE", "CDPATH", "IFS", "x", "file")
        environment = {"PATH": os.defpath, "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TZ": "UTC", "USER": "ada"}
        environment |= dict.fromkeys(names, "")
        process = subprocess.Popen(
            ["bash", "-c", _WATCHED, "bash", command, str(self.made.marks / "shell")],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with process:
            try:
                return process.communicate(timeout=_SECONDS)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return process.communicate()[0]

    def state(self) -> dict[str, str]:
        """Everything that lies here, outside of the project too, each with what would show a change."""
        found: dict[str, str] = {}
        top = self.made.project.parent
        for folder, folders, files in os.walk(top):
            for name in (*folders, *files):
                path = Path(folder, name)
                found[str(path.relative_to(top))] = _shape(path)
        return found


def _shape(path: Path) -> str:
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return f"link to {path.readlink()}"
    if stat.S_ISREG(about.st_mode) and path.name != "index":
        return f"{about.st_mode:o} {about.st_size} {about.st_mtime_ns}"
    # A question may refresh what the index of git knows about times; what it says of contents is not compared.
    return f"{about.st_mode:o}"


def place(folder: Path, build: Callable[[Trap], Path]) -> Place:
    """A new one in a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = trap(folder)
    home, other = folder / "home", folder / "other"
    home.mkdir()
    other.mkdir()
    (home / ".gitconfig").write_text(f"[user]\n\tsigningkey = {OUTSIDE}\n", encoding="utf-8")
    (other / "secret.txt").write_text(f"{OUTSIDE} alpha\n", encoding="utf-8")
    _fill(made)
    directory = build(made)
    _lay_traps(made)
    return Place(made, directory, home)


def ordinary(made: Trap) -> Path:
    """A repository that may be asked: all that its settings name is for something else than a question."""
    made.git("init", "-q", "-b", "main")
    made.git("add", "a.txt", "b.txt", "src", "sub/x.txt")
    made.git("commit", "-q", "-m", "first")
    made.git("tag", "v1")
    made.file("a.txt", "alpha 2\n./evil #]/\nsh evil #]\nb\n")
    made.git("commit", "-q", "-a", "-m", "second")
    made.file("b.txt", "beta 2\n")
    for key, value in _HARMLESS_BUT_NAMED.items():
        made.git("config", key, value)
    for name in _HOOKS:
        made.file(f"hooks/{name}", f"#!/bin/sh\n{made.command(name)}\n").chmod(0o755)
    return made.project


def no_repository(made: Trap) -> Path:
    return made.project


def _fill(made: Trap) -> None:
    for name in ("a.txt", "b.txt", "f1", "sub/x.txt", "sub/deep/y.txt", "a b.txt", "-dash"):
        made.file(name, "alpha\n./evil\n./evil #]/\nsh evil #]\nbeta 1 2\nx\n")
    made.file("src/app.py", "def main():\n    return 'alpha'\n")
    made.file("data.json", '{"a": [1, 2], "b": "./evil"}\n')
    for name in ("list", "@list", "sub/@l"):
        made.file(name, "../other/secret.txt\n")
    for name, target in {"out": "../other", "link.txt": "../other/secret.txt", "up": "..", "a": "sub/deep"}.items():
        (made.project / name).symlink_to(target)
    (made.project / "sub" / "up").symlink_to("../..")
    (made.project / "loop").symlink_to("loop")


def _lay_traps(made: Trap) -> None:
    for folder in _FOLDERS:
        for name in ("evil", *(_SHADOWED if folder in ("bin", "3", "x") else ())):
            made.file(f"{folder}/{name}", f"#!/bin/sh\n{made.command(f'{name}')}\n").chmod(0o755)
