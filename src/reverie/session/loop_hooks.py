"""What the loop needs of the user's scripts: one method, and what of their words it writes down. A fork has none."""

from __future__ import annotations

from typing import Protocol

from reverie.extensions.hooks.verdict import NOTHING, HookVerdict
from reverie.messages.blocks import JsonObject
from reverie.messages.entries import TitleEntry


class FiresHooks(Protocol):
    """Somebody who asks the hooks that an event concerns; `extensions.hooks.fire.Hooks` does."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:
        """What they say, as one verdict; nothing that a hook does is raised."""
        ...


def titles(said: HookVerdict) -> tuple[TitleEntry, ...]:
    """The name that hooks give to the session, if they do."""
    name = said.more.get("sessionTitle")
    return (TitleEntry("custom-title", name.strip()),) if isinstance(name, str) and name.strip() else ()


class NoHooks:
    """No hooks at all."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:  # noqa: ARG002
        return NOTHING
