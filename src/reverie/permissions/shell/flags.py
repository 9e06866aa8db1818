"""Which options a program may get: only those on a list, because a new release may bring a harmful one."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.permissions.shell.script import Word
from reverie.values import value


@value
class AllowedFlags:
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
        parsed = self.parse(words)
        return None if parsed is None else parsed.operands

    def parse(self, words: Sequence[Word]) -> Parsed | None:
        """The words told apart; None when an option is not on the list or a word cannot be told."""
        operands: list[Word] = []
        options: list[tuple[str, str]] = []
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            if word.value is None or (not self.harmless and may_become_option(word)):
                return None
            if word.value == "--":
                if not all(_is_known(other) for other in waiting):
                    return None
                operands += waiting
                break
            if not word.value.startswith("-") or word.value == "-":
                operands.append(word)
                continue
            parsed_options = self._options(word.value)
            if parsed_options is None:
                return None
            name, value = parsed_options[-1]
            if value is None:
                # An option in the place of a value: the program may see it otherwise.
                if not waiting or not _is_known(waiting[0]) or not _is_value(waiting[0].value or ""):
                    return None
                parsed_options[-1] = (name, waiting.pop(0).value)
            options += [(name, value or "") for name, value in parsed_options]
        return Parsed(tuple(operands), tuple(options))

    def _options(self, text: str) -> list[tuple[str, str | None]] | None:
        """The options in one word, each with its value; None as the last value stands for the next word."""
        if text.startswith("--"):
            name, equals, value = text[2:].partition("=")
            allowed = self.long.split()
            if f"{name}=" in allowed:
                return [(name, value if equals else None)]
            return [(name, value)] if f"{name}?" in allowed or (name in allowed and not equals) else None
        if self.numbers and text[1:].isdecimal():
            return [(text[1:], "")]
        pairs: list[tuple[str, str | None]] = []
        for place, letter in enumerate(text[1:], start=2):
            if letter in self.valued:
                return [*pairs, (letter, text[place:] or None)]
            if letter in self.optional:
                return [*pairs, (letter, text[place:])]
            if letter not in self.alone:
                return None
            pairs.append((letter, ""))
        return pairs


@value
class Parsed:
    """The words of a program, told apart."""

    operands: tuple[Word, ...]
    options: tuple[tuple[str, str], ...]
    """By name, without dashes, with their values; empty for those without one."""

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        """The values that these options are given."""
        return [value for name, value in self.options if name in names]


def may_become_option(word: Word) -> bool:
    """Whether a pattern could match a file whose name looks like an option."""
    return word.has_glob and (word.value or "*")[0] in "*?["


def _is_known(word: Word) -> bool:
    return word.value is not None and not may_become_option(word)


def _is_value(text: str) -> bool:
    return not text.startswith("-") or text[1:].isdecimal()
