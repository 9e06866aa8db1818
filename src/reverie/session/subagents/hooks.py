"""The hooks of a child agent: the session's, told which agent it is, and those that its role brings for it alone."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.extensions.hooks.verdict import NOTHING, HookVerdict, merged
from reverie.messages.blocks import JsonObject
from reverie.session.loop_hooks import FiresHooks, NoHooks

STARTED, ENDED = "SubagentStart", "SubagentStop"
_OF_THE_SESSION = frozenset({"UserPromptSubmit", "SessionStart", "SessionEnd"})
"""Events of the session as a whole: a child's prompt is no user's."""


@dataclass(slots=True)
class ChildHooks:
    """Asks for one child agent."""

    session: FiresHooks
    facts: JsonObject
    """`agent_id` and `agent_type`, told with every event."""
    own: FiresHooks = NoHooks()  # noqa: RUF009 - it has no state

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:
        """What all of them say, as one verdict."""
        if event in _OF_THE_SESSION:
            return NOTHING
        told = {**self.facts, **payload}
        if event in (STARTED, ENDED):
            subject = str(self.facts.get("agent_type", ""))
        said = await self.session.fire(event, told, subject=subject)
        return merged([said, await self.own.fire(event, told, subject=subject)])
