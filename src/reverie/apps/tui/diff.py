"""A unified diff, or any text that should be looked at closely, in colours that also work as plus and minus."""

from __future__ import annotations

from rich.text import Text

ADDED, REMOVED, PLACE, QUIET = "green", "red", "cyan", "dim"


def is_diff(text: str) -> bool:
    """Whether a text is a unified diff."""
    lines = text.splitlines()
    return any(line.startswith("@@ ") for line in lines[:8]) or (
        len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ ")
    )


def coloured(text: str) -> Text:
    """A diff with colours; the names of a single file are left to whoever shows it under its name."""
    drawn = Text(no_wrap=False, overflow="fold")
    lines = text.rstrip("\n").split("\n")
    if len(lines) > 2 and lines[0].startswith("--- ") and sum(line.startswith("--- ") for line in lines) == 1:
        lines = lines[2:]
    for number, line in enumerate(lines):
        style = ""
        if line.startswith(("--- ", "+++ ")) and number < 4:
            style = QUIET
        elif line.startswith("@@"):
            style = PLACE
        elif line.startswith("+"):
            style = ADDED
        elif line.startswith("-"):
            style = REMOVED
        drawn.append(line.replace("\t", "    "), style=style)
        if number < len(lines) - 1:
            drawn.append("\n")
    return drawn


def balance(text: str) -> tuple[int, int]:
    """How many lines a diff adds and removes."""
    lines = [line for line in text.splitlines() if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
