"""Edit: replace an exact piece of a file that the model has read; and what Write shares with it.

Line ends are the file's own: a piece is found whatever they are, and what is put in its place gets the same. Byte order
mark, mode and bytes that are no text stay as they are.

Both ask whether a file may be changed, and show the change, by the functions at the end.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from reverie.messages.blocks import Json, JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.lines import cut, decode, encode, number_lines, replace_invalid_bytes, split, unified_diff
from reverie.tools.reach import FileContent, paths_to_judge, read_content, shorten_path, write_content
from reverie.tools.schema import flag, text
from reverie.tools.tool import ToolAnswer, ToolMistake

SNIPPET_LINES = 4
"""Shown before and after a change."""
LONGEST_SNIPPET_LINES = 60

_LINE_NUMBERS = re.compile(r"^\s*\d+→", re.MULTILINE)
_LIKENESS = 0.6
_COMPARED_LINES = 5_000


class Edit:
    """Changes files."""

    def __init__(self) -> None:
        self.spec = make_tool_spec(
            "Edit",
            "edit",
            {
                "file_path": field("string", "Absolute path of the file.", minLength=1),
                "old_string": field("string", "The piece to replace, exactly as it stands in the file.", minLength=1),
                "new_string": field("string", "What shall stand in its place; empty removes the piece."),
                "replace_all": field("boolean", "Replace every occurrence instead of the only one."),
            },
            required=("file_path", "old_string", "new_string"),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        path = text(arguments, "file_path")
        paths_to_judge(path, desk)
        before = decode(read_current(path, desk).data)
        return need_of_change("Edit", path, desk, before, _apply_edit(before, arguments))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        path = text(arguments, "file_path")
        content = read_current(path, desk)
        before = decode(content.data)
        after = _apply_edit(before, arguments)
        was_whole = (seen := desk.seen.get(content.path)) is not None and seen.is_whole
        real = write_content(path, desk, encode(after), is_new=False)
        if not was_whole:
            desk.seen.mark_partial(real)
        details = change_details(real, content.data, after, desk, replaceAll=flag(arguments, "replace_all"))
        return ToolAnswer(f"Changed {real}. It now reads there:\n{_snippet(before, after)}", details=details)


def replace_text(content: str, old: str, new: str, *, everywhere: bool = False) -> str:
    """The content with one piece replaced. Raises `ToolMistake` when it is not there, or more than once."""
    old, new = _plain(old), _plain(new)
    if old == new:
        raise ToolMistake("`old_string` and `new_string` are the same; there is nothing to change.")
    pattern = re.compile(r"\r?\n".join(map(re.escape, old.split("\n"))))
    matches = list(pattern.finditer(content))
    if not matches:
        raise ToolMistake(_explain_no_match(content, old))
    if len(matches) > 1 and not everywhere:
        places = ", ".join(str(content.count("\n", 0, match.start()) + 1) for match in matches[:20])
        raise ToolMistake(
            f"`old_string` stands in the file {len(matches)} times (at lines {places}). "
            "Give more of the surrounding text so that it is unique, or set `replace_all`."
        )
    newline = _newline(content)
    return pattern.sub(lambda match: new.replace("\n", _newline(match[0], newline)), content)


def _apply_edit(content: str, arguments: JsonObject) -> str:
    old, new = text(arguments, "old_string"), text(arguments, "new_string")
    return replace_text(content, old, new, everywhere=flag(arguments, "replace_all"))


def _plain(piece: str) -> str:
    return piece.replace("\r\n", "\n")


def _newline(content: str, default: str = "\n") -> str:
    """How most lines of a text end."""
    all_ends, windows = content.count("\n"), content.count("\r\n")
    if not all_ends:
        return default
    return "\r\n" if windows * 2 > all_ends else "\n"


def _explain_no_match(content: str, old: str) -> str:
    explanation = "`old_string` does not stand in the file exactly like this."
    if _LINE_NUMBERS.search(old) and _LINE_NUMBERS.sub("", old) in _plain(content):
        return f"{explanation} It holds the line numbers that Read puts in front; leave them out."
    lines = split(content)
    old_lines = split(old)
    place = _alike_but_for_blanks(lines, old_lines)
    if place is not None:
        near = number_lines([cut(line) for line in lines[place : place + len(old_lines)]], place + 1)
        return f"{explanation} These lines differ from it only in white space:\n{replace_invalid_bytes(near)}"
    place = _most_alike(lines, old_lines)
    if place is None:
        return f"{explanation} Nothing in the file is like it; Read the file again."
    first = max(0, place - 2)
    near = number_lines([cut(line) for line in lines[first : place + max(3, min(len(old_lines), 12))]], first + 1)
    return f"{explanation} Most alike is this:\n{replace_invalid_bytes(near)}"


def _alike_but_for_blanks(lines: list[str], old_lines: list[str]) -> int | None:
    bare = ["".join(line.split()) for line in lines]
    sought = ["".join(line.split()) for line in old_lines]
    if not any(sought):
        return None
    starts = range(len(bare) - len(sought) + 1)
    return next((start for start in starts if bare[start : start + len(sought)] == sought), None)


def _most_alike(lines: list[str], old_lines: list[str]) -> int | None:
    """The place of the line that is most like the first telling line of what was sought."""
    telling = max((line.strip()[:300] for line in old_lines[:10]), key=len, default="")
    if not telling:
        return None
    best = difflib.get_close_matches(
        telling, [line.strip()[:300] for line in lines[:_COMPARED_LINES]], n=1, cutoff=_LIKENESS
    )
    if not best:
        return None
    return next(place for place, line in enumerate(lines) if line.strip()[:300] == best[0])


def _snippet(before: str, after: str) -> str:
    """The changed lines with a few around them; of many changes the first."""
    old, new = split(before), split(after)
    first = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(new))
    same_tail = 0
    while same_tail < min(len(old), len(new)) - first and old[-1 - same_tail] == new[-1 - same_tail]:
        same_tail += 1
    start = max(0, first - SNIPPET_LINES)
    end = min(len(new), len(new) - same_tail + SNIPPET_LINES, start + LONGEST_SNIPPET_LINES)
    return (
        replace_invalid_bytes(number_lines([cut(line) for line in new[start:end]], start + 1)) or "(the file is empty)"
    )


def read_current(path: str, desk: Desk) -> FileContent:
    """The file as it is, which must be what the model has read."""
    content = read_content(path, desk)
    if desk.seen.get(content.path) is None:
        raise ToolMistake(f"{content.path} has not been read yet. Read it first, then change it.")
    if not desk.seen.is_current(content.path, content.data):
        raise ToolMistake(f"{content.path} was changed since it was read. Read it again, then change it.")
    return content


def need_of_change(tool: str, path: str, desk: Desk, before: str, after: str) -> Need:
    """What a change would do, with the patch for people to look at."""
    paths = paths_to_judge(path, desk)
    name = shorten_path(paths[0], desk)
    return Need(tool, Act.EDIT, paths, summary=f"{tool} {name}", preview=unified_diff(before, after, name.lstrip("/")))


def change_details(path: Path, before: bytes | None, after: str, desk: Desk, **more: Json) -> JsonObject:
    """A change for programs and people: the patch and how many lines it adds and removes."""
    diff = unified_diff(decode(before or b""), after, shorten_path(path, desk).lstrip("/"))
    rows = diff.split("\n")[2:]
    return {
        "type": "create" if before is None else "update",
        "filePath": str(path),
        "diff": diff,
        "added": sum(row.startswith("+") for row in rows),
        "removed": sum(row.startswith("-") for row in rows),
        **more,
    }
