"""Parses the argument of `/compact`: instructions for the summary, one side of a message, or both."""

from __future__ import annotations

import re
from typing import TypedDict

from reverie.values import value

FROM, UP_TO = "from", "up_to"
_SIDE = re.compile(r"(?P<side>from|up[_ -]to)(?:\s+(?P<rest>.*))?", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"(?=\S*\d)[0-9a-f]{4,}[0-9a-f-]*", re.IGNORECASE)
"""The beginning of an id: hexadecimal with a digit, so that no word of a sentence is taken for one."""


class Side(TypedDict, total=False):
    """One side of a message, as `Session.compact` takes it."""

    from_: str
    up_to: str


@value
class CompactArgument:
    """The parsed argument."""

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


def parse_compact_argument(argument: str) -> CompactArgument:
    """Parse the text after `/compact`. Text that only begins like a side (`from now on …`) is instructions."""
    match = _SIDE.fullmatch(argument.strip())
    if match is None:
        return CompactArgument(argument.strip())
    side = FROM if match["side"].lower() == FROM else UP_TO
    first, _, others = (match["rest"] or "").strip().partition(" ")
    if not first or _ID.fullmatch(first):
        return CompactArgument(others.strip(), side, first)
    return CompactArgument(argument.strip())
