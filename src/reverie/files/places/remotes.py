"""Normalises the URL of a git remote, so that one repository has one spelling."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from reverie.files.places.git_config import read_git_config

_AUTHORITY = re.compile(r"(?P<host>\[[^\]]+\]|[^:]+)(?::(?P<port>\d*))?")
# As git tells it from a local path: a colon before the first slash. One letter before it is a Windows drive.
_SCP = re.compile(r"(?:[^/:@]*@)?(?P<host>\[[^\]]+\]|[^/:@\[]{2,}):(?P<path>.*)", re.DOTALL)
_DEFAULT_PORTS = {"http": "80", "https": "443", "ssh": "22", "git+ssh": "22", "ssh+git": "22", "git": "9418"}


def read_remotes(git_dir: Path, root: Path) -> tuple[str, ...]:
    """The repository's remotes in one spelling; `origin` first, since it names the project."""
    named = {
        key.removeprefix("remote.").removesuffix(".url"): value
        for key, value in read_git_config(git_dir / "config").items()
        if key.startswith("remote.") and key.endswith(".url")
    }
    in_order = sorted(named, key=lambda name: name != "origin")
    found = (normalise_remote(named[name], root=root) for name in in_order)
    return tuple(dict.fromkeys(address for address in found if address))


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
