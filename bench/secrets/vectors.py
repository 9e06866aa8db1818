"""Secrets made at run time from the rules of a gitleaks configuration; none is ever written down."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.files.secret_scan.fresh import fresh

from reverie.values import value

_POSIX_CLASSES = {"[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9"}
_ASSIGNMENT = r"(?:=|>|:{1,3}=|"


@value
class Kind:
    """One rule: the expression that its secrets match, and what their owner calls the service."""

    rule: str
    service: str
    pattern: str
    stands_alone: bool
    """Whether the secret is recognised without its surroundings; else a carrier must name the service."""
    min_bits: float = 0.0


def read_kinds(path: Path) -> list[Kind]:
    """The rules of a `gitleaks.toml`, or of the copy inside an engine's library."""
    content = path.read_bytes()
    first, last = content.find(b"[[rules]]"), content.rfind(b"[[rules]]")
    text = content[first:last].decode("utf-8", "ignore")
    return [_kind(rule) for rule in tomllib.loads(text)["rules"] if "regex" in rule and not rule.get("path")]


def secrets_of(kind: Kind, count: int, chance: random.Random) -> Iterator[str]:
    """Fresh secrets of a kind, as the rule captures them."""
    pattern = re.compile(kind.pattern)
    for _ in range(count):
        for _ in range(200):
            match = pattern.search(fresh(kind.pattern, chance))
            secret = match and next(filter(None, match.groups()), match[0])
            if match and secret and len(secret) >= 8 and _bits(secret) > kind.min_bits:
                yield secret.strip() if kind.stands_alone else secret
                break


def _kind(rule: dict[str, Any]) -> Kind:
    needs_name = _ASSIGNMENT in rule["regex"]
    service = rule["keywords"][0].strip("_-. ") if needs_name else rule["id"].split("-")[0].split(".")[0]
    return Kind(rule["id"], service, to_python(rule["regex"]), not needs_name, float(rule.get("entropy", 0)))


def to_python(pattern: str) -> str:
    """A regular expression of Go: its flags in the middle become groups that end where their group ends."""
    for name, characters in _POSIX_CLASSES.items():
        pattern = pattern.replace(name, characters)
    pattern = pattern.replace(r"\z", r"\Z")
    result, groups, is_in_class, place = "", [0], False, 0
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            result, place = result + pattern[place : place + 2], place + 2
            continue
        if not is_in_class and place and pattern.startswith("(?i)", place):
            result, place = result + "(?i:", place + 4
            groups[-1] += 1
            continue
        if char == "[" and not is_in_class:
            is_in_class = True
        elif char == "]" and is_in_class:
            is_in_class = False
        elif not is_in_class and char == "(":
            groups.append(0)
        elif not is_in_class and char in ")|":
            result += ")" * groups[-1]
            groups[-1] = 0
            if char == ")":
                groups.pop()
        result, place = result + char, place + 1
    return result + ")" * groups[-1]


def _bits(text: str) -> float:
    from reverie.files.secret_scan.plausible import entropy

    return entropy(text)
