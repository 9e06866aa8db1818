"""Instruction files: `CLAUDE.md`, `AGENTS.md`, rules, and what they include.

In reading order: `instruction_file` (the values), `discover` (which files apply here, in which order; which ones a
touched file adds), `include` (what `@path` means, and reading one file, bounded), `markdown` (code, comments, front
matter), `render` (what the model reads).
"""

from reverie.extensions.instructions.discover import load, load_nested, load_waiting, mark_as_read
from reverie.extensions.instructions.instruction_file import (
    InstructionFile,
    InstructionKind,
    Loaded,
    LoadReason,
    Outside,
    Where,
)
from reverie.extensions.instructions.render import compact_instructions, render, render_nested

__all__ = [
    "InstructionFile",
    "InstructionKind",
    "LoadReason",
    "Loaded",
    "Outside",
    "Where",
    "compact_instructions",
    "load",
    "load_nested",
    "load_waiting",
    "mark_as_read",
    "render",
    "render_nested",
]
