"""What a compaction kept, brought back and left out: in full in the transcript, in a line or two in the view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from reverie.context.cut import Weigh
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.entries import Entry, MarkEntry
from reverie.values import value

RECEIPT = "receipt"
"""Name of the mark that holds a receipt, and kind of the attachment that shows it."""


class Sort(StrEnum):
    """What must survive, in the order in which it is brought back."""

    REQUEST = "user message"
    PIN = "pinned message"
    PLAN = "plan"
    TASK = "open task"
    DECISION = "decision"
    TROUBLE = "error"
    FILE = "file"
    SKILL = "skill"
    INSTRUCTIONS = "instructions"


class Fate(StrEnum):
    """What became of it."""

    KEPT = "kept"
    """Found in the new view as it stands."""
    BACK = "brought back"
    """Missing there, and put in again."""
    PART = "in part"
    """Put in with its beginning, its end and a pointer."""
    OUT = "left out"
    """Only the pointer is there."""


@value
class ReceiptLine:
    """One thing that had to survive, and how it did."""

    sort: Sort
    fate: Fate
    label: str
    """A few words by which a person knows it."""
    pointer: str = ""
    """The message, or the subject, under which it can be read again."""


@value
class Receipt:
    """The account of one compaction."""

    kind: str
    """`notes compaction`, `full compaction`, …"""
    written_by: str
    """The model that wrote the summary, `embedded`, or `notes`."""
    first: str = ""
    last: str = ""
    """The conversation that is no longer shown, by its first and last message."""
    pre_tokens: int = 0
    post_tokens: int = 0
    lines: tuple[ReceiptLine, ...] = ()
    unread: int = 0
    """How many of the oldest messages the writer of the summary was not shown, because they did not fit."""

    def of(self, *fates: Fate) -> tuple[ReceiptLine, ...]:
        """The lines with one of these fates."""
        return tuple(line for line in self.lines if line.fate in fates)

    def to_json(self) -> dict[str, Json]:
        """The receipt as a transcript holds it."""
        return {
            "kind": self.kind,
            "writtenBy": self.written_by,
            "first": self.first,
            "last": self.last,
            "preTokens": self.pre_tokens,
            "postTokens": self.post_tokens,
            **({"unread": self.unread} if self.unread else {}),
            "lines": [[line.sort.value, line.fate.value, line.label, line.pointer] for line in self.lines],
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> Receipt:
        """Read one again; raises `ValueError`, `TypeError` or `KeyError` when it is none."""
        rows = data["lines"]
        if not isinstance(rows, list):
            raise TypeError("the lines of a receipt are a list")
        return cls(
            str(data["kind"]),
            str(data["writtenBy"]),
            str(data["first"]),
            str(data["last"]),
            _count(data["preTokens"]),
            _count(data["postTokens"]),
            tuple(_line(row) for row in rows),
            _count(data.get("unread", 0)),
        )


def receipts(entries: Iterable[Entry]) -> list[Receipt]:
    """All receipts among these entries, oldest first; one that cannot be read is passed over."""
    receipts_read: list[Receipt] = []
    for entry in entries:
        if isinstance(entry, MarkEntry) and entry.name == RECEIPT:
            try:
                receipts_read.append(Receipt.from_json(entry.data))
            except (KeyError, TypeError, ValueError):
                continue
    return receipts_read


def in_view(
    receipt: Receipt, *, limit_tokens: int, weigh: Weigh, short: Mapping[str, str], rereads: bool = True
) -> str:
    """The receipt in as many words as the limit allows; empty when not even the shortest form fits.

    Without `rereads` the model has no tool that reads messages by their ids, and none are named.
    """
    gone = receipt.of(Fate.PART, Fate.OUT)
    sentences = [
        f"Receipt of this {receipt.kind}.",
        f"Read again what is left out by id, from [{_short(receipt.first, short)}] on, or by subject."
        if rereads
        else "",
        _counts("Kept or brought back", receipt.of(Fate.KEPT, Fate.BACK)),
        _counts("In part or by pointer only", gone),
    ]
    text = ""
    for sentence in filter(None, sentences):
        longer = f"{text} {sentence}".strip()
        if weigh(longer) > limit_tokens:
            return text
        text = longer
    listed: list[str] = []
    for line in gone:
        pointer = f" [{_short(line.pointer, short)}]" if line.pointer and rereads else ""
        row = f"\n- {line.sort.value}: {line.label}{pointer}"
        if weigh(text + "".join(listed) + row) > limit_tokens:
            break
        listed.append(row)
    return text + "".join(listed)


def _counts(what: str, lines: Iterable[ReceiptLine]) -> str:
    numbers = Counter(line.sort for line in lines)
    if not numbers:
        return ""
    return f"{what}: " + ", ".join(f"{sort.value} × {numbers[sort]}" for sort in Sort if numbers[sort]) + "."


def _short(pointer: str, short: Mapping[str, str]) -> str:
    return short.get(pointer, pointer)


def _line(row: Json) -> ReceiptLine:
    match row:
        case [str() as sort, str() as fate, str() as label, str() as pointer]:
            return ReceiptLine(Sort(sort), Fate(fate), label, pointer)
        case _:
            raise TypeError("a line of a receipt has four parts")


def _count(value: Json) -> int:
    return value if isinstance(value, int) else 0
