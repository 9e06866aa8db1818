"""`<system-reminder>` blocks: how the program speaks to the model; quoted text cannot close or open one.

Whatever stands in such a block may come from elsewhere: output of hooks, files, skills, memories, other agents.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(?=\W{0,9}system\W{0,3}reminder)", re.IGNORECASE)
"""With room for characters that nobody sees."""


def reminder(text: str) -> str:
    """The text as a word of this program."""
    return f"<system-reminder>\n{escape_reminder_tags(text)}\n</system-reminder>"


def escape_reminder_tags(text: str) -> str:
    """The text with everything that looks like the bounds of such a block shown as text."""
    return _TAG.sub("&lt;", text)


def forges_reminder(text: str) -> bool:
    """Whether a text holds something that looks like such a block."""
    return _TAG.search(text) is not None
