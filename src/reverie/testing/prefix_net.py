"""A net under the prompt cache: requests that a test sent must extend one another.

`classify` names the relation of two Messages API bodies; `check` fails for a list of them in which one does not extend
the one before. Tests that move the prefix on purpose say so with the marker `moves_prefix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from reverie.context.cache_breaks import fingerprint, predict

IDENTICAL, EXTENDS = "identical", "extends"


def classify(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """`identical`, `extends`, or the cause for which the later request does not extend the earlier."""
    first, second = fingerprint(before), fingerprint(after)
    parted = predict(first, second)
    if parted is not None:
        return parted.cause.value
    return IDENTICAL if len(first.pieces) == len(second.pieces) else EXTENDS


def check(bodies: Iterable[Mapping[str, Any]]) -> None:
    """Fail when a request does not extend its predecessor."""
    for number, (before, after) in enumerate(pairwise(bodies), 2):
        found = classify(before, after)
        assert found in (IDENTICAL, EXTENDS), f"request {number} does not extend the one before: {found}"
