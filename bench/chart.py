"""A column of a table as a picture: a bar for every row, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.figures import Figure, Row

WIDTH, ROW, LEFT, TOP, RIGHT = 900, 24, 330, 60, 200
_INK, _SOFT, _GRID, _OURS, _OTHER = "#1c2430", "#5b6675", "#d9dee6", "#2f6fde", "#9aa7b8"


def chart(title: str, column: str, rows: Sequence[Row]) -> str:
    """An SVG document; rows without the figure have no bar."""
    bars = [(row, figure) for row in rows if (figure := row.figures.get(column)) and figure.value is not None]
    unit = bars[0][1].unit if bars else ""
    most = 1.0 if unit == "%" else max((each.high or each.value or 0.0 for _, each in bars), default=1.0) or 1.0
    height = TOP + ROW * len(bars) + 16
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
            f' aria-label="{escape(title)}" font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold" fill="{_INK}">{escape(title)}</text>',
        f'<text x="12" y="40" fill="{_SOFT}">{escape(column)}; the line is the interval</text>',
    ]
    for quarter in range(5):
        x = _x(quarter / 4)
        lines.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{TOP + ROW * len(bars)}" stroke="{_GRID}"/>')
    for number, (row, figure) in enumerate(bars):
        lines += _bar(row, figure, TOP + ROW * number, most)
    return "\n".join([*lines, "</svg>", ""])


def _bar(row: Row, figure: Figure, y: int, most: float) -> list[str]:
    middle = y + ROW / 2
    value = (figure.value or 0.0) / most
    colour = _OURS if row.is_ours else _OTHER
    weight = ' font-weight="bold"' if row.is_ours else ""
    lines = [
        f'<text x="{LEFT - 8}" y="{middle + 4}" text-anchor="end" fill="{_INK}"{weight}>{escape(row.label)}</text>',
        (
            f'<rect x="{_x(0)}" y="{y + 4}" width="{max(1.0, _x(value) - _x(0)):.1f}" height="{ROW - 8}" rx="2"'
            f' fill="{colour}"/>'
        ),
    ]
    if figure.low is not None and figure.high is not None:
        low, high = _x(figure.low / most), _x(figure.high / most)
        lines.append(f'<path d="M{low} {middle}H{high}" stroke="{_INK}" stroke-width="1.5"/>')
    lines.append(f'<text x="{_x(1) + 10}" y="{middle + 4}" fill="{_SOFT}">{escape(str(figure))}</text>')
    return lines


def _x(place: float) -> float:
    return round(LEFT + min(1.0, place) * (WIDTH - LEFT - RIGHT), 1)
