"""A second, much simpler parser of shell text, to confirm the first: words, operators, redirections.

tree-sitter's grammar is made for highlighting and recovers from errors by guessing. A wrong guess about where a command
ends would let one through, so a plain command counts only when this parser finds the same words in the same commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Unsure(Exception):
    """This parser does not know the syntax; the message says which."""


@dataclass(slots=True)
class PlainCommand:
    """Words and redirection targets between two operators, as they were written."""

    words: tuple[str, ...] = ()
    targets: list[str] = field(default_factory=list)


_TOKEN = re.compile(
    r"""
    (?P<blank>(?:[ \t]|\\\n)+)
  | (?P<redirect>\d*(?:>>|>\||>&|<&|>|<)|&>>|&>)
  | (?P<operator>&&|\|\||\|&|[;&|()\n])
  | (?P<comment>\#[^\n]*)
  | (?P<word>(?:[^\s\\'"|&;()<>$`]|\\[^\n]|\\\n|'[^']*'|"(?:[^"\\$`]|\\[\s\S]|\$\?)*"|\$\?)+)
    """,
    re.VERBOSE,
)
_DOUBLED = re.compile(r"\d*(<<|<>|<\(|>\()")
_DESCRIPTOR = re.compile(r"[ \t]*(\d+-?|-)(?=[\s;&|()]|$)")
"""What follows `>&` or `<&` when it is no file: `2>&1`, `>&-`."""
_GROUPING = ("{", "}", "!")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


def parse_plainly(command: str) -> list[PlainCommand]:
    """The commands of a text without expansions. Raises `Unsure` for anything beyond."""
    commands = [PlainCommand()]
    words: list[str] = []
    waits_for_target = False
    position = 0
    while position < len(command):
        if _DOUBLED.match(command, position):
            raise Unsure("it holds a redirection that is not examined")
        token = _TOKEN.match(command, position)
        if token is None:
            raise Unsure(f"`{command[position : position + 20]}` in it is not examined")
        kind, text = token.lastgroup, token.group()
        position = token.end()
        match kind:
            case "word" if waits_for_target:
                commands[-1].targets.append(text)
                waits_for_target = False
            case "word":
                words.append(text)
            case "redirect":
                if waits_for_target:
                    raise Unsure("a redirection in it has no target")
                waits_for_target = True
                descriptor = _DESCRIPTOR.match(command, position)
                if text.endswith("&") and descriptor:
                    position = descriptor.end()
                    waits_for_target = False
            case "operator":
                if waits_for_target:
                    raise Unsure("a redirection in it has no target")
                commands[-1].words = _strip_prefixes(words)
                commands.append(PlainCommand())
                words = []
    if waits_for_target:
        raise Unsure("a redirection in it has no target")
    commands[-1].words = _strip_prefixes(words)
    return commands


def _strip_prefixes(words: list[str]) -> tuple[str, ...]:
    """The words of a command without grouping words and assignments before it."""
    rest = list(words)
    while rest and (rest[0] in _GROUPING or _ASSIGNMENT.match(rest[0])):
        rest.pop(0)
    if rest and rest[-1] == "}":
        raise Unsure("a brace stands where no group ends")
    return tuple(rest)
