"""Where a memory's repository lies, and how a new one is made.

It is `<memory_dir>/.git`, unless the directory belongs to another work tree: then it lies in a folder the caller names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from reverie.memory.git.program import SETTINGS, Git

PRIVATE = "reverie"
"""The folder inside the git directory that holds what is ours alone, and marks the repository as ours."""
EXCLUDED = """\
# Memory tracks Markdown, its archive and its conflict copies; all else is working data.
*
!*/
!*.md
!/.archive/**
!/.conflicts/**
/.index/
/logs/
.[!.]*.md
"""
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol\n"
_IN_ENVIRONMENT_ONLY = {"safe.directory", "diff.external"}


def is_ours(git_directory: Path) -> bool:
    """Whether this repository was made by us."""
    return (git_directory / PRIVATE).is_dir()


def git_directory_of(directory: Path, elsewhere: Path) -> Path:
    """Where the history of a memory directory lies or would lie.

    `elsewhere` is the folder for histories of directories that lie inside another work tree.
    """
    real = directory.resolve()
    inside = real / ".git"
    if is_ours(inside):
        return inside
    if any(os.path.lexists(folder / ".git") for folder in (real, *real.parents)):
        digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
        return elsewhere / f"{real.parent.name or 'root'}-{real.name}-{digest}.git"
    return inside


def make_repository(program: str, git_directory: Path, work_tree: Path) -> Git:
    """Make the repository, complete or not at all; one that exists is left as it is."""
    git = Git(program, git_directory, work_tree)
    if is_ours(git_directory):
        return git
    draft = git_directory.with_name(git_directory.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    git_directory.parent.mkdir(parents=True, exist_ok=True)
    Git(program, draft, work_tree).run("init", "--quiet", "--template=", "--initial-branch=main")
    (draft / "config").write_text(_configuration(git_directory, work_tree), encoding="utf-8")
    (draft / "info").mkdir(exist_ok=True)
    (draft / "info" / "exclude").write_text(EXCLUDED, encoding="utf-8")
    (draft / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    (draft / PRIVATE).mkdir(mode=0o700)
    draft.rename(git_directory)
    return git


def _configuration(git_directory: Path, work_tree: Path) -> str:
    """The repository's own settings; they hold for the user's git too, so `git status` reads files as we do."""
    lines = ["[core]", "\trepositoryFormatVersion = 0", "\tbare = false"]
    if git_directory.parent != work_tree.resolve():
        lines.append(f'\tworktree = "{_escaped(str(work_tree.resolve()))}"')
    for key, value in SETTINGS:
        if key in _IN_ENVIRONMENT_ONLY or key in {"core.pager", "core.editor"}:
            continue
        section, _, name = key.partition(".")
        lines += [f"[{section}]", f"\t{name} = {value}"]
    lines += ["[user]", "\tname = Reverie", "\temail = reverie@localhost", "\tuseConfigOnly = true"]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
