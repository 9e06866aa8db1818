"""Finds the repository around a path by reading a few small files, without running git.

Worktrees of one repository share its main root. A `.git` that points elsewhere is believed only when the other side
points back: else a folder from outside could pose as any project and be given that project's memories.

The repository's configuration file is read in the same way, without trusting it; remote URLs are normalised, so that
one repository has one spelling.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from reverie.files import is_inside, read_small
from reverie.patterns import lazy_regex
from reverie.values import value


@value
class Checkout:
    """A work tree and the repository it belongs to."""

    top: Path
    """The folder that holds `.git`."""
    root: Path
    """The main work tree, the same for all worktrees; a bare repository stands for itself."""
    git_dir: Path | None
    """The repository's own folder, shared by worktrees; None when it cannot be shown to belong to this checkout."""


def find_checkout(path: Path) -> Checkout | None:
    """The innermost checkout that holds the path; None outside of git. A submodule is a checkout of its own."""
    real = Path(os.path.realpath(path))
    return next((checkout for folder in (real, *real.parents) if (checkout := _checkout_at(folder))), None)


def project_root(path: Path) -> Path:
    """The main root of the repository around the path; outside of git the real path itself."""
    checkout = find_checkout(path)
    return checkout.root if checkout else Path(os.path.realpath(path))


def list_worktrees(checkout: Checkout) -> tuple[Path, ...]:
    """The tops of all work trees of the repository that still exist, the main one first."""
    if checkout.git_dir is None:
        return (checkout.top,)
    linked = []
    for notes in sorted((checkout.git_dir / "worktrees").glob("*/gitdir")):
        top = _read_path(notes, relative_to=notes.parent)
        if (
            top is not None
            and (main_checkout := _checkout_at(top.parent))
            and main_checkout.git_dir == checkout.git_dir
        ):
            linked.append(main_checkout.top)
    return (checkout.root, *linked)


def _checkout_at(folder: Path) -> Checkout | None:
    dot_git = folder / ".git"
    try:
        kind = stat.S_IFMT(dot_git.lstat().st_mode)
    except OSError:
        return None
    if kind == stat.S_IFLNK:
        return Checkout(folder, folder, None)
    if kind == stat.S_IFDIR:
        return Checkout(folder, folder, dot_git) if os.path.lexists(dot_git / "HEAD") else None
    git_dir = _read_git_file(folder)
    return _checkout_elsewhere(folder, git_dir) if git_dir is not None else None


def _checkout_elsewhere(folder: Path, git_dir: Path) -> Checkout:
    """A checkout whose `.git` is a file: a worktree, a submodule, or a repository kept in another folder."""
    common_dir = _read_path(git_dir / "commondir", relative_to=git_dir)
    if common_dir is None:
        is_ours = is_inside(folder, git_dir) or _configured_work_tree(git_dir) == folder
        return Checkout(folder, folder, git_dir if is_ours else None)
    points_back = _read_path(git_dir / "gitdir", relative_to=git_dir)
    if points_back != folder / ".git" or git_dir.parent != common_dir / "worktrees":
        return Checkout(folder, folder, None)
    return Checkout(folder, _main_work_tree(common_dir), common_dir)


def _main_work_tree(common_dir: Path) -> Path:
    for folder in (common_dir.parent, _configured_work_tree(common_dir)):
        if folder is not None and common_dir in (folder / ".git", _read_git_file(folder)):
            return folder
    return common_dir


def _configured_work_tree(git_dir: Path) -> Path | None:
    configured = read_git_config(git_dir / "config").get("core.worktree")
    return Path(os.path.realpath(git_dir / configured)) if configured else None


def _read_git_file(folder: Path) -> Path | None:
    return _read_path(folder / ".git", prefix="gitdir: ", relative_to=folder)


def _read_path(file: Path, *, relative_to: Path, prefix: str = "") -> Path | None:
    """The path that stands in one of git's one-line files."""
    content = read_small(file, limit_bytes=8192)
    if content is None or b"\0" in content or not content.startswith(prefix.encode()):
        return None
    # A blank at the end belongs to the path, as it does for git.
    return Path(os.path.realpath(relative_to / os.fsdecode(content[len(prefix) :].rstrip(b"\r\n"))))


_BLANKS = " \t"
_SECTION = lazy_regex(r'[ \t]*\[([A-Za-z0-9.-]+)[ \t]*(?:"((?:[^"\\]|\\.)*)")?\]')
_SETTING = lazy_regex(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=(.*)", re.DOTALL)
_CONTINUED = lazy_regex(r"(?<!\\)((?:\\\\)*)\\\n")
"""A line that goes on: an escaped backslash at its end does not count."""
_ESCAPED = lazy_regex(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def read_git_config(path: Path) -> dict[str, str]:
    """The settings of the file, as `remote.origin.url` → value, in the order of the file; the first value counts.

    What cannot be parsed is passed over; other files that it includes are not read.
    """
    content = read_small(path) or b""
    settings: dict[str, str] = {}
    section = ""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    for line in _CONTINUED.sub(r"\1", text).split("\n"):
        if heading := _SECTION.match(line):
            name, subsection = heading.groups()
            section = name.lower() if subsection is None else ".".join((name.lower(), _ESCAPED.sub(r"\1", subsection)))
            line = line[heading.end() :]
        if setting := _SETTING.match(line):
            settings.setdefault(f"{section}.{setting[1].lower()}", _value(setting[2]))
    return settings


def _value(written: str) -> str:
    value, end_of_value, quoted = "", 0, False
    characters = iter(written.strip(_BLANKS))
    for character in characters:
        match character:
            case '"':
                quoted = not quoted
            case "\\":
                escaped = next(characters, "")
                value += _ESCAPES.get(escaped, escaped)
            case "#" | ";" if not quoted:
                break
            case _:
                value += character
        if quoted or character not in _BLANKS:
            end_of_value = len(value)  # blanks before a comment are not part of the value
    return value[:end_of_value]


_AUTHORITY = lazy_regex(r"(?P<host>\[[^\]]+\]|[^:]+)(?::(?P<port>\d*))?")
# As git tells it from a local path: a colon before the first slash. One letter before it is a Windows drive.
_SCP = lazy_regex(r"(?:[^/:@]*@)?(?P<host>\[[^\]]+\]|[^/:@\[]{2,}):(?P<path>.*)", re.DOTALL)
_DEFAULT_PORTS = {"http": "80", "https": "443", "ssh": "22", "git+ssh": "22", "ssh+git": "22", "git": "9418"}


def read_remotes(git_dir: Path, root: Path) -> tuple[str, ...]:
    """The repository's remotes in one spelling; `origin` first, since it names the project."""
    named = {
        key.removeprefix("remote.").removesuffix(".url"): value
        for key, value in read_git_config(git_dir / "config").items()
        if key.startswith("remote.") and key.endswith(".url")
    }
    in_order = sorted(named, key=lambda name: name != "origin")
    remotes = (normalise_remote(named[name], root=root) for name in in_order)
    return tuple(dict.fromkeys(address for address in remotes if address))


def normalise_remote(url: str, *, root: Path) -> str | None:
    """`host/owner/name`, the same for ssh and https, without credentials and `.git`; a local path in full.

    A relative path counts from the root of the checkout. None for an address that names no repository.
    """
    url = url.strip()
    helper, colons, address = url.partition("::")
    if colons and helper.isalnum():  # an address for one of git's helper programs
        return normalise_remote(address, root=root) if "://" in address else url
    scheme, separator, rest = url.partition("://")
    if separator:
        return _from_url(scheme.lower(), rest)
    if match := _SCP.fullmatch(url):
        return _address(match["host"], match["path"])
    return _without_suffix(os.path.normpath(root / url)) if url else None


def _from_url(scheme: str, rest: str) -> str | None:
    authority, _, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    if scheme == "file":
        return _without_suffix(os.path.normpath(f"/{path}"))
    match = _AUTHORITY.fullmatch(authority.rpartition("@")[2])
    if match is None:
        return None
    port = match["port"]
    is_usual = not port or port == _DEFAULT_PORTS.get(scheme)
    return _address(match["host"] if is_usual else f"{match['host']}:{port}", path)


def _address(host: str, path: str) -> str:
    parts = [part for part in path.split("/") if part]
    return _without_suffix("/".join([host.lower(), *parts]))


def _without_suffix(path: str) -> str:
    return path.removesuffix(".git").rstrip("/")
