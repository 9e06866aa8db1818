"""Whether a command only reads, and from where. Unknown means no."""

from __future__ import annotations

import re
from pathlib import Path

from reverie.permissions.shell.git import is_strange_repository
from reverie.permissions.shell.parse import parse
from reverie.permissions.shell.programs import READERS
from reverie.permissions.shell.script import Assignment, Redirect, Script, Shape, SimpleCommand, Word
from reverie.permissions.shell.word_paths import paths_of_word, resolve_cd
from reverie.permissions.shell.wrapped import inner_step
from reverie.values import value

_SYSTEM_FOLDERS = ("/bin/", "/usr/bin/")
_HARMLESS_VARIABLES = frozenset(
    {"LANG", "LANGUAGE", "TZ", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "CI", "PYTHONUNBUFFERED"}
    | {"LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"}
)
_PLAIN_NAME = re.compile(
    r"[a-z]|files?|dir|name|line|item|word|num|number|idx|index|pkg|package|mod|module|test|case|host|user|repo|branch"
    r"|commit|tag|ext|lang|key|val|value|arg|entry|folder|src|dst|out|log|port|pid|py|js|ts|md|url|ver|version|img"
    r"|image|size|step|part|seed|run|round|attempt|try|count"
)
"""Names to which the shell gives no meaning; a program may give them one, so they count only where none sees them."""
_PAGERS = frozenset({"PAGER", "GIT_PAGER"})
MAX_PLACES = 16
"""Each `cd` multiplies the places where a command may stand."""
NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
"""Redirections to these change nothing."""


@value
class Reads:
    """What a harmless command looks at."""

    paths: tuple[Path, ...]
    """Where it stands and what it names: absolute, `..` and links not resolved; of a pattern, the part before it."""


def is_read_only(command: str, directory: Path) -> bool:
    """Whether a command, run in this directory, changes nothing anywhere. What it may read is not judged here."""
    return reads_of(parse(command), directory, home=None) is not None


def reads_of(script: Script, directory: Path, *, home: Path | None) -> Reads | None:
    """What a script would read; None when it is not known to be harmless. Without a home `~` stays as it is."""
    if script.problem or not script.steps or script.shapes - {Shape.ASSIGNMENT}:
        return None
    if any(redirect.writes and not is_nowhere(redirect) for redirect in script.redirects):
        return None
    # A `cd` may or may not happen, so later paths count from every place that was named.
    places = [directory]
    paths = [directory]
    for step in script.steps:
        words = step_reads(step)
        if words is None:
            return None
        word_paths = [path for word in words for place in places for path in paths_of_word(word, place, home)]
        if program_name(step) == "cd":
            places += resolve_cd(words, places, home)
            if len(places) > MAX_PLACES:
                return None
        elif program_name(step) == "git" and (len(places) > 1 or is_strange_repository(directory)):
            return None
        paths += word_paths
    inputs = [redirect.target for redirect in script.redirects if not redirect.writes]
    # The shell itself makes connections of some names below `/dev`.
    if any(word.value is None or re.match(r"/dev/(?!null$|stdin$)", word.value) for word in inputs):
        return None
    paths += [path for word in inputs for place in places for path in paths_of_word(word, place, home)]
    return Reads(tuple(dict.fromkeys(paths)))


def step_reads(step: SimpleCommand) -> tuple[Word, ...] | None:
    """The words of a simple command that are paths it reads; None when it is not known to be harmless."""
    if not all(is_harmless(assignment, alone=not step.words) for assignment in step.assignments):
        return None
    if not step.words:
        return ()
    inner = inner_step(step)
    if inner is not None:
        return step_reads(inner)
    name = program_name(step)
    reader = READERS.get(name or "")
    if reader is None or step.words[0].has_glob:
        return None
    return reader(step.words[1:])


def is_harmless(assignment: Assignment, *, alone: bool = False) -> bool:
    """Whether a variable cannot change what a command does, only how it shows it.

    `alone` says that no command stands behind it: what it is given stays in the shell.
    """
    if alone and _PLAIN_NAME.fullmatch(assignment.name):
        return assignment.is_loop or (assignment.word.value is not None and not assignment.word.has_tilde)
    if assignment.is_loop or assignment.word.value is None or assignment.word.has_tilde:
        return False
    value = assignment.word.value
    if assignment.name in _PAGERS:
        return value in ("", "cat")
    # A locale or a time zone may name a file; only one of the system's own by its plain name is harmless.
    is_plain = re.fullmatch(r"[\w@.,:+-]*|[A-Z]\w*(?:/[A-Z][\w+-]*)+", value) is not None and ".." not in value
    return assignment.name in _HARMLESS_VARIABLES and is_plain


def is_nowhere(redirect: Redirect) -> bool:
    """Whether a redirection changes nothing."""
    return redirect.target.value in NOWHERE


def program_name(step: SimpleCommand) -> str | None:
    """The program by its plain name; one outside the system's folders is another program."""
    inner = inner_step(step)
    if inner is not None:
        return program_name(inner)
    program = step.program
    if program is None:
        return None
    for folder in _SYSTEM_FOLDERS:
        if program.startswith(folder):
            return program.removeprefix(folder)
    return program
