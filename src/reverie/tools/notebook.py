"""A Jupyter notebook as text: its cells in order, with what they printed; pictures beside."""

from __future__ import annotations

from reverie.errors import Error
from reverie.messages.blocks import Image, Json

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
    head = f'<cell id="{name}" type="{kind}">\n{_joined(cell.get("source"))}\n</cell>'
    said = [text for output in _outputs(cell) if (text := _output(output))]
    return head if not said else f'{head}\n<output of="{name}">\n' + "\n".join(said) + "\n</output>"


def _output(output: dict[str, Json]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename')}: {output.get('evalue')}"
    data = output.get("data")
    text = _joined(output.get("text")) or _joined(data.get("text/plain") if isinstance(data, dict) else None)
    if len(text) > OUTPUT_CHARS:
        text = f"{text[:OUTPUT_CHARS]}\n… [{len(text) - OUTPUT_CHARS:,} more characters of output are not shown]"
    return text.rstrip("\n")


def _pictures(cell: dict[str, Json]) -> list[Image]:
    found = []
    for output in _outputs(cell):
        data = output.get("data")
        for kind in ("image/png", "image/jpeg"):
            encoded = _joined(data.get(kind) if isinstance(data, dict) else None).replace("\n", "")
            if encoded:
                found.append(Image({"type": "base64", "media_type": kind, "data": encoded}))
    return found


def _outputs(cell: dict[str, Json]) -> list[dict[str, Json]]:
    outputs = cell.get("outputs")
    return [output for output in outputs if isinstance(output, dict)] if isinstance(outputs, list) else []


def _joined(value: Json) -> str:
    """Text, which notebooks keep whole or as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""
