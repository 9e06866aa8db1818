"""Progress of a dream for display: phase, last text, files touched."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from reverie.values import value

Phase: TypeAlias = Literal["starting", "updating"]
MESSAGES = 30


@value
class DreamView:
    """What is shown while a dream runs."""

    phase: Phase = "starting"
    """`updating` from the first file that it writes."""
    messages: tuple[str, ...] = ()
    """The last ones, the newest last."""
    calls: int = 0
    touched: tuple[str, ...] = ()
    """Paths inside the directory, in the order in which they were first written."""
    limit: int = MESSAGES

    def with_message(self, text: str) -> DreamView:
        """The view after one more message."""
        told = " ".join(text.split())
        return replace(self, messages=(*self.messages, told)[-self.limit :]) if told else self

    def with_call(self, tool: str, path: str = "") -> DreamView:
        """The view after one more call; `path` is what it wrote, if it did."""
        touched = (*self.touched, path) if path and path not in self.touched else self.touched
        phase: Phase = "updating" if path else self.phase
        return replace(self.with_message(f"{tool} {path}".strip()), calls=self.calls + 1, touched=touched, phase=phase)
