"""Draws a replay as text and SVG: cache reads, cache writes and uncached tokens per request."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from reverie.apps.replay.figures import RequestRow, SessionFigures

COLOURS = {"read": "#4c9f70", "written": "#e0a030", "fresh": "#c8503c"}
_LEVELS = " ▁▂▃▄▅▆▇█"

WIDTH, HEIGHT, MARGIN = 860, 240, 46


def rows_of_text(figures: SessionFigures, *, columns: int, lines: int = 8) -> list[str]:
    """A picture in characters: the size of each request against the window, one column or more requests wide."""
    requests = figures.requests
    if not requests:
        return ["(no requests)"]
    columns = max(10, min(columns, len(requests)))
    sizes = [max(row.tokens for row in _slice(requests, column, columns)) for column in range(columns)]
    top = max(*sizes, figures.window) if figures.peak_tokens > figures.window // 4 else max(sizes)
    picture = []
    for line in range(lines - 1, -1, -1):
        cells = []
        for size in sizes:
            filled = size / max(1, top) * lines - line
            cells.append(_LEVELS[max(0, min(8, round(filled * 8)))])
        picture.append("".join(cells))
    return picture


def svg(figures: Sequence[SessionFigures]) -> str:
    """All sessions below one another, each a stacked area with the line of its window."""
    panels = [_panel(one, number * (HEIGHT + MARGIN)) for number, one in enumerate(figures)]
    height = len(figures) * (HEIGHT + MARGIN) + 24
    legend = "".join(
        f'<rect x="{MARGIN + 150 * number}" y="{height - 18}" width="12" height="12" fill="{colour}"/>'
        f'<text x="{MARGIN + 18 + 150 * number}" y="{height - 8}">{name}</text>'
        for number, (name, colour) in enumerate(COLOURS.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + 2 * MARGIN}" height="{height}" '
        f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(panels)}{legend}</svg>\n"
    )


def _panel(figures: SessionFigures, top: int) -> str:
    rows = figures.requests
    most = max(figures.peak_tokens, 1)
    base = top + HEIGHT
    title = f"{figures.file} · {figures.strategy} · peak {figures.peak_tokens:,} tokens"
    parts = [f'<text x="{MARGIN}" y="{top + 14}">{escape(title)}</text>']
    floors = [0] * len(rows)
    for name, colour in COLOURS.items():
        tops = [floor + _amount(row, name) for floor, row in zip(floors, rows, strict=True)]
        parts.append(_area(floors, tops, most, base, colour))
        floors = tops
    if figures.window <= most:
        height = base - (HEIGHT - 24) * figures.window / most
        parts.append(
            f'<line x1="{MARGIN}" x2="{MARGIN + WIDTH}" y1="{height:.1f}" y2="{height:.1f}" '
            f'stroke="#888" stroke-dasharray="4 3"/>'
        )
    for number, row in enumerate(rows):
        if row.reduced:
            x = _x(number, len(rows))
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{base}" y2="{base + 6}" stroke="#333"/>')
    parts.append(f'<text x="2" y="{base - HEIGHT + 32}">{most:,}</text><text x="2" y="{base}">0</text>')
    return "".join(parts)


def _area(floors: Sequence[int], tops: Sequence[int], most: int, base: int, colour: str) -> str:
    if not tops:
        return ""
    count = len(tops)
    scale = (HEIGHT - 24) / most
    upper = [f"{_x(number, count):.1f},{base - value * scale:.1f}" for number, value in enumerate(tops)]
    lower = [f"{_x(number, count):.1f},{base - value * scale:.1f}" for number, value in enumerate(floors)]
    return f'<polygon points="{" ".join(upper + lower[::-1])}" fill="{colour}"/>'


def _x(number: int, count: int) -> float:
    return MARGIN + WIDTH * (number + 0.5) / max(1, count)


def _amount(row: RequestRow, name: str) -> int:
    return {"read": row.cache_read, "written": row.cache_write, "fresh": row.fresh}[name]


def _slice(rows: Sequence[RequestRow], column: int, columns: int) -> Sequence[RequestRow]:
    start = column * len(rows) // columns
    return rows[start : max(start + 1, (column + 1) * len(rows) // columns)]
