"""What the loop needs of the user's scripts: one method. A fork has none of them."""

from __future__ import annotations

from typing import Protocol

from reverie.hooks.verdict import NOTHING, Verdict
from reverie.messages.blocks import JsonObject


class Fires(Protocol):
    """Somebody who asks the hooks that an event concerns; `hooks.firing.Hooks` does."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> Verdict:
        """What they say, as one verdict; nothing that a hook does is raised."""
        ...


class Silence:
    """No hooks at all."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> Verdict:  # noqa: ARG002
        return NOTHING
