"""Run the `git` program so that neither the user's git nor the repository's own settings reach it.

A memory directory may have come from somewhere else, with a configuration that names programs: hooks, filters, helpers,
a remote from which missing objects are fetched. So git is not shown the repository but a folder of ours, with our
configuration, the references of the repository, and its objects. It knows no topic and no commit message; callers pass
arguments and read bytes.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from reverie.errors import Unavailable
from reverie.files.git import git_environment
from reverie.values import value

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
    ("core.filesRefLockTimeout", "3000"),
    ("fastimport.unpackLimit", "0"),
    ("pack.compression", "1"),
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

_CONFIGURATION = "[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n"
_SHOWN = ("refs", "packed-refs", "logs", "worktrees")
"""What of a repository git gets to see, beside its objects."""
_HEAD = re.compile(r"(?:ref: refs/heads/[^\s~^:?*\[\\]+|[0-9a-f]{40})\s*\Z")
_ENVIRONMENT = {"GIT_DEFAULT_HASH": "sha1", "GIT_DEFAULT_REF_FORMAT": "files", "TZ": "UTC"}
_COMMAND_SETTINGS: tuple[str, ...] = tuple(
    argument for key, value in SETTINGS if value for argument in ("-c", f"{key}={value}")
)


@value
class Git:
    """One repository as the `git` program sees it."""

    program: str
    directory: Path
    """The git directory."""
    work_tree: Path
    trusts_settings: bool = False
    """Whether the settings of the repository count: only while one of ours is made."""

    def run(self, *arguments: str, stdin: bytes = b"", accept: Iterable[int] = (0,)) -> bytes:
        """Run one command to its end and return what it printed."""
        import subprocess  # what starts no git does without

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
        environment = {
            **git_environment(self.program, self.directory),
            **_ENVIRONMENT,
            "GIT_DIR": str(self.directory),
            "GIT_WORK_TREE": str(self.work_tree),
        }
        return (
            environment if self.trusts_settings else self._show_in(_make_shown_directory(self.directory), environment)
        )

    def detached_environment(self, folder: Path) -> dict[str, str]:
        """As `environment`, for a process that lives longer than this one and uses a folder of its own."""
        return self._show_in(folder, self.environment)

    def _show_in(self, folder: Path, environment: dict[str, str]) -> dict[str, str]:
        write_shown(folder, self.directory)
        objects, index = str(self.directory / "objects"), str(self.directory / "index")
        own = {"GIT_DIR": str(folder), "GIT_OBJECT_DIRECTORY": objects, "GIT_INDEX_FILE": index, "HOME": str(folder)}
        return {**environment, **own}


_shown: dict[tuple[int, Path], Path] = {}


def _make_shown_directory(directory: Path) -> Path:
    """The folder in which a repository is shown to git, one for each process."""
    import tempfile

    key = os.getpid(), directory
    if key not in _shown:
        _shown[key] = Path(tempfile.mkdtemp(prefix="reverie-git-"))
        atexit.register(_remove_shown, os.getpid(), _shown[key])
    return _shown[key]


def _remove_shown(process: int, folder: Path) -> None:
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def write_shown(folder: Path, directory: Path) -> None:
    """Let a folder show a repository: its references, and nothing that could make git run a program."""
    if not (folder / "config").exists():
        for name in _SHOWN:
            (folder / name).symlink_to((directory / name).absolute())
        (folder / "config").write_text(_CONFIGURATION, encoding="ascii")
    try:
        head = (directory / "HEAD").read_text(encoding="utf-8", errors="replace")
    except OSError:
        head = ""
    (folder / "HEAD").write_text(head if _HEAD.match(head) else "ref: refs/heads/main\n", encoding="utf-8")
