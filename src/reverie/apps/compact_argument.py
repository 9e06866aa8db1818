"""Parses the argument of `/compact`: instructions for the summary, one side of a message, or both."""

from __future__ import annotations

import re
from typing import TypedDict

from reverie.values import value

FROM, UP_TO = "from", "up_to"
_SIDE = re.compile(r"(?P<side>from|up[_ -]to)(?:\s+(?P<rest>.*))?", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"(?=\S*\d)[0-9a-f]{4,}[0-9a-f-]*", re.IGNORECASE)
"""The beginning of an id; a word of a sentence such as “from now on” is none."""


class Side(TypedDict, total=False):
    """One side of a message, as `Session.compact` takes it."""

    from_: str
    up_to: str


@value
class CompactArgument:
    """What is asked for."""

    instructions: str = ""
    side: str = ""
    """`from` or `up_to`; empty when the whole conversation is meant."""
    message: str = ""
    """The id of the message; empty when it is still to be chosen."""

    @property
    def part(self) -> Side:
        """The side and the message as arguments."""
        if not self.side:
            return {}
        return {"from_": self.message} if self.side == FROM else {"up_to": self.message}


def read_compact_argument(argument: str) -> CompactArgument:
    """Read it. Words that only begin like a side are instructions."""
    found = _SIDE.fullmatch(argument.strip())
    if found is None:
        return CompactArgument(argument.strip())
    side = FROM if found["side"].lower() == FROM else UP_TO
    first, _, others = (found["rest"] or "").strip().partition(" ")
    if not first or _ID.fullmatch(first):
        return CompactArgument(others.strip(), side, first)
    return CompactArgument(argument.strip())
