"""A memory's repository: where it lies, how a new one is made, and how the `git` program is run in it.

It is `<memory_dir>/.git`, unless the directory is or belongs to somebody else's work tree: then it lies aside.

A memory directory may have come from somewhere else, with a configuration that names programs: hooks, filters, helpers,
a remote from which missing objects are fetched. So git is not shown the repository but a folder of ours, with our
configuration, the references of the repository, and its objects; neither the user's settings nor the repository's own
reach it.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.errors import Unavailable
from reverie.files import write_atomic, write_folder
from reverie.files.git import git_environment, run_program, transport_environment
from reverie.files.places.paths import MemoryFolder
from reverie.values import value

if TYPE_CHECKING:
    from subprocess import CompletedProcess

PRIVATE = "reverie"
"""The folder inside the git directory that holds what is ours alone, and marks the repository as ours."""
EXCLUDED = """\
# Memory tracks Markdown, its archive and its conflict copies; all else is working data.
*
!*/
!*.md
!/.archive/**
!/.conflicts/**
/logs/
.[!.]*.md
"""
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol\nMEMORY.md merge=union\n"
"""Bytes stay as they are; the index is generated, so where a person merges with git, both sides' lines will do."""
_NOT_IN_FILE = {
    "safe.directory",
    "diff.external",
    "core.pager",
    "core.editor",
    "core.filesRefLockTimeout",
    "fastimport.unpackLimit",
    "pack.compression",
}
"""Settings of our own calls, which are nobody else's matter."""
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
_TRANSPORT_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.logAllRefUpdates", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("fetch.writeCommitGraph", "false"),
    ("fetch.unpackLimit", "1"),
)
"""What a user's own settings must not change when a remote is reached."""
_shown: dict[tuple[int, Path], Path] = {}


def is_ours(git_directory: Path) -> bool:
    """Whether this repository was made by us."""
    return (git_directory / PRIVATE).is_dir()


def git_directory_of(folder: MemoryFolder) -> Path:
    """Where the history of a memory directory lies or would lie; never in a repository that somebody else made."""
    inside = folder.directory / ".git"
    # In this order: another process may make ours, whole, at this moment; it must not be taken for a stranger's.
    is_free = not os.path.lexists(inside)
    if is_ours(inside) or (folder.aside == folder.directory and is_free):
        return inside
    return folder.git if folder.aside != folder.directory else folder.state / "history.git"


def make_repository(program: str, git_directory: Path, work_tree: Path) -> Git:
    """Make the repository, complete or not at all; one that exists is left as it is."""
    git = Git(program, git_directory, work_tree)
    if is_ours(git_directory):
        return git
    for old in git_directory.parent.glob(f"{git_directory.name}.new*"):
        shutil.rmtree(old, ignore_errors=True)
    write_folder(git_directory.parent)
    write_folder(work_tree)
    # A git whose caller was killed goes on for a moment; it must not write into the draft of the next one.
    draft = git_directory.with_name(f"{git_directory.name}.new{os.getpid()}")
    Git(program, draft, work_tree, trusts_settings=True).run("init", "--quiet", "--template=", "--initial-branch=main")
    (draft / "config").write_text(_configuration(git_directory, work_tree), encoding="utf-8")
    (draft / "info").mkdir(exist_ok=True)
    (draft / "info" / "exclude").write_text(EXCLUDED, encoding="utf-8")
    (draft / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    (draft / PRIVATE).mkdir(mode=0o700)
    draft.rename(git_directory)
    return git


def follow_work_tree(git_directory: Path, work_tree: Path) -> None:
    """Let a repository that lies aside know where its directory is now."""
    config = git_directory / "config"
    line = f'\tworktree = "{_escape_value(str(work_tree.resolve()))}"\n'
    text = config.read_text(encoding="utf-8")
    if line not in text:
        write_atomic(config, re.sub(r'^\tworktree = ".*"\n', lambda _: line, text, flags=re.MULTILINE))


def _configuration(git_directory: Path, work_tree: Path) -> str:
    """The repository's own settings; they hold for the user's git too, so `git status` reads files as we do."""
    lines = ["[core]", "\trepositoryFormatVersion = 0", "\tbare = false"]
    if git_directory.parent != work_tree.resolve():
        lines.append(f'\tworktree = "{_escape_value(str(work_tree.resolve()))}"')
    for key, setting in SETTINGS:
        if key in _NOT_IN_FILE:
            continue
        section, _, name = key.partition(".")
        lines += [f"[{section}]", f"\t{name} = {setting}"]
    lines += ["[user]", "\tname = Reverie", "\temail = reverie@localhost", "\tuseConfigOnly = true"]
    return "\n".join(lines) + "\n"


def _escape_value(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


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
            stderr = done.stderr.decode("utf-8", "replace").strip()
            raise Unavailable(f"git {arguments[0]} failed in {self.directory}: {stderr or f'exit {done.returncode}'}")
        return done.stdout

    def run_transport(self, *arguments: str, inherited: Mapping[str, str], seconds: float) -> CompletedProcess[bytes]:
        """Run `fetch`, `push` or `ls-remote` as the user would, within a time limit; returns it however it ended.

        The repository's own settings do not count; those of the user do, for keys and credential helpers.
        """
        own = {name: self.environment[name] for name in ("GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE")}
        flags = [argument for key, setting in _TRANSPORT_SETTINGS for argument in ("-c", f"{key}={setting}")]
        command = [self.program, "--no-pager", *flags, *arguments]
        return run_program(command, self.directory, {**transport_environment(inherited), **own}, seconds)

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
