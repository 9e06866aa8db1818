"""Parses one permission rule: a tool's name and, in brackets, what of it.

`Bash(git diff:*)`, `Edit(src/**)`, `WebFetch(domain:example.com)`, `mcp__server__tool`, `Skill(name)`. What a rule
covers is the matter of `covers`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

from reverie.errors import UserMistake
from reverie.values import value

FILE_TOOLS = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead", "Edit", "Write", "MultiEdit", "NotebookEdit"})
_SHAPE = re.compile(r"(?P<tool>[A-Za-z_*][\w*.\-]*)(?:\((?P<about>.*)\))?", re.DOTALL)
_ANYTHING = frozenset({"", "*", "**"})


class RuleKind(StrEnum):
    """What a rule does with the calls it covers."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@value
class PermissionRule:
    """One rule."""

    text: str
    """As somebody wrote it."""
    tool: str
    """The name before the brackets; may hold `*`."""
    about: str
    """What stands in the brackets; empty for everything the tool does."""
    base: Path
    """The folder from which `/path` counts: of the settings file, or the project."""
    project: Path
    """The folder from which a plain path counts."""
    home: Path
    source: str = ""
    """Where it was written: `settings.toml:3`, `session`."""

    def __str__(self) -> str:
        return f"{self.text} ({self.source})" if self.source else self.text


def parse_rule(text: str, *, kind: RuleKind, base: Path, project: Path, home: Path, source: str = "") -> PermissionRule:
    """Read one rule. Raises `UserMistake` naming the rule, its place and what to write instead."""
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None:
        raise _mistake(
            text, source, "a rule is a tool name, optionally with a pattern in parentheses: `Bash(git diff:*)`"
        )
    tool, about = shape["tool"], shape["about"]
    if about is not None and not about.strip():
        raise _mistake(text, source, f"its parentheses are empty; write `{tool}` for all calls of the tool")
    about = "" if about is None or about.strip() in _ANYTHING else about.strip()
    problem = _problem(tool, about, kind)
    if problem:
        raise _mistake(text, source, problem)
    return PermissionRule(text.strip(), "Agent" if tool == "Task" else tool, about, base, project, home, source)


def _problem(tool: str, about: str, kind: RuleKind) -> str:
    if "*" in tool and kind is RuleKind.ALLOW and not re.fullmatch(r"mcp__[\w.\-]+?__[\w*.\-]*", tool):
        return "`*` in a tool name is only allowed for the tools of one server: `mcp__server__*`"
    if tool.startswith("mcp__") and about:
        return "MCP tools take no pattern; write the name without parentheses"
    if tool == "Bash":
        if about in (":*", " *"):
            return "`:*` must follow a command"
        if re.search(r":\*.", about):
            return "`:*` is only allowed at the end"
    if tool == "WebFetch" and about and not re.fullmatch(r"domain:(\*\.)?[^\s/:*]+", about):
        return "write the host as `WebFetch(domain:example.com)`"
    if tool in FILE_TOOLS and about:
        if about.startswith("!"):
            return "a path pattern cannot be negated with `!`; use a rule of the opposite kind"
        if "\0" in about or "\n" in about:
            return "a path pattern must be a single line"
    return ""


def _mistake(text: str, source: str, problem: str) -> UserMistake:
    place = f"{source}: " if source else ""
    return UserMistake(f"{place}invalid permission rule {text!r}: {problem}")
