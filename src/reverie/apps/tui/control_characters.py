"""Removes control characters from all text before it is drawn, so that nothing can steer the terminal."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from reverie.apps.plain import strip_control_characters


class Unsteered(LineFilter):
    """Takes characters that steer a terminal out of every line; they have no width, so nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's shape
        """The same line as mere text."""
        return [
            segment if segment.control else Segment(strip_control_characters(segment.text), segment.style)
            for segment in segments
        ]
