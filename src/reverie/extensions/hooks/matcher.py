"""Which hooks match an event: by the matcher of their group and by their own condition.

Judging a condition exactly is the matter of the permission rules; `covers` stands in where nobody passes them in. In
doubt a hook runs, since many of them are guards.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

from reverie.messages.blocks import JsonObject

_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]*")
_NAMES_ONLY_BAR = re.compile(r"[A-Za-z0-9_|]*")
_ONLY_BAR = frozenset({"FileChanged", "StopFailure"})
_RULE = re.compile(r"([^()]+)(?:\((.*)\))?", re.DOTALL)
_BETWEEN_COMMANDS = re.compile(r"&&|\|\||[;|&\n]")
_ARGUMENTS = ("command", "file_path", "path", "notebook_path", "url", "pattern", "query", "subagent_type", "skill")


def matches(event: str, matcher: str, subject: str) -> bool:
    """Whether a matcher covers what the event is about: a name, a list of names, or a regular expression."""
    if matcher in ("", "*"):
        return True
    if event == "FileChanged":
        subject = PurePath(subject).name
    names = _NAMES_ONLY_BAR if event in _ONLY_BAR else _NAMES
    if names.fullmatch(matcher):
        return subject in {name.strip() for name in re.split(r"\|" if event in _ONLY_BAR else r"[|,]", matcher)}
    return re.search(matcher, subject) is not None


def covers(rule: str, tool: str, given: JsonObject) -> bool:
    """Whether a rule such as `Bash(git *)` covers a call; a rule that is no rule covers everything."""
    parsed = _RULE.fullmatch(rule.strip())
    if parsed is None:
        return True
    if not fnmatchcase(tool, parsed[1].strip()):
        return False
    pattern = parsed[2]
    if pattern is None or pattern in ("", "*"):
        return True
    argument = next((str(given[name]) for name in _ARGUMENTS if isinstance(given.get(name), str)), None)
    if argument is None:
        return True
    return any(_fits(pattern, piece) for piece in _pieces(tool, argument))


def _pieces(tool: str, argument: str) -> tuple[str, ...]:
    """A shell line and each command in it; a path and its name."""
    if tool == "Bash":
        return (argument, *(piece.strip() for piece in _BETWEEN_COMMANDS.split(argument)))
    return argument, PurePath(argument).name


def _fits(pattern: str, text: str) -> bool:
    if pattern.endswith(":*"):
        prefix = pattern.removesuffix(":*")
        return text == prefix or text.startswith(f"{prefix} ")
    if pattern.endswith(" *") and text == pattern.removesuffix(" *"):
        return True
    return fnmatchcase(text, pattern) or fnmatchcase(text, f"*/{pattern.removeprefix('./')}")
