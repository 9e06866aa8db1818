"""The one block that we keep inside a file of somebody else: put in, replaced whole, taken out again.

Outside of the block not a byte changes, and taking it out restores the file: exactly one line break is added before it
and one after it. A block at the very beginning means that the file was ours from the start.
"""

from __future__ import annotations

import re
from pathlib import Path

from reverie.errors import Damaged
from reverie.values import value

BEGIN = "<!-- reverie:begin -->"
END = "<!-- reverie:end -->"


@value
class SplitText:
    """A text cut at its block; joined again it is the same text."""

    before: str
    block: str = ""
    """With its markers and the line break after it; empty where there is none."""
    after: str = ""

    @property
    def newline(self) -> str:
        """How lines of the block end."""
        return "\r\n" if _rows(self.block)[0].endswith("\r\n") else "\n"

    @property
    def outside(self) -> str:
        """The text without the block and the line break before it."""
        return self.before.removesuffix(self.newline) + self.after if self.block else self.before


def split_block(text: str, path: Path) -> SplitText:
    """Find the block of a text.

    Raises: `Damaged` when a marker is missing or there is more than one block.
    """
    rows = _rows(text)
    begins = [number for number, row in enumerate(rows) if row.strip() == BEGIN]
    ends = [number for number, row in enumerate(rows) if row.strip() == END]
    if not begins and not ends:
        return SplitText(text)
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        line = min(begins + ends) + 1
        raise Damaged(
            f"{path}, line {line}: expected exactly one {BEGIN} and one {END} after it; correct or remove the markers",
            path=path,
            line=line,
        )
    first, last = begins[0], ends[0] + 1
    return SplitText("".join(rows[:first]), "".join(rows[first:last]), "".join(rows[last:]))


def put_block(text: str | None, body: str, path: Path) -> str:
    """The text with the block: replaced where it stands, else added at the end; None is a file that is not there."""
    parts = split_block(text or "", path)
    newline = parts.newline if parts.block else "\r\n" if "\r\n" in (text or "") else "\n"
    inner = body.replace(BEGIN, "").replace(END, "").replace("\r", "").strip("\n")
    block = newline.join((BEGIN, *inner.split("\n"), END)) + newline
    if parts.block:
        is_last = not parts.after and not parts.block.endswith("\n")
        return parts.before + (block.removesuffix(newline) if is_last else block) + parts.after
    return block if text is None else text + newline + block


def remove_block(text: str, path: Path) -> str | None:
    """The text as it was without the block; None when nothing else was ever in the file."""
    parts = split_block(text, path)
    return None if parts.block and not parts.before and not parts.after else parts.outside


def _rows(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text) or [""]
