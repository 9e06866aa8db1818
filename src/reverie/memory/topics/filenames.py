"""Names of topic files (readable, stable, distinct on every file system), and finding a topic by a name.

Two names are the same file where case does not count (macOS, Windows) or accents are decomposed (NFD); `path_key` is
the comparison that holds everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping
from functools import lru_cache

from reverie.errors import UserMistake

MAX_STEM_BYTES = 120
"""Half of the usual 255, so that a conflict copy or an archive name made from it still fits."""

_RESERVED = r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|memory)\Z"
"""Device names of Windows, and the index itself."""


def path_key(path: str) -> str:
    """What a path is compared by: without case and without the difference between NFC and NFD."""
    if path.isascii():
        return path.lower()
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())
    return unicodedata.normalize("NFC", folded.casefold())


def file_name(topic_type: str | None, name: str, taken: Container[str] = ()) -> str:
    """A file name for a topic that is not saved yet; `taken` holds the `path_key` of every file already there."""
    stem = _stem(name)
    if topic_type is not None and stem != topic_type and not stem.startswith(f"{topic_type}_"):
        stem = f"{topic_type}_{stem}"
    stem = _cut(stem, MAX_STEM_BYTES)
    if re.match(_RESERVED, stem):
        stem = f"{stem}_topic"
    candidate, number = f"{stem}.md", 2
    while any(each in taken for each in {candidate, path_key(candidate)}):
        suffix = f"_{number}"
        candidate, number = f"{_cut(stem, MAX_STEM_BYTES - len(suffix))}{suffix}.md", number + 1
    return candidate


def _stem(name: str) -> str:
    cleaned = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else "_" for c in _strip_accents(name))
    words = [word for word in cleaned.split("_") if any(c.isalnum() for c in word)]
    return unicodedata.normalize("NFC", "_".join(words)) or f"topic_{_short_hash(name)}"


def _short_hash(name: str) -> str:
    import hashlib

    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]


def _strip_accents(name: str) -> str:
    """Lower case, compatibility forms resolved, Latin letters without accents; other scripts keep their marks."""
    result: list[str] = []
    for char in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name).lower()):
        if unicodedata.combining(char) and result and result[-1].isascii():
            continue
        result.append(char)
    return unicodedata.normalize("NFC", "".join(result))


def _cut(stem: str, size_bytes: int) -> str:
    cut = stem.encode()[:size_bytes].decode(errors="ignore")
    return unicodedata.normalize("NFC", cut).rstrip("_")


key_of = lru_cache(maxsize=200_000)(path_key)
"""`path_key`, remembered: a large directory asks for the same names at every save."""


def find_topic(name: str, paths: Iterable[str], names: Callable[[], Mapping[str, str]]) -> str | None:
    """The one path that is meant; None when nothing fits. `names` (path → name) is asked for only when needed.

    Raises:
        UserMistake: more than one fits equally well.
    """
    paths = list(paths)
    name_key = key_of(name)
    spellings = {name_key, f"{name_key}.md"}
    if name in paths:
        return name
    return (
        _only([path for path in paths if key_of(path) in spellings], name)
        or _only([path for path in paths if key_of(path.rpartition("/")[2]) in spellings], name)
        or _only([path for path, title in names().items() if key_of(title) == name_key], name)
        or (
            _only([path for path in paths if key_of(path.rpartition("/")[2]).startswith(name_key)], name)
            if name_key
            else None
        )
    )


def _only(matches: list[str], name: str) -> str | None:
    if len(matches) > 1:
        raise UserMistake(f"{name!r} is ambiguous: it matches {', '.join(sorted(matches)[:10])}")
    return matches[0] if matches else None
