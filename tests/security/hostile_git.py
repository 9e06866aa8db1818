"""Repositories that came in an archive: by git's own rules each makes a mere question run a program."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.security.hostile import Trap


def commondir_elsewhere(made: Trap) -> Path:
    """A checked-out folder with `HEAD` and `commondir`, and the configuration where a clone may bring it."""
    docs = made.project / "docs"
    _missing_object(made, promisor_url=str(made.project))
    store = made.project / "store"
    shutil.move(made.project / ".git", store)
    docs.mkdir()
    (docs / "HEAD").write_text((store / "HEAD").read_text(encoding="utf-8"), encoding="utf-8")
    (docs / "commondir").write_text("../store\n", encoding="utf-8")
    return docs


def commondir_in_git(made: Trap) -> Path:
    """The `.git` of the project says that its configuration lies elsewhere."""
    _committed(made)
    store = made.project / "store"
    shutil.copytree(made.project / ".git", store)
    _set(store / "config", "core", f"fsmonitor = {made.program('fsmonitor')}")
    (made.project / ".git" / "commondir").write_text("../store\n", encoding="utf-8")
    return made.project


def git_file_with_blank(made: Trap) -> Path:
    """The path in the `.git` file ends in a blank; beside it lies an innocent folder without."""
    _committed(made)
    (made.project / ".gitattributes").write_text("*.txt filter=evil\n", encoding="utf-8")
    real = made.project / "meta "
    shutil.move(made.project / ".git", real)
    shutil.copytree(real, made.project / "meta")
    _set(real / "config", 'filter "evil"', f"clean = {made.program('clean')}")
    (made.project / ".git").write_text("gitdir: meta \n", encoding="utf-8")
    return made.project


def long_git_file(made: Trap) -> Path:
    """The `.git` file is longer than anybody expects."""
    _committed(made)
    shutil.move(made.project / ".git", made.project / "meta")
    _set(made.project / "meta" / "config", "core", f"fsmonitor = {made.program('fsmonitor')}")
    (made.project / ".git").write_text("gitdir: meta" + "\n" * 9000, encoding="utf-8")
    return made.project


def hooks_path_with_comment(made: Trap) -> Path:
    return _hooks_path(made, "hk ; comment")


def hooks_path_with_quotes(made: Trap) -> Path:
    return _hooks_path(made, 'h"k"')


def hooks_path_escaped(made: Trap) -> Path:
    return _hooks_path(made, "h\\\nk")


def hook_in_repository(made: Trap) -> Path:
    _committed(made)
    _hook(made, made.project / ".git" / "hooks")
    return made.project


def promisor_upload_pack(made: Trap) -> Path:
    return _missing_object(made, promisor_url=str(made.project))


def promisor_ext(made: Trap) -> Path:
    made_at = _missing_object(made, promisor_url=f"ext::{made.program('ext', reads=False)} %S")
    _set(made_at / ".git" / "config", "protocol", "allow = always")
    return made_at


def submodule(made: Trap) -> Path:
    _committed(made)
    inner = made.project / "inner"
    inner.mkdir()
    made.git("-C", "inner", "init", "-q")
    made.file("inner/x.txt", "x\n")
    made.git("-C", "inner", "add", "x.txt")
    made.git("-C", "inner", "commit", "-q", "-m", "inner")
    made.git("add", "inner")
    made.git("commit", "-q", "-m", "with submodule")
    _set(inner / ".git" / "config", "core", f"fsmonitor = {made.program('submodule')}")
    return made.project


def worktree_settings(made: Trap) -> Path:
    _committed(made)
    _set(made.project / ".git" / "config", "extensions", "worktreeConfig = true")
    _set(made.project / ".git" / "config.worktree", "core", f"fsmonitor = {made.program('worktree')}")
    return made.project


def included(made: Trap) -> Path:
    _committed(made)
    _set(made.project / "more", "core", f"fsmonitor = {made.program('included')}")
    _set(made.project / ".git" / "config", "include", "path = ../more")
    return made.project


def included_on_branch(made: Trap) -> Path:
    _committed(made)
    _set(made.project / "more", "core", f"fsmonitor = {made.program('included')}")
    _set(made.project / ".git" / "config", 'includeIf "onbranch:**"', "path = ../more")
    return made.project


def text_converter(made: Trap) -> Path:
    _committed(made)
    (made.project / ".git" / "info").mkdir(exist_ok=True)
    (made.project / ".git" / "info" / "attributes").write_text("*.txt diff=evil\n", encoding="utf-8")
    _set(made.project / ".git" / "config", 'diff "evil"', f"textconv = {made.program('textconv')}")
    return made.project


def outer_repository(made: Trap) -> Path:
    """The folder in which one works has a broken repository, the one around it a hostile one."""
    _committed(made)
    _set(made.project / ".git" / "config", "core", f"fsmonitor = {made.program('outer')}")
    inner = made.project / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("nonsense", encoding="utf-8")
    return inner


HOSTILE: tuple[Callable[[Trap], Path], ...] = (
    commondir_elsewhere,
    commondir_in_git,
    git_file_with_blank,
    long_git_file,
    hooks_path_with_comment,
    hooks_path_with_quotes,
    hooks_path_escaped,
    hook_in_repository,
    promisor_upload_pack,
    promisor_ext,
    submodule,
    worktree_settings,
    included,
    included_on_branch,
    text_converter,
    outer_repository,
)
"""Each makes a repository and says where one would stand in it."""


def alternates(made: Trap) -> Path:
    """Its objects are also those of a repository elsewhere."""
    _committed(made)
    objects = _private(made) / ".git" / "objects"
    (made.project / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n", encoding="utf-8")
    return made.project


def git_file_to_another(made: Trap) -> Path:
    """The `.git` file names a repository that does not know of this folder."""
    (made.project / ".git").write_text(f"gitdir: {_private(made) / '.git'}\n", encoding="utf-8")
    return made.project


def linked_git(made: Trap) -> Path:
    (made.project / ".git").symlink_to(_private(made) / ".git")
    return made.project


def linked_objects(made: Trap) -> Path:
    _committed(made)
    pack = made.project / ".git" / "objects" / "pack"
    pack.rmdir()
    pack.symlink_to(_private(made) / ".git" / "objects" / "pack")
    return made.project


def linked_references(made: Trap) -> Path:
    """A complaint about a line shows the line."""
    _committed(made)
    (made.project / ".git" / "packed-refs").symlink_to(_private(made) / "secret.txt")
    return made.project


def linked_lock(made: Trap) -> Path:
    _committed(made)
    made.git("worktree", "add", "-q", "../tree")
    (made.project / ".git" / "worktrees" / "tree" / "locked").symlink_to(_private(made) / "secret.txt")
    return made.project


def revisions_file(made: Trap) -> Path:
    _committed(made)
    made.git("config", "blame.ignoreRevsFile", str(_private(made) / "secret.txt"))
    return made.project


LEADING_ELSEWHERE: tuple[Callable[[Trap], Path], ...] = (
    alternates,
    git_file_to_another,
    linked_git,
    linked_objects,
    linked_references,
    linked_lock,
    revisions_file,
)
"""Each makes a repository in which a mere question shows what lies in another folder."""


def _private(made: Trap) -> Path:
    """A repository outside of the project, with a file that nobody here may see."""
    other = made.project.parent / "other"
    other.mkdir(exist_ok=True)
    secret = other / "secret.txt"
    if not secret.exists():
        secret.write_text("private words\n", encoding="utf-8")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", secret.read_text("utf-8")), ("gc", "-q")):
        made.git("-C", str(other), *arguments)
    return other


def _committed(made: Trap) -> None:
    made.git("init", "-q", "-b", "main")
    made.file("data.txt", "one\n")
    made.file("same.txt", "same\n")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "first")
    # Only its time differs, so that git writes its index anew.
    os.utime(made.project / "same.txt", ns=(1, 1))
    # Changed without a change of size, so that git has to look into the file.
    made.file("data.txt", "two\n")
    os.utime(made.project / "data.txt", ns=(1, 1))


def _set(config: Path, section: str, line: str) -> None:
    with config.open("a", encoding="utf-8") as file:
        file.write(f"[{section}]\n\t{line}\n")


def _hooks_path(made: Trap, written: str) -> Path:
    _committed(made)
    _hook(made, made.project / "hk")
    _set(made.project / ".git" / "config", "core", f"hooksPath = {written}")
    return made.project


def _hook(made: Trap, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    hook = folder / "post-index-change"
    hook.write_text(f"#!/bin/sh\n{made.command('hook')}\n", encoding="utf-8")
    hook.chmod(0o755)


def _missing_object(made: Trap, *, promisor_url: str) -> Path:
    """The last commit lacks its tree, and a program would fetch it."""
    _committed(made)
    made.file("data.txt", "three\n")
    made.git("commit", "-q", "-a", "-m", "second")
    git = made.project / ".git"
    head = (git / "refs" / "heads" / "main").read_text(encoding="utf-8").strip()
    (made.project / ".git" / "objects" / head[:2] / head[2:]).chmod(0o600)
    for folder in (git / "objects").iterdir():
        for path in folder.iterdir() if len(folder.name) == 2 else ():
            if folder.name + path.name != head:
                path.unlink()
    config = git / "config"
    text = config.read_text(encoding="utf-8").replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    config.write_text(text, encoding="utf-8")
    _set(config, "extensions", "partialClone = o")
    _set(
        config,
        'remote "o"',
        f"promisor = true\n\turl = {promisor_url}\n\tuploadpack = {made.program('uploadpack', reads=False)}",
    )
    return made.project
