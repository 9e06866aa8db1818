"""Which options a program may get. Options on a list pass, all others do not: a new release may bring a harmful one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.permissions.shell.script import Word


@dataclass(frozen=True, slots=True)
class Flags:
    """The harmless options of one program."""

    alone: str = ""
    """Letters that take no value."""
    valued: str = ""
    """Letters with a value, joined or as the next word."""
    optional: str = ""
    """Letters whose value, if any, is joined to them."""
    long: str = ""
    """Long options: `name` takes no value, `name=` needs one, `name?` may have one joined to it."""
    numbers: bool = False
    """`-5` is allowed."""
    harmless: bool = False
    """No option of this program at all could do harm, so an unquoted pattern may stand first in a word."""

    def operands(self, words: Sequence[Word]) -> tuple[Word, ...] | None:
        """The words that are no options; None when an option is not on the list or a word cannot be told."""
        found: list[Word] = []
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word.value is None or (not self.harmless and may_become_option(word)):
                return None
            if word.value == "--":
                return (*found, *waiting) if all(_is_known(other) for other in waiting) else None
            if not word.value.startswith("-") or word.value == "-":
                found.append(word)
                continue
            wants_next = self._wants_next(word.value)
            if wants_next is None or (wants_next and not waiting):
                return None
            if wants_next and not _is_known(waiting.pop(0)):
                return None
        return tuple(found)

    def _wants_next(self, option: str) -> bool | None:
        """Whether the option's value is the next word; None for an option that is not on the list."""
        if option.startswith("--"):
            name, equals, _ = option[2:].partition("=")
            known = self.long.split()
            if f"{name}=" in known:
                return not equals
            return False if f"{name}?" in known or (name in known and not equals) else None
        if self.numbers and option[1:].isdecimal():
            return False
        for place, letter in enumerate(option[1:], start=2):
            if letter in self.valued:
                return place == len(option)
            if letter in self.optional:
                return False
            if letter not in self.alone:
                return None
        return False


def may_become_option(word: Word) -> bool:
    """Whether a pattern could match a file whose name looks like an option."""
    return word.has_glob and (word.value or "*")[0] in "*?["


def _is_known(word: Word) -> bool:
    return word.value is not None and not may_become_option(word)
