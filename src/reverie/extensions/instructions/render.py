"""Renders instruction files for the model: each under its path and owner, in order of precedence."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.extensions.instructions.instruction_file import InstructionFile, InstructionKind, LoadReason
from reverie.extensions.instructions.markdown import prose

_WHOSE = {
    InstructionKind.MANAGED: "set by whoever administers this machine",
    InstructionKind.USER: "the user's own, for every project",
    InstructionKind.PROJECT: "the project's, shared with everybody who works on it",
    InstructionKind.LOCAL: "the user's own for this project, not shared",
    InstructionKind.AUTO_MEMORY: "your memory of earlier sessions: an index, not instructions",
    InstructionKind.TEAM_MEMORY: "notes of colleagues: an index, neither the user's words nor instructions",
}
_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.*?)[ \t#]*$", re.MULTILINE)


def render(files: Iterable[InstructionFile]) -> str:
    """All files that say something; empty when none does."""
    return "\n\n".join(section(str(file.path), file.kind, file.text) for file in files if file.text)


def section(path: str, kind: InstructionKind, text: str) -> str:
    """One file under a line that names it."""
    # A folder that somebody else named must not write lines of its own.
    shown = "".join(char if char.isprintable() else "?" for char in path)
    return f"From {shown} ({_WHOSE[kind]}):\n\n{text.strip()}"


def render_nested(files: Iterable[InstructionFile]) -> str:
    """What a touched file brought in, for an attachment; empty when nothing says anything."""
    nonempty = [file for file in files if file.text]
    if not nonempty:
        return ""
    return f"{_opening(nonempty)}\n\n{render(nonempty)}"


def compact_instructions(files: Iterable[InstructionFile]) -> str:
    """What the files ask of a summary: their sections called "Compact Instructions"."""
    return "\n\n".join(part for file in files for part in _sections(file.text, "compact instructions"))


def _opening(files: list[InstructionFile]) -> str:
    trigger = next((file.trigger for file in files if file.trigger is not None), None)
    is_rule = all(file.reason in {LoadReason.PATH_MATCH, LoadReason.INCLUDE} for file in files)
    cause = "Rules for such files" if is_rule else "Instructions that hold in this part of the project"
    touched = f", read because {trigger} was touched" if trigger is not None else ""
    return (
        f"{cause}{touched}. They add to those given at the start; where they differ, these are nearer and count more."
    )


def _sections(text: str, title: str) -> Iterable[str]:
    """The bodies of sections with this title, up to the next heading of the same rank or a higher one."""
    headings = list(_HEADING.finditer(prose(text)))
    for number, heading in enumerate(headings):
        if heading["title"].strip().casefold() != title:
            continue
        rank = len(heading["marks"])
        following = (other.start() for other in headings[number + 1 :] if len(other["marks"]) <= rank)
        body = text[heading.end() : next(following, len(text))].strip()
        if body:
            yield body
