"""The table as a picture: for each window the visible and reachable share of every strategy, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, ROW, LEFT, TOP = 900, 22, 300, 46
_INK, _SOFT, _GRID, _OURS, _OTHER, _REACH = "#1c2430", "#5b6675", "#d9dee6", "#2f6fde", "#9aa7b8", "#e0862a"


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of the picture."""

    window_tokens: int
    label: str
    visible: tuple[float, float, float]
    reachable: float
    tokens: float
    is_ours: bool


def chart(bars: Sequence[Bar]) -> str:
    """An SVG document."""
    windows = sorted({bar.window_tokens for bar in bars})
    height = TOP + sum(34 + ROW * sum(1 for bar in bars if bar.window_tokens == one) for one in windows) + 16
    legend = "bar: visible, with 95 % interval; dot: reachable by one read"
    title = "What the continuation needs and still has"
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold" fill="{_INK}">{title}</text>',
        f'<text x="{LEFT + 60}" y="22" fill="{_SOFT}">{legend}</text>',
    ]
    y = TOP
    for window in windows:
        rows.append(f'<text x="12" y="{y + 14}" font-weight="bold" fill="{_INK}">window of {window:,} tokens</text>')
        y += 24
        own = [bar for bar in bars if bar.window_tokens == window]
        rows += _grid(y, ROW * len(own))
        for bar in own:
            rows += _bar(bar, y)
            y += ROW
        y += 10
    return "\n".join([*rows, "</svg>", ""])


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - 90), 1)


def _grid(y: int, height: int) -> list[str]:
    rows = []
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        rows.append(f'<line x1="{x}" x2="{x}" y1="{y - 4}" y2="{y + height}" stroke="{_GRID}"/>')
        rows.append(
            f'<text x="{x}" y="{y - 8}" text-anchor="middle" font-size="10" fill="{_SOFT}">{tenth * 10} %</text>'
        )
    return rows


def _bar(bar: Bar, y: int) -> list[str]:
    middle = y + ROW / 2
    value, low, high = bar.visible
    colour = _OURS if bar.is_ours else _OTHER
    return [
        f'<text x="{LEFT - 8}" y="{middle + 4}" text-anchor="end" fill="{_INK}">{escape(bar.label)}</text>',
        f'<rect x="{_x(0)}" y="{y + 3}" width="{_x(value) - _x(0):.1f}" height="{ROW - 8}" rx="2" fill="{colour}"/>',
        f'<path d="M{_x(low)} {middle - 1}H{_x(high)}" stroke="{_INK}" stroke-width="1.5"/>',
        f'<circle cx="{_x(bar.reachable)}" cy="{middle - 1}" r="4" fill="{_REACH}"/>',
        f'<text x="{_x(1) + 10}" y="{middle + 4}" fill="{_SOFT}">{bar.tokens / 1000:.1f}k tokens</text>',
    ]
