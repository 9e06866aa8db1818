"""Which hooks match an event: by the matcher of their group and by their own condition.

The session judges a condition with the permission rules; `covers` is a simpler check for callers without them. In doubt
a hook runs, since many hooks are guards.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

from reverie.messages.blocks import JsonObject

_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]*")
_BAR_SEPARATED_NAMES = re.compile(r"[A-Za-z0-9_|]*")
_BAR_ONLY_EVENTS = frozenset({"FileChanged", "StopFailure"})
"""Events whose matchers separate names by `|` only; elsewhere a comma separates too."""
_RULE = re.compile(r"([^()]+)(?:\((.*)\))?", re.DOTALL)
_COMMAND_SEPARATOR = re.compile(r"&&|\|\||[;|&\n]")
_ARGUMENTS = ("command", "file_path", "path", "notebook_path", "url", "pattern", "query", "subagent_type", "skill")
"""Fields of tool input that a rule is compared with; the first that is present counts."""


def matches(event: str, matcher: str, subject: str) -> bool:
    """Whether a matcher covers what the event is about: a name, a list of names, or a regular expression."""
    if matcher in ("", "*"):
        return True
    if event == "FileChanged":
        subject = PurePath(subject).name
    names = _BAR_SEPARATED_NAMES if event in _BAR_ONLY_EVENTS else _NAMES
    if names.fullmatch(matcher):
        return subject in {name.strip() for name in re.split(r"\|" if event in _BAR_ONLY_EVENTS else r"[|,]", matcher)}
    return re.search(matcher, subject) is not None


def covers(rule: str, tool: str, arguments: JsonObject) -> bool:
    """Whether a rule such as `Bash(git *)` covers a call; a rule that cannot be parsed covers everything."""
    parsed = _RULE.fullmatch(rule.strip())
    if parsed is None:
        return True
    if not fnmatchcase(tool, parsed[1].strip()):
        return False
    pattern = parsed[2]
    if pattern is None or pattern in ("", "*"):
        return True
    argument = next((str(arguments[name]) for name in _ARGUMENTS if isinstance(arguments.get(name), str)), None)
    if argument is None:
        return True
    return any(_matches_pattern(pattern, piece) for piece in _pieces(tool, argument))


def _pieces(tool: str, argument: str) -> tuple[str, ...]:
    """A shell line and each command in it; a path and its name."""
    if tool == "Bash":
        return (argument, *(piece.strip() for piece in _COMMAND_SEPARATOR.split(argument)))
    return argument, PurePath(argument).name


def _matches_pattern(pattern: str, text: str) -> bool:
    if pattern.endswith(":*"):
        prefix = pattern.removesuffix(":*")
        return text == prefix or text.startswith(f"{prefix} ")
    if pattern.endswith(" *") and text == pattern.removesuffix(" *"):
        return True
    return fnmatchcase(text, pattern) or fnmatchcase(text, f"*/{pattern.removeprefix('./')}")
