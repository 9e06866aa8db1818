"""The first message of a conversation: instruction files, the memory index and the date, read once per session.

It is a message and not part of the system text, because it differs from project to project and would spoil what all
users share. It stands until `/clear` or a compaction; a new day is announced by an attachment instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from reverie.extensions.instructions.instruction_file import InstructionFile, InstructionKind
from reverie.extensions.instructions.render import render, section
from reverie.memory.store.index.memory_md import IndexLimits, index_for_model
from reverie.messages.injection import Suspicion, flags, harmless
from reverie.messages.reminder import reminder
from reverie.session.prompt_text import prompt_text

TEAM_SHARE = 5
"""The team's index may always take one part in so many of the limits."""
# strftime speaks the language of the machine, and with it the prompt would.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def user_context(
    files: Iterable[InstructionFile],
    *,
    today: date,
    index: str = "",
    index_path: str = "",
    team_index: str = "",
    team_index_path: str = "",
    limits: IndexLimits | None = None,
) -> str:
    """The text of that message; an index is the whole of a `MEMORY.md`, which is cut here, or empty without one."""
    instructions = render(files)
    parts = [prompt_text("claude_md"), instructions] if instructions else []
    private, team = _cut_indexes(index, team_index, limits or IndexLimits())
    memory = _section(index_path, InstructionKind.AUTO_MEMORY, private)
    memory += _section(team_index_path, InstructionKind.TEAM_MEMORY, team)
    entries = {
        "claudeMd": "\n\n".join([*parts, *memory]),
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


def _section(path: str, kind: InstructionKind, index: str) -> list[str]:
    """An index as notes: whoever wrote a memory cannot speak for the user or for this program."""
    shown = harmless(index).strip()
    return [section(path, kind, shown)] if shown else []


def _cut_indexes(private: str, team: str, limits: IndexLimits) -> tuple[str, str]:
    """Both indexes, together within the limits; the team's has what the private one leaves, or a share of its own."""
    if not team.strip():
        return index_for_model(private, limits)[0], ""
    lines, size_bytes = _measure(index_for_model(team, limits)[0])
    reserved = min(lines, limits.lines // TEAM_SHARE), min(size_bytes, limits.size_bytes // TEAM_SHARE)
    private = index_for_model(private, _subtract(limits, *reserved))[0]
    return private, index_for_model(team, _subtract(limits, *_measure(private)))[0]


def _measure(text: str) -> tuple[int, int]:
    return len(text.splitlines()), len(text.encode(errors="replace"))


def _subtract(limits: IndexLimits, lines: int, size_bytes: int) -> IndexLimits:
    return replace(limits, lines=max(limits.lines - lines, 1), size_bytes=max(limits.size_bytes - size_bytes, 1))


def _day(today: date) -> str:
    return f"{today.isoformat()} ({_WEEKDAYS[today.weekday()]})"
