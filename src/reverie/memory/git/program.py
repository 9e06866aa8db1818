"""Run the `git` program so that nothing of the user's git reaches it.

No configuration, hook, filter, signing or `GIT_*` variable. It knows no topic and no
commit message; callers pass arguments and read bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files.git import git_environment

SETTINGS: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.excludesFile", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.autocrlf", "false"),
    ("core.safecrlf", "false"),
    ("core.fileMode", "false"),
    ("core.symlinks", "false"),
    ("core.precomposeUnicode", "false"),
    ("core.quotePath", "false"),
    ("core.logAllRefUpdates", "false"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("index.version", "2"),
    ("index.skipHash", "false"),
    ("core.splitIndex", "false"),
    ("diff.external", ""),
    ("diff.renameLimit", "0"),
    ("safe.directory", "*"),
)
"""Given on every command line, so that not even the repository's own file can bring a program to run."""

_ENVIRONMENT = {"GIT_DEFAULT_HASH": "sha1", "GIT_DEFAULT_REF_FORMAT": "files", "TZ": "UTC"}
_COMMAND_SETTINGS: tuple[str, ...] = tuple(
    argument for key, value in SETTINGS if value for argument in ("-c", f"{key}={value}")
)


@dataclass(frozen=True, slots=True)
class Git:
    """One repository as the `git` program sees it."""

    program: str
    directory: Path
    """The git directory."""
    work_tree: Path

    def run(self, *arguments: str, stdin: bytes = b"", accept: Iterable[int] = (0,)) -> bytes:
        """Run one command to its end and return what it printed."""
        import subprocess  # a save that starts no git does without

        done = subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, env=self.environment, check=False
        )
        if done.returncode not in accept:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise Unavailable(f"git {arguments[0]} failed in {self.directory}: {said or f'exit {done.returncode}'}")
        return done.stdout

    def command(self, *arguments: str) -> list[str]:
        """The whole command line, for those who run it themselves."""
        return [self.program, "--no-pager", *_COMMAND_SETTINGS, *arguments]

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment a git process gets; nothing is inherited."""
        return {
            **git_environment(self.program, self.directory),
            **_ENVIRONMENT,
            "GIT_DIR": str(self.directory),
            "GIT_WORK_TREE": str(self.work_tree),
        }
