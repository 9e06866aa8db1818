"""Read: a file page by page, with line numbers; pictures, notebooks as cells.

What was read is noted at the desk, which is what Edit and Write ask for.

A Jupyter notebook is shown as its cells in order, with what they printed and pictures beside.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from reverie.errors import Error
from reverie.messages.blocks import Image, Json, JsonObject, Text
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.lines import LONGEST_LINE_CHARS, cut, decode, is_binary, number_lines, replace_invalid_bytes, split
from reverie.tools.reach import FileContent, paths_to_judge, read_content, shorten_path
from reverie.tools.schema import number, text
from reverie.tools.tool import ToolAnswer, ToolMistake
from reverie.values import value

PAGE_LINES = 2_000
PAGE_CHARS = 100_000
"""A page never spills, so it must fit beside others: about 25,000 tokens."""
IMAGE_BYTES = 3_750_000
"""Five million characters once encoded, the provider's limit for one picture."""

_PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@value
class FilePage:
    """A part of a file's lines."""

    lines: tuple[str, ...]
    first: int
    total: int
    has_cut_lines: bool

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class Read:
    """Shows files."""

    def __init__(self) -> None:
        self.spec = make_tool_spec(
            "Read",
            "read",
            {
                "file_path": field("string", "Absolute path of the file.", minLength=1),
                "offset": field("integer", "Number of the first line to show; 1 when left out.", minimum=0),
                "limit": field("integer", f"How many lines to show; {PAGE_LINES:,} when left out.", minimum=1),
            },
            required=("file_path",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        paths = paths_to_judge(text(arguments, "file_path"), desk)
        return Need("Read", Act.READ, paths, summary=f"Read {shorten_path(paths[0], desk)}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        content = read_content(text(arguments, "file_path"), desk)
        picture = _media_type(content.data)
        if picture is not None:
            return _as_picture(content, picture, desk)
        if content.data.startswith(b"%PDF-"):
            raise ToolMistake(
                f"{content.path} is a PDF, which cannot be shown here. "
                "Where `pdftotext` is installed, `pdftotext -layout FILE -` in Bash gives its text."
            )
        if is_binary(content.data):
            raise ToolMistake(
                f"{content.path} is a binary file of {len(content.data):,} bytes; it has no lines to show. "
                "`file` or `xxd | head` in Bash tell more about it."
            )
        return _as_text(content, number(arguments, "offset", 1), number(arguments, "limit", PAGE_LINES), desk)


def page_of(lines: Sequence[str], offset: int, limit: int) -> FilePage:
    """The lines from a number on, as many as fit."""
    first = max(1, offset)
    page_lines: list[str] = []
    size = 0
    has_cut = False
    for line in lines[first - 1 : first - 1 + limit]:
        has_cut = has_cut or len(line) > LONGEST_LINE_CHARS
        page_lines.append(cut(line))
        size += len(page_lines[-1]) + 8
        if size > PAGE_CHARS:
            break
    return FilePage(tuple(page_lines), first, len(lines), has_cut)


def _as_text(content: FileContent, offset: int, limit: int, desk: Desk) -> ToolAnswer:
    notebook = _as_notebook(content)
    rendered, pictures = notebook or (decode(content.data), ())
    lines = split(rendered)
    if not lines:
        desk.seen.note(content.path, content.data)
        return ToolAnswer(
            f"({content.path} exists and is empty)", details=_details(content.path, FilePage((), 1, 0, False))
        )
    page = page_of(lines, offset, limit)
    if not page.lines:
        raise ToolMistake(f"{content.path} has {page.total:,} lines; there is nothing from line {page.first:,} on.")
    if notebook is not None or page.has_cut_lines:
        desk.seen.note(content.path, content.data, is_whole=False)
    else:
        desk.seen.note_page(content.path, content.data, page.first, page.last, page.total)
    rendered_page = "\n\n".join([replace_invalid_bytes(number_lines(page.lines, page.first)), *_notes(page, rendered)])
    details = _details(content.path, page)
    if pictures and page.first == 1:
        return ToolAnswer((Text(rendered_page), *pictures), details=details)
    return ToolAnswer(rendered_page, details=details)


def _as_notebook(content: FileContent) -> tuple[str, tuple[Image, ...]] | None:
    if content.path.suffix != ".ipynb":
        return None
    try:
        return render_notebook(json.loads(content.data))
    except (ValueError, NotANotebook):
        return None


def _notes(page: FilePage, whole: str) -> list[str]:
    notes = []
    if page.first > 1 or page.last < page.total:
        rest = f"; go on with offset {page.last + 1}" if page.last < page.total else ""
        notes.append(f"(lines {page.first:,} to {page.last:,} of {page.total:,}{rest})")
    if page.has_cut_lines:
        notes.append(f"(lines of more than {LONGEST_LINE_CHARS:,} characters were cut; Bash can show them whole)")
    if not whole.isascii() and replace_invalid_bytes(whole) != whole:
        notes.append("(not all of it is UTF-8; such bytes are shown as �)")
    return notes


def _details(path: Path, page: FilePage) -> JsonObject:
    return {
        "type": "text",
        "file": {
            "filePath": str(path),
            "numLines": len(page.lines),
            "startLine": page.first,
            "totalLines": page.total,
        },
    }


def _media_type(data: bytes) -> str | None:
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), None)


def _as_picture(content: FileContent, kind: str, desk: Desk) -> ToolAnswer:
    if len(content.data) > IMAGE_BYTES:
        raise ToolMistake(
            f"{content.path} is a picture of {len(content.data):,} bytes; at most {IMAGE_BYTES:,} can be shown. "
            "Make a smaller copy in Bash and read that."
        )
    desk.seen.note(content.path, content.data)
    data = base64.b64encode(content.data).decode("ascii")
    image = Image({"type": "base64", "media_type": kind, "data": data})
    details: JsonObject = {"type": "image", "file": {"filePath": str(content.path), "originalSize": len(content.data)}}
    return ToolAnswer((image,), details=details)


OUTPUT_CHARS = 10_000
"""What one cell printed at most; the rest is data."""


class NotANotebook(Error):
    """The file has the name of a notebook and not its shape."""


def render_notebook(notebook: Json) -> tuple[str, tuple[Image, ...]]:
    """The cells as text, and the pictures among their outputs."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise NotANotebook("no cells")
    parts: list[str] = []
    pictures: list[Image] = []
    for place, cell in enumerate(cells):
        if isinstance(cell, dict):
            parts.append(_cell(cell, place))
            pictures += _pictures(cell)
    return "\n\n".join(parts), tuple(pictures)


def _cell(cell: dict[str, Json], place: int) -> str:
    name = cell.get("id") or f"cell-{place}"
    kind = str(cell.get("cell_type") or "code")
    head = f'<cell id="{name}" type="{kind}">\n{_join_text(cell.get("source"))}\n</cell>'
    outputs = [text for output in _outputs(cell) if (text := _output(output))]
    return head if not outputs else f'{head}\n<output of="{name}">\n' + "\n".join(outputs) + "\n</output>"


def _output(output: dict[str, Json]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    text = _join_text(output.get("text")) or _join_text(data.get("text/plain") if isinstance(data, dict) else None)
    if len(text) > OUTPUT_CHARS:
        text = f"{text[:OUTPUT_CHARS]}\n… [{len(text) - OUTPUT_CHARS:,} more characters of output are not shown]"
    return text.rstrip("\n")


def _pictures(cell: dict[str, Json]) -> list[Image]:
    images = []
    for output in _outputs(cell):
        data = output.get("data")
        for kind in ("image/png", "image/jpeg"):
            encoded = _join_text(data.get(kind) if isinstance(data, dict) else None).replace("\n", "")
            if encoded:
                images.append(Image({"type": "base64", "media_type": kind, "data": encoded}))
    return images


def _outputs(cell: dict[str, Json]) -> list[dict[str, Json]]:
    outputs = cell.get("outputs")
    return [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []


def _join_text(value: Json) -> str:
    """Text, which notebooks keep whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
