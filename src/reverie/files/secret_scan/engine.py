"""The larger secret scanner of the `secrets` extra, with several hundred kinds; used where installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from reverie.files.secret_scan.plausible import is_hash, is_identifier, is_placeholder

_BEFORE, _AFTER = 120, 60
"""Characters around a word that can tell the engine what it is; it is slow, so the rest is kept from it."""


def spans(text: str, words: list[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """What the engine finds around the given words, as start, end and rule; nothing where it is not installed."""
    words = [(start, end) for start, end in words if not (is_hash(text[start:end]) or is_identifier(text[start:end]))]
    scan_string = _engine() if words else None
    if scan_string is None:
        return
    around = "\n\n".join(dict.fromkeys(text[max(0, start - _BEFORE) : end + _AFTER] for start, end in words))
    # It takes UTF-8 up to the first NUL.
    for finding in scan_string(around.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")):
        secret = finding.match.value
        # Its generic rules take any identifier for a key; ours are stricter and have already run.
        if finding.rule_id.startswith("generic-") or not secret or is_placeholder(secret):
            continue
        for match in re.finditer(re.escape(secret), text):
            yield *match.span(), finding.rule_id


@cache
def _engine() -> Callable[[str], list[Any]] | None:
    try:
        import betterleaks
    except ImportError:
        return None
    return betterleaks.scan_string
