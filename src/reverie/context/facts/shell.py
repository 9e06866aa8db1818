"""Which files a shell command reads, writes or changes, as far as its words tell."""

from __future__ import annotations

import re
from functools import lru_cache

from reverie.patterns import lazy_regex
from reverie.values import value

_HEREDOC = lazy_regex(r"<<-?\s*['\"]?(\w+)['\"]?(.*?)\n(.*?)\n\s*\1\b", re.DOTALL)
_TOKEN = lazy_regex(r"'[^']*'|\"(?:\\\\.|[^\"\\\\])*\"|&&|\|\||[;\n]|[^'\";&|\n]+|.", re.DOTALL)
_CD = lazy_regex(r"^\s*cd\s+(\S+)")
_WORD = lazy_regex(r"'[^']*'|\"[^\"]*\"|[^\s'\"]+")
_READERS = frozenset({"cat", "head", "tail", "nl", "less", "more", "bat", "wc", "sed", "awk"})
_SEARCHERS = frozenset({"grep", "rg", "ag", "ack", "egrep", "fgrep"})
_EDITORS = frozenset({"ed", "ex", "patch"})
_FILTERS = frozenset(
    {"-k", "--lf", "--last-failed", "-run", "-t", "--test", "--filter", "--grep", "-g", "--testNamePattern"}
)
_RANGE = lazy_regex(r"(\d+),(\d+)p")
_SCRIPT = lazy_regex(r"^s?/.*/$|^s/|^\d")
_TO_FILE = lazy_regex(r"(?<![0-9&>])>{1,2}\s*([\w./~@+-]+)")
_LOOKS_LIKE_FILE = lazy_regex(r"^[\w./~@+\-\[\]]*(?:\.[A-Za-z]\w{0,9}|/[\w@+\-\[\]]+|Makefile|Dockerfile)$")


@value
class FileUse:
    """What a command does to one file."""

    path: str
    kind: str
    """`read`, `searched`, `edited`, `wrote`, `removed` or `moved`."""
    lines: tuple[int, int] | None = None
    content: str = ""
    """What was written, when the command holds it."""


@lru_cache(maxsize=2_048)
def file_uses(command: str) -> tuple[FileUse, ...]:
    """The files that a command names, with what it does to them."""
    bodies = [(match[2], match[3]) for match in _HEREDOC.finditer(command)]
    bare = _HEREDOC.sub(lambda match: f"<<BODY{match[2]}", command)
    folder = ""
    uses: list[FileUse] = []
    for part in parts_of(bare):
        moved = _CD.match(part)
        if moved:
            folder = moved[1].strip("'\"")
            continue
        body = bodies.pop(0)[1] if "<<BODY" in part and bodies else ""
        uses.extend(_uses_of(part, body, folder))
    return tuple(uses)


def parts_of(command: str) -> list[str]:
    """The single commands of a line, divided outside quotes; pipes stay together."""
    parts = [""]
    for match in _TOKEN.finditer(command):
        if match[0] in {"&&", "||", ";", "\n"}:
            parts.append("")
        else:
            parts[-1] += match[0]
    return [part.strip() for part in parts if part.strip()]


def program_of(command: str) -> str:
    """The program of a command and its sub-command, without folders and settings before it: `git push`."""
    parts = [part for part in parts_of(command) if not part.startswith("cd ")]
    words = [word for word in parts[0].split() if not re.match(r"^\w+=", word)] if parts else []
    if not words:
        return ""
    taken = words[:3] if words[1:2] == ["-m"] else words[:2]
    return " ".join([words[0].rsplit("/", 1)[-1], *(word for word in taken[1:] if re.match(r"^[\w./:-]+$", word))])


def covers(later: str, earlier: str) -> bool:
    """Whether a command runs at least what another ran: the same program on the same files, or on everything.

    A filter by name makes it run less.
    """
    program, files, filters = _scope(later)
    before, files_before, filters_before = _scope(earlier)
    return (
        bool(program)
        and program == before
        and filters <= filters_before
        and (not files or (bool(files_before) and files_before <= files))
    )


@lru_cache(maxsize=1_024)
def _scope(command: str) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """The program with its sub-commands, the files it is given, and the options that make it run less."""
    parts = [part for part in parts_of(command) if not part.startswith("cd ")]
    words = _WORD.findall(parts[-1].split("|", 1)[0]) if parts else []
    program: list[str] = []
    for word in words:
        if "=" in word or (word.startswith("-") and word != "-m") or "/" in word or not re.match(r"^[\w-]+$", word):
            break
        program.append(word)
    files = frozenset(word for word in words[len(program) :] if re.match(r"^[\w./:\[\]-]*[/.][\w./:\[\]-]+$", word))
    filters = frozenset(word.split("=")[0] for word in words if word.split("=")[0] in _FILTERS)
    return tuple(program), files, filters


def _uses_of(part: str, body: str, folder: str) -> list[FileUse]:
    first = part.split("|", 1)[0]
    words = [word.strip("'\"") for word in _WORD.findall(first)]
    while words and re.match(r"^\w+=", words[0]):
        words.pop(0)
    if not words:
        return []
    program = words[0].rsplit("/", 1)[-1]
    written = [_at(folder, path) for path in _TO_FILE.findall(part) if path != "/dev/null"]
    files = [
        _at(folder, word)
        for word in words[1:]
        if _LOOKS_LIKE_FILE.match(word) and not word.startswith("-") and not _SCRIPT.match(word)
    ]
    files = [path for path in files if path not in written and path != "/dev/null"]
    uses = [FileUse(path, "wrote", content=body) for path in written]
    if (program == "sed" and any(word.startswith("-i") for word in words)) or program in _EDITORS:
        uses += [FileUse(path, "edited", content=body or first) for path in files]
    elif program in _READERS and not body:
        range_match = _RANGE.search(part)
        lines = (int(range_match[1]), int(range_match[2])) if range_match else None
        uses += [FileUse(path, "read", lines) for path in files]
    elif program in _SEARCHERS:
        uses += [FileUse(path, "searched") for path in files if "." in path.rsplit("/", 1)[-1]]
    elif program == "rm":
        uses += [FileUse(path, "removed") for path in files]
    elif program in {"mv", "cp"} and files:
        uses += [FileUse(path, "moved" if program == "mv" else "copied") for path in files]
    elif program == "git" and len(words) > 1 and words[1] in {"checkout", "restore"}:
        uses += [FileUse(path, "restored") for path in files]
    return uses


def _at(folder: str, path: str) -> str:
    """The path as seen from where the command started."""
    if not folder or path.startswith(("/", "~")) or folder == ".":
        return path
    return f"{folder.rstrip('/')}/{path.removeprefix('./')}"
