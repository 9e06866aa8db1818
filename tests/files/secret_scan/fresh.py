"""Secrets made at test time from the patterns themselves, so that no secret-looking text is ever committed."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

# What parses patterns is private to `re` and has no types.
constants: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

WORD = string.ascii_letters + string.digits + "_"
OF_CATEGORY = {constants.CATEGORY_DIGIT: string.digits, constants.CATEGORY_SPACE: " "}
LONGEST_OPEN_REPEAT = 40


def fresh(pattern: str, chance: random.Random) -> str:
    """A random string that matches the pattern."""
    return "".join(_pieces(_parsed(pattern), chance))


def letters_and_digits(size: int, chance: random.Random) -> str:
    """A random value that cannot be taken for a word: digits lie between the letters."""
    return "".join(chance.choice(string.digits if n % 4 == 3 else string.ascii_letters) for n in range(size))


@cache
def _parsed(pattern: str) -> Any:
    return parser.parse(pattern)


def _pieces(tree: Any, chance: random.Random) -> Iterator[str]:
    for kind, value in tree:
        if kind is constants.LITERAL:
            yield chr(value)
        elif kind is constants.IN:
            yield chance.choice(_characters(value))
        elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            low, high, inner = value
            high = max(low, min(int(high), LONGEST_OPEN_REPEAT))
            for _ in range(chance.randint(low, high)):
                yield from _pieces(inner, chance)
        elif kind is constants.SUBPATTERN:
            yield from _pieces(value[-1], chance)
        elif kind is constants.BRANCH:
            yield from _pieces(chance.choice(value[1]), chance)
        elif kind is constants.ANY:
            yield chance.choice(WORD)
        elif kind is constants.NOT_LITERAL:
            yield chance.choice(WORD.replace(chr(value), ""))
        elif kind in (constants.ASSERT, constants.ASSERT_NOT, constants.AT):
            continue
        else:
            raise NotImplementedError(kind)


def _characters(parts: Any) -> str:
    found, is_negated = "", False
    for kind, value in parts:
        if kind is constants.NEGATE:
            is_negated = True
        elif kind is constants.LITERAL:
            found += chr(value)
        elif kind is constants.RANGE:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind is constants.CATEGORY:
            found += OF_CATEGORY.get(value, WORD)
        else:
            raise NotImplementedError(kind)
    return "".join(sorted(set(WORD + " .") - set(found))) if is_negated else found
