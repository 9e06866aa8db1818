"""The lines of MEMORY.md: which of them point to a topic, and how such a line is written.

`- [Title](file.md) — hook`, at most 150 characters where the file name allows it (spec 2 §5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import unquote

LINE_CHARS = 150
TITLE_CHARS = 60
HOOK_CHARS_AT_LEAST = 30
"""A long file name may push a line over its length rather than leave no room for a hook."""

CUT = "…"


@dataclass(frozen=True, slots=True)
class Prose:
    """A line of the user's."""

    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A list item that begins with a link to a Markdown file of the directory."""

    text: str
    lead: str
    """What stands before the link: indentation and bullet."""
    title: str
    path: str
    hook: str


Line: TypeAlias = Prose | Entry

_TITLE = r"\[(?P<title>(?:\\.|[^\[\]\\])*)\]"
_TARGET = r"\((?:<(?P<pointed>[^<>]+)>|(?P<plain>[^\s()<>]+))\)"
_ENTRY = re.compile(rf"(?P<lead>[ \t]*[-*+][ \t]+){_TITLE}{_TARGET}(?:[ \t]*(?:—|–|--?|:)[ \t]+(?P<hook>.*?))?[ \t]*\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LEFT_OUT = re.compile(r"- …? ?and (\d+) more (?:memory|memories), found by recall; no room for (?:it|them) here\Z")


def parse_index(text: str) -> tuple[Line, ...]:
    """Cut an index into lines; joined by newlines they are the same text."""
    lines: list[Line] = []
    closing = ""
    for number, raw in enumerate(text.split("\n")):
        line = raw.rstrip("\r")
        was_inside = bool(closing)
        closing = _still_inside(line, closing, is_first=number == 0)
        lines.append(Prose(raw) if was_inside or closing else _line(raw, line))
    return tuple(lines)


def generated_line(path: str, name: str, hooks: Iterable[str], lead: str = "- ") -> str:
    """The line of one topic; the first hook that fits, else the last one cut."""
    link = f"{lead}[{_escaped(shortened(name, TITLE_CHARS))}]({_target(path)})"
    room = max(LINE_CHARS - len(link) - len(" — "), HOOK_CHARS_AT_LEAST)
    hooks = [hook for hook in hooks if hook]
    if not hooks:
        return link
    hook = next((hook for hook in hooks if len(hook) <= room), None)
    return f"{link} — {hook if hook is not None else shortened(hooks[-1], room)}"


def shortened(text: str, size: int) -> str:
    """At most `size` characters, cut at a word where there is one near the end."""
    if len(text) <= size:
        return text
    cut = text[: size - 1]
    at_word = cut.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > size // 2 else cut).rstrip() + CUT


def left_out_note(count: int) -> str:
    """The item that says how many topics have no line."""
    return f"- … and {count} more {'memory' if count == 1 else 'memories'}, found by recall; no room for " + (
        "it here" if count == 1 else "them here"
    )


def is_left_out_note(line: str) -> bool:
    return _LEFT_OUT.match(line.rstrip()) is not None


def _still_inside(line: str, closing: str, *, is_first: bool) -> str:
    """What must come to end the fence, comment or front matter that this line is in; empty outside of all."""
    if closing == "-->":
        return "" if "-->" in line else closing
    if closing == "---":
        return "" if line.rstrip() in {"---", "..."} else closing
    fence = _FENCE.match(line)
    if closing:
        return "" if fence and fence[1].startswith(closing) and not line.strip(" \t`~") else closing
    if fence:
        return fence[1]
    if is_first and line.rstrip() == "---":
        return "---"
    return "-->" if line.lstrip().startswith("<!--") and "-->" not in line else ""


def _line(raw: str, line: str) -> Line:
    match = _ENTRY.match(line)
    if match is None:
        return Prose(raw)
    target = unquote((match["pointed"] or match["plain"]).partition("#")[0]).removeprefix("./")
    if not target.endswith(".md") or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|\.\./", target):
        return Prose(raw)
    return Entry(raw, match["lead"], re.sub(r"\\(.)", r"\1", match["title"]), target, match["hook"] or "")


def _escaped(title: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", title)


def _target(path: str) -> str:
    return re.sub(r"[\s()<>%#]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), path)
