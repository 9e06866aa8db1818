"""A shell command as values: simple commands, their words, their redirections, and the shapes around them."""

from __future__ import annotations

from enum import StrEnum

from reverie.values import value


class Shape(StrEnum):
    """What a script holds besides simple commands, pipes and lists."""

    EXPANSION = "a variable"
    SUBSTITUTION = "a command substitution"
    PROCESS = "a process substitution"
    BACKGROUND = "a background job"
    CONTROL = "a loop or a condition"
    HEREDOC = "a here-document"
    ASSIGNMENT = "a variable assignment"
    BRACES = "a brace expansion"


@value
class Word:
    """One word as the shell sees it."""

    text: str
    """As it was written."""
    value: str | None
    """What the program gets; None when only the running shell can tell."""
    has_glob: bool = False
    """An unquoted pattern: the value may become any number of file names."""
    has_tilde: bool = False
    """It begins with an unquoted `~`."""
    follows_links: bool = False
    """The program would also read what links below it lead to."""


@value
class Assignment:
    """`NAME=value` before a command, alone, or as a loop does it."""

    name: str
    word: Word
    is_loop: bool = False
    """A loop assigns its words, one after the other."""


@value
class SimpleCommand:
    """One simple command."""

    text: str
    """As it was written, without redirections behind it."""
    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()

    @property
    def program(self) -> str | None:
        """The first word; None when it cannot be told."""
        return self.words[0].value if self.words else None


@value
class Redirect:
    """A file that the shell itself opens."""

    target: Word
    writes: bool


@value
class Script:
    """Everything a command line would run, also inside substitutions, in the order of the text."""

    steps: tuple[SimpleCommand, ...]
    redirects: tuple[Redirect, ...] = ()
    shapes: frozenset[Shape] = frozenset()
    problem: str = ""
    """Why the steps are only a guess; empty when both parsers agree (`parse`, `plain_parser`)."""
    is_broken: bool = False
    """The text is a syntax error for the shell itself."""


def quote_word(value: str) -> str:
    """A word as one would type it: plain when it is plain, else in single quotes."""
    if value and all(character.isalnum() or character in "_-./:=@%+,^~" for character in value):
        return value
    return "'" + value.replace("'", "'\"'\"'") + "'"


def spell_words(words: tuple[Word, ...]) -> str:
    """The words in one plain spelling, so that quotes and spaces make no difference."""
    return " ".join(word.text if word.value is None or word.has_glob else quote_word(word.value) for word in words)
