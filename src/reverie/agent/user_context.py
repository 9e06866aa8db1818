"""The first message of a conversation: instruction files, the memory index and the date, read once per session.

It is a message and not part of the system text, because it differs from project to project and would spoil what all
users share. It stands until `/clear` or a compaction; a new day is announced by an attachment instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from reverie.agent.prompt_text import prompt_text
from reverie.context.cut import unfenced
from reverie.instructions.instruction_file import InstructionFile, Kind
from reverie.instructions.render import render, section
from reverie.memory.index import IndexLimits, index_for_model
from reverie.memory.injection import harmless

# strftime speaks the language of the machine, and with it the prompt would.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def user_context(
    files: Iterable[InstructionFile],
    *,
    today: date,
    index: str = "",
    index_path: str = "",
    limits: IndexLimits | None = None,
) -> str:
    """The text of that message; `index` is the whole of `MEMORY.md`, which is cut here, or empty without memory."""
    entries = {
        "claudeMd": unfenced("\n\n".join(part for part in (render(files), _memory(index, index_path, limits)) if part)),
        "currentDate": f"Today's date is {_day(today)}.",
    }
    shown = "\n\n".join(f"# {key}\n{text}" for key, text in entries.items() if text)
    return f"<system-reminder>\n{prompt_text('user_context', entries=shown)}\n</system-reminder>"


def date_change(today: date) -> str:
    """What the model is told once midnight has passed, for an attachment `date_change`."""
    return prompt_text("date_change", date=_day(today))


def _memory(index: str, path: str, limits: IndexLimits | None) -> str:
    """The index as notes: whoever wrote a memory cannot speak for the user or for this program."""
    shown = harmless(index_for_model(index, limits)[0]).strip()
    return section(path, Kind.AUTO_MEMORY, shown) if shown else ""


def _day(today: date) -> str:
    return f"{today.isoformat()} ({_WEEKDAYS[today.weekday()]})"
