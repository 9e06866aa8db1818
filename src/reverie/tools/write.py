"""Write: creates a file, or replaces one that the model has read."""

from __future__ import annotations

from reverie.amounts import format_count
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.edit import change_details, need_of_change, read_current
from reverie.tools.lines import decode, encode, split
from reverie.tools.reach import paths_to_judge, resolve_judged, write_content
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake


class Write:
    """Makes and replaces files."""

    def __init__(self) -> None:
        self.spec = make_tool_spec(
            "Write",
            "write",
            {
                "file_path": field("string", "Absolute path of the file.", minLength=1),
                "content": field("string", "The whole content, as it shall stand in the file."),
            },
            required=("file_path", "content"),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        path = text(arguments, "file_path")
        paths_to_judge(path, desk)
        before = _read_replaced(path, desk)
        return need_of_change("Write", path, desk, decode(before or b""), text(arguments, "content"))

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        path, content = text(arguments, "file_path"), text(arguments, "content")
        before = _read_replaced(path, desk)
        real = write_content(path, desk, encode(content), is_new=before is None)
        verb = "Made" if before is None else "Replaced"
        lines = len(split(content))
        return ToolAnswer(
            f"{verb} {real} ({format_count(lines, 'line')}).",
            details=change_details(real, before, content, desk),
        )


def _read_replaced(path: str, desk: Desk) -> bytes | None:
    """What the write would replace; None when it makes a file."""
    real = resolve_judged(path, desk)
    if not real.exists():
        return None
    content = read_current(path, desk)
    seen_file = desk.seen.get(real)
    if seen_file is not None and not seen_file.is_whole:
        raise ToolMistake(
            f"Only a part of {real} was shown, and Write would replace all of it. "
            "Use Edit for a change, or Read the rest of the file first."
        )
    return content.data
