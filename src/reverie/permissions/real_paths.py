"""Resolves where a path really leads, whether that is in an allowed folder, and which files are protected."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from reverie.files import is_encodable

_PROTECTED = re.compile(
    r"(?:^|/)(?:"
    r"\.git(?:/.*)?"
    r"|\.(?:reverie|claude)/(?:settings[^/]*|hooks(?:/.*)?)"
    r"|\.mcp\.json|\.claude\.json|\.gitconfig|\.gitmodules|\.envrc|\.ripgreprc"
    r"|\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|zlogout|kshrc|cshrc|tcshrc)"
    r"|\.inputrc|config\.fish|fish/conf\.d/.*|\.config/git/.*"
    r"|\.ssh(?:/.*)?|\.husky(?:/.*)?|\.vscode/(?:settings|tasks|launch)\.json"
    r")$"
)
"""Files that make programs do something later."""
_SECRET = re.compile(
    r"(?:^|/)(?:"
    r"\.(?:ssh|gnupg|aws|azure|kube|docker|password-store|mozilla|thunderbird|electrum|bitcoin|subversion)(?:/.*)?"
    r"|\.(?:vault-token|netrc|pgpass|my\.cnf|mylogin\.cnf|npmrc|pypirc|git-credentials|htpasswd|terraformrc|envrc|s3cfg"
    r"|boto|dockercfg|curlrc|wgetrc|databrickscfg|[a-z]*_history)|_netrc|auth\.json|master\.key|cookies\.sqlite|wallet\.dat"
    r"|\.config/(?:gh|hub|gcloud|op|rclone|google-chrome|chromium|heroku|doctl)(?:/.*)?|\.m2/settings[^/]*\.xml"
    r"|\.local/share/keyrings(?:/.*)?|library/keychains(?:/.*)?"
    r"|\.env(?!\.(?:example|sample|template|dist)$)(?:\.[^/]*)?"
    r"|\.?(?:credentials?|secrets?)(?:(?:\.[\w-]+)*\.(?:json|ya?ml|toml|env|ini|txt|xml|db|cfg|conf|properties)|/.*)?"
    r"|[^/]*service[-_]account[^/]*\.json|id_(?:rsa|dsa|ecdsa|ed25519)[^/]*"
    r"|[^/]*\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|gpg|tfstate|ovpn)"
    r")$|^/(?:proc|dev|etc/(?:g?shadow|sudoers|ssl/private))(?:[-/].*)?$"
)
"""Where programs keep keys and passwords."""


def resolve_path(path: Path) -> Path | None:
    """The path with all links followed, also of a file that does not exist yet; None for an impossible path."""
    if not is_encodable(str(path)):
        return None
    try:
        # `strict=False` keeps what does not exist and still follows the links above it.
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None


def is_within(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path, links followed, lies in one of the roots."""
    target = resolve_path(path)
    if target is None:
        return False
    folders = (resolve_path(root) for root in roots)
    return any(folder is not None and target.is_relative_to(folder) for folder in folders)


def fold_name(text: str) -> str:
    """One spelling for what some file systems take for the same name: case, composed letters, invisible characters."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in plain if unicodedata.category(character) != "Cf")


def spellings(path: Path) -> tuple[Path, ...]:
    """The path as it was named and as it is, without `..`."""
    named = Path(os.path.normpath(path))
    actual = resolve_path(path)
    return (named,) if actual is None or actual == named else (named, actual)


def is_protected(path: Path) -> bool:
    """Whether programs, this one included, act on what is written here without asking."""
    return any(_PROTECTED.search(fold_name(spelling.as_posix())) for spelling in spellings(path))


def is_secret_place(path: Path) -> bool:
    """Whether keys or passwords are usually kept here: only the user may allow reading it."""
    return any(_SECRET.search(fold_name(spelling.as_posix())) for spelling in spellings(path))
