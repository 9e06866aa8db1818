"""The first message of a conversation: instruction files, the memory index and the date, read once per session.

It is a message and not part of the system text, because it differs from project to project and would spoil what all
users share. It stands until `/clear` or a compaction; a new day is announced by an attachment instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from reverie.extensions.instructions.instruction_file import InstructionFile, InstructionKind
from reverie.extensions.instructions.render import render, section
from reverie.memory.store.index.memory_md import IndexLimits, index_for_model
from reverie.messages.injection import Suspicion, flags, harmless
from reverie.messages.reminder import reminder
from reverie.session.prompt_text import prompt_text

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
    instructions = render(files)
    parts = [prompt_text("claude_md"), instructions] if instructions else []
    entries = {
        "claudeMd": "\n\n".join([*parts, *_memory(index, index_path, limits)]),
        "currentDate": f"Today's date is {_day(today)}.",
    }
    shown = "\n\n".join(f"# {key}\n{text}" for key, text in entries.items() if text)
    return reminder(prompt_text("user_context", entries=shown))


def date_change(today: date) -> str:
    """What the model is told once midnight has passed, for an attachment `date_change`."""
    return prompt_text("date_change", date=_day(today))


def hidden_characters(files: Iterable[InstructionFile]) -> tuple[str, ...]:
    """A warning for each file that holds characters which the model reads and no person sees."""
    unseen = {Suspicion.invisible, Suspicion.direction}
    odd = [file for file in files if not file.text.isascii()]
    flagged = ((file, next((flag for flag in flags(file.text) if flag.suspicion in unseen), None)) for file in odd)
    return tuple(
        f"{file.path} contains {flag.suspicion.value}, first near line {flag.line} of the loaded text. The model reads "
        "these characters and editors hide them: review the file with `cat -v`, and remove them unless intended."
        for file, flag in flagged
        if flag is not None
    )


def _memory(index: str, path: str, limits: IndexLimits | None) -> list[str]:
    """The index as notes: whoever wrote a memory cannot speak for the user or for this program."""
    shown = harmless(index_for_model(index, limits)[0]).strip()
    return [section(path, InstructionKind.AUTO_MEMORY, shown)] if shown else []


def _day(today: date) -> str:
    return f"{today.isoformat()} ({_WEEKDAYS[today.weekday()]})"
