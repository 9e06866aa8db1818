"""Saves a rule that the user granted to their settings file, keeping comments, order and spelling.

Only private files are written: the project's local settings or the user's own, never what is committed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files import is_inside, locked, write_atomic
from reverie.files.places import Places
from reverie.permissions.rule import RuleKind, parse_rule

_KEY = re.compile(r"""(?:allow|"allow"|'allow')\s*=\s*\[""")
_HEADER = re.compile(r"""^[ \t]*\[[ \t]*permissions[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|$)""", re.MULTILINE)


class RuleScope(StrEnum):
    """For whom a rule is kept."""

    LOCAL = "local"
    """This project, not shared."""
    USER = "user"
    """All projects of this user."""


def write_rule(
    rule: str,
    scope: RuleScope,
    *,
    places: Places,
    project: Path,
    now: datetime,
    is_tracked: Callable[[Path], bool] = lambda _: False,
) -> Path:
    """Add an allow rule to a settings file and return the file; one that is there already is not added again.

    `is_tracked` says whether git holds a file. Raises `UserMistake` when the rule cannot be read, when the local file
    is committed, or when the file is not of a shape that can be added to.
    """
    parse_rule(rule, kind=RuleKind.ALLOW, base=project, project=project, home=places.home)
    files = places.settings_files(project)
    path = files.local if scope is RuleScope.LOCAL else files.user
    if scope is RuleScope.LOCAL and (is_tracked(path) or not is_inside(project, path)):
        raise UserMistake(
            f"{path} is shared with others, so rules are not saved there; choose the user settings instead"
        )
    with locked(places.home / "rules.lock", label="keeping a permission rule", now=now):
        target = path.resolve()
        text = target.read_bytes().decode("utf-8") if target.exists() else ""
        added = with_allow_rule(text, rule, name=str(path))
        if added != text:
            write_atomic(target, added)
    return path


def with_allow_rule(text: str, rule: str, *, name: str) -> str:
    """The text of a settings file with one more allow rule; every candidate is checked by reading it again."""
    import tomllib

    try:
        before = tomllib.loads(text)
    except ValueError as error:
        raise UserMistake(f"{name}: not valid TOML ({error}); fix the file, then grant the rule again") from error
    permissions = before.get("permissions", {})
    rules = permissions.get("allow", []) if isinstance(permissions, dict) else None
    if not isinstance(rules, list):
        raise UserMistake(
            f"{name}: `permissions.allow` is not a list of rules; fix the file, then grant the rule again"
        )
    if rule in rules:
        return text
    expected = {**before, "permissions": {**permissions, "allow": [*rules, rule]}}
    for candidate in _candidates(text, json.dumps(rule, ensure_ascii=False)):
        try:
            if tomllib.loads(candidate) == expected:
                return candidate
        except ValueError:
            continue
    raise UserMistake(f"{name}: the rule could not be inserted; add {rule!r} to `permissions.allow` manually")


def _candidates(text: str, quoted: str) -> Iterator[str]:
    """Texts with the rule in them, the prettiest first."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    for key in _KEY.finditer(text):
        for closing in re.finditer(r"\]", text[key.end() :]):
            yield from _into_list(text, key.end(), key.end() + closing.start(), quoted, line_end)
    for header in _HEADER.finditer(text):
        start = text[: header.end()]
        gap = "" if start.endswith("\n") else line_end
        yield f"{start}{gap}allow = [{quoted}]{line_end}{text[header.end() :]}"
    gap = line_end if text and not text.endswith("\n") else ""
    yield f"{text}{gap}{line_end if text else ''}[permissions]{line_end}allow = [{quoted}]{line_end}"
    yield f"permissions.allow = [{quoted}]{line_end}{text}"
    for inline in re.finditer(r"permissions\s*=\s*\{", text):
        yield f"{text[: inline.end()]} allow = [{quoted}],{text[inline.end() :]}"
        yield f"{text[: inline.end()]} allow = [{quoted}] {text[inline.end() :]}"


def _into_list(text: str, start: int, end: int, quoted: str, line_end: str) -> Iterator[str]:
    inside, rest = text[start:end], text[end:]
    if not inside.strip():
        yield f"{text[:start]}{quoted}{rest}"
    if "\n" in inside:
        items = inside.rstrip(" \t")
        indent = re.search(r"\n([ \t]+)\S", inside)
        line = f"{indent[1] if indent else '  '}{quoted},{line_end}"
        tail = inside[len(items) :]
        yield f"{text[:start]}{items}{line}{tail}{rest}"
        for item in reversed(list(re.finditer(r"[\"']", items))):
            yield f"{text[:start]}{items[: item.end()]},{items[item.end() :]}{line}{tail}{rest}"
    items = inside.rstrip()
    yield f"{text[:start]}{items}, {quoted}{rest}"
    yield f"{text[:start]}{items} {quoted}{rest}"
