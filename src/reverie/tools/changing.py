"""What Write and Edit share: whether a file may be changed, and how the change is shown."""

from __future__ import annotations

from pathlib import Path

from reverie.messages.blocks import Json, JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.desk import Desk
from reverie.tools.lines import decode, unified_diff
from reverie.tools.reach import FileContent, judged, read_content, shortened
from reverie.tools.tool import ToolMistake


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
    paths = judged(path, desk)
    name = shortened(paths[0], desk)
    return Need(tool, Act.EDIT, paths, summary=f"{tool} {name}", preview=unified_diff(before, after, name.lstrip("/")))


def change_details(path: Path, before: bytes | None, after: str, desk: Desk, **more: Json) -> JsonObject:
    """A change for programs and people: the patch and how many lines it adds and removes."""
    diff = unified_diff(decode(before or b""), after, shortened(path, desk).lstrip("/"))
    rows = diff.split("\n")[2:]
    return {
        "type": "create" if before is None else "update",
        "filePath": str(path),
        "diff": diff,
        "added": sum(row.startswith("+") for row in rows),
        "removed": sum(row.startswith("-") for row in rows),
        **more,
    }
