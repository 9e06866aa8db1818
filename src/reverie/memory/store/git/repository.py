"""Where a memory's repository lies, and how a new one is made.

It is `<memory_dir>/.git`, unless the directory is or belongs to somebody else's work tree: then it lies aside.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from reverie.files import write_atomic, write_folder
from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.git.program import SETTINGS, Git

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
}
"""Settings of our own calls, which are nobody else's matter."""


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
    for key, value in SETTINGS:
        if key in _NOT_IN_FILE:
            continue
        section, _, name = key.partition(".")
        lines += [f"[{section}]", f"\t{name} = {value}"]
    lines += ["[user]", "\tname = Reverie", "\temail = reverie@localhost", "\tuseConfigOnly = true"]
    return "\n".join(lines) + "\n"


def _escape_value(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
