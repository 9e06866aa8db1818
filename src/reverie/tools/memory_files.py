"""The provider's own memory tool (`memory_20250818`) over the memory store: its commands and texts.

The model sees the store's directory as `/memories`. Every write is a commit and is scanned like any other memory; only
Markdown files can be written, since only they are memories. Hidden files and links do not exist here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reverie.errors import Error, Refused
from reverie.files import safe_join
from reverie.memory.store.topic_store import Store
from reverie.memory.store.worktree import INDEX_FILE, list_tracked
from reverie.memory.topics.topic import Trust, parse_topic, render_topic
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.entries import ToolSpec
from reverie.permissions.need import Act, Need
from reverie.tools.desk import Desk
from reverie.tools.lines import split
from reverie.tools.schema import check, number, text
from reverie.tools.tool import ToolAnswer

KIND = "memory_20250818"
NAME = "memory"
ROOT = "/memories"
MAX_LINES = 999_999
SNIPPET_LINES = 3

_TEXT: Json = {"type": "string"}
_PATH: Json = {"type": "string", "minLength": 1}
_FIELDS: dict[str, tuple[dict[str, Json], list[Json]]] = {
    "view": (
        {"path": _PATH, "view_range": {"type": ["array", "null"], "items": {"type": "integer"}}},
        ["path"],
    ),
    "create": ({"path": _PATH, "file_text": _TEXT}, ["path", "file_text"]),
    "str_replace": ({"path": _PATH, "old_str": _PATH, "new_str": _TEXT}, ["path", "old_str"]),
    "insert": ({"path": _PATH, "insert_line": {"type": "integer"}, "insert_text": _TEXT},
               ["path", "insert_line", "insert_text"]),
    "delete": ({"path": _PATH}, ["path"]),
    "rename": ({"old_path": _PATH, "new_path": _PATH}, ["old_path", "new_path"]),
}  # fmt: skip


class _Failed(Error):
    """What the provider's texts say of a failure."""


class MemoryFiles:
    """The six commands over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.spec = ToolSpec(NAME, extra={"type": KIND})

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        _check(arguments)
        command = text(arguments, "command")
        path = text(arguments, "path") or text(arguments, "old_path")
        preview = text(arguments, "file_text") or text(arguments, "new_str") or text(arguments, "insert_text")
        return Need(NAME, Act.NONE, summary=f"Memory: {command} {path}", preview=preview)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return text(arguments, "command") == "view"

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        _check(arguments)
        try:
            return ToolAnswer(self._do(arguments, desk))
        except _Failed as failure:
            return ToolAnswer(str(failure), is_error=True)
        except (Error, UnicodeError) as problem:
            return ToolAnswer(f"Error: {problem}", is_error=True)

    def _do(self, arguments: JsonObject, desk: Desk) -> str:
        path = text(arguments, "path")
        match text(arguments, "command"):
            case "view":
                return self._view(path, arguments)
            case "create":
                return self._create(path, text(arguments, "file_text"), desk)
            case "str_replace":
                return self._replace(path, text(arguments, "old_str"), text(arguments, "new_str"), desk)
            case "insert":
                return self._insert(path, number(arguments, "insert_line", 0), text(arguments, "insert_text"), desk)
            case "delete":
                return self._delete(path, desk)
            case _:
                return self._rename(text(arguments, "old_path"), text(arguments, "new_path"), desk)

    def _view(self, path: str, arguments: JsonObject) -> str:
        place = self._place(path)
        if place.is_dir():
            rows = "\n".join(f"{_size(size)}\t{name}" for name, size in _list_levels(place, path.rstrip("/")))
            intro = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and "
            return f"{intro}node_modules:\n{rows}"
        lines = split(self._read(path, f"The path {path} does not exist. Please provide a valid path."))
        if len(lines) > MAX_LINES:
            raise _Failed(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = _range(arguments, len(lines))
        return f"Here's the content of {path} with line numbers:\n{_number_lines(lines[first - 1 : last], first)}"

    def _create(self, path: str, content: str, desk: Desk) -> str:
        if self._place(path).exists():
            raise _Failed(f"Error: File {path} already exists")
        self._write_own(path, content, f"create {path}", desk)
        return f"File created successfully at: {path}"

    def _replace(self, path: str, old: str, new: str, desk: Desk) -> str:
        content = self._read(path, f"Error: The path {path} does not exist. Please provide a valid path.")
        starts = list(_occurrences(content, old))
        if not starts:
            raise _Failed(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if len(starts) > 1:
            places = ", ".join(str(content.count("\n", 0, start) + 1) for start in starts)
            raise _Failed(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. "
                "Please ensure it is unique"
            )
        changed = content[: starts[0]] + new + content[starts[0] + len(old) :]
        self._write_own(path, changed, f"edit {path}", desk)
        first = content.count("\n", 0, starts[0])
        begin = max(0, first - SNIPPET_LINES)
        around = split(changed)[begin : first + new.count("\n") + SNIPPET_LINES + 1]
        return f"The memory file has been edited.\n{_number_lines(around, begin + 1)}"

    def _insert(self, path: str, after: int, added: str, desk: Desk) -> str:
        content = self._read(path, f"Error: The path {path} does not exist")
        lines = _lines_with_ends(content)
        if not 0 <= after <= len(lines):
            raise _Failed(
                f"Error: Invalid `insert_line` parameter: {after}. "
                f"It should be within the range of lines of the file: [0, {len(lines)}]"
            )
        if after and not lines[after - 1].endswith("\n"):
            lines[after - 1] += "\n"
        block = added if added.endswith("\n") else f"{added}\n"
        self._write_own(path, "".join([*lines[:after], block, *lines[after:]]), f"edit {path}", desk)
        return f"The file {path} has been edited."

    def _delete(self, path: str, desk: Desk) -> str:
        place = self._place(path)
        if self._inside(path) == "":
            raise _Failed(f"Error: {ROOT} itself cannot be deleted")
        if not place.exists():
            raise _Failed(f"Error: The path {path} does not exist")
        self._write(dict.fromkeys(self._files_at(path)), f"delete {path}", desk)
        _remove_empty(place)
        return f"Successfully deleted {path}"

    def _rename(self, old: str, new: str, desk: Desk) -> str:
        place, target = self._place(old), self._place(new)
        if self._inside(old) == "" or self._inside(new) == "":
            raise _Failed(f"Error: {ROOT} itself cannot be renamed")
        if not place.exists():
            raise _Failed(f"Error: The path {old} does not exist")
        if target.exists():
            raise _Failed(f"Error: The destination {new} already exists")
        if target.is_relative_to(place):
            raise _Failed(f"Error: {new} lies inside {old}")
        files: dict[str, str | None] = {}
        for path in self._files_at(old):
            moved = self._inside(new) + path.removeprefix(self._inside(old))
            files |= {path: None, moved: self._read(f"{ROOT}/{path}", f"Error: The path {old} does not exist")}
        self._write(files, f"rename {old} to {new}", desk)
        _remove_empty(place)
        return f"Successfully renamed {old} to {new}"

    def _write_own(self, path: str, content: str, reason: str, desk: Desk) -> None:
        """Write words of the model, which are never what the user `said`."""
        inside = self._inside(path)
        topic = parse_topic(inside, content)
        if topic.trust is Trust.said:
            content = render_topic(replace(topic, trust=Trust.inferred), content)
        self._write({inside: content}, reason, desk)

    def _write(self, files: dict[str, str | None], reason: str, desk: Desk) -> None:
        if desk.memories is None:
            raise _Failed("Error: memory is off")
        if any(Path(path).name == INDEX_FILE for path in files):
            raise _Failed(f"Error: {INDEX_FILE} is an index that is made from the other files; change those")
        desk.memories.write_files(files, f"memory tool: {reason}")

    def _files_at(self, path: str) -> list[str]:
        """The tracked files that a path names: itself, or all below it."""
        inside = self._inside(path)
        tracked = sorted(list_tracked(self._store.folder))
        paths = [each for each in tracked if each == inside or each.startswith(f"{inside}/")]
        if not paths:
            raise _Failed(f"Error: {path} is no memory; only Markdown files can be changed here")
        return paths

    def _inside(self, path: str) -> str:
        """A path below the root, with nothing that leads elsewhere."""
        parts = path.strip().split("/")
        if parts[:2] != ["", ROOT[1:]] or any(part in {".", ".."} for part in parts):
            raise _Failed(f"Error: The path {path} is not inside {ROOT}")
        inside = [part for part in parts[2:] if part]
        if any(part.startswith(".") for part in inside):
            raise _Failed(f"Error: The path {path} is hidden and cannot be used")
        return "/".join(inside)

    def _place(self, path: str) -> Path:
        """Where a path lies on disk; one that passes a link lies nowhere."""
        inside = self._inside(path)
        root = self._store.folder.directory.resolve()
        try:
            real = safe_join(root, inside)
        except Refused:
            raise _Failed(f"Error: The path {path} leads out of {ROOT}") from None
        if real != root / inside:
            raise _Failed(f"Error: The path {path} is a link and is not followed")
        return real

    def _read(self, path: str, missing: str) -> str:
        place = self._place(path)
        if not place.is_file():
            raise _Failed(missing)
        content, _ = self._store.read_bytes(self._inside(path))
        return content.decode()


def _check(arguments: JsonObject) -> None:
    command: dict[str, Json] = {"type": "string", "enum": [*_FIELDS]}
    fields, required = _FIELDS.get(text(arguments, "command"), ({}, []))
    properties: dict[str, Json] = {"command": command, **fields}
    check(arguments, {"type": "object", "properties": properties, "required": ["command", *required]}, NAME)


def _range(arguments: JsonObject, total: int) -> tuple[int, int]:
    view_range = arguments.get("view_range")
    if not isinstance(view_range, list) or len(view_range) != 2:
        return 1, total
    first, last = (int(value) for value in view_range if isinstance(value, int | float))
    return max(1, first), total if last == -1 else last


def _number_lines(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, first))


def _lines_with_ends(content: str) -> list[str]:
    lines = content.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _occurrences(content: str, piece: str) -> Iterator[int]:
    start = content.find(piece)
    while start >= 0:
        yield start
        start = content.find(piece, start + len(piece))


def _list_levels(folder: Path, name: str, levels: int = 2) -> Iterator[tuple[str, int]]:
    """The folder and what is in it, each with its size, in the order of names."""
    rows: list[tuple[str, int]] = []
    total = 0
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name == "node_modules" or entry.is_symlink():
            continue
        if entry.is_dir():
            below = list(_list_levels(entry, f"{name}/{entry.name}", levels - 1))
            rows += below
            total += below[0][1]
        elif entry.is_file():
            total += entry.stat().st_size
            rows.append((f"{name}/{entry.name}", entry.stat().st_size))
    yield name, total
    if levels > 0:
        yield from rows


def _size(size_bytes: int) -> str:
    """As `du -h` would say it."""
    if size_bytes < 1024:
        return f"{size_bytes}B"
    size = size_bytes / 1024
    for unit in "KMG":
        if size < 1024 or unit == "G":
            return f"{size:.1f}{unit}"
        size /= 1024
    raise AssertionError(size_bytes)


def _remove_empty(place: Path) -> None:
    """Folders without files are none of a memory's."""
    if not place.is_dir():
        return
    for below in place.iterdir():
        _remove_empty(below)
    try:
        place.rmdir()
    except OSError:
        return
