"""The combined result of the hooks of an event, of the same shape as that of one hook, and who is asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Literal, Protocol, TypeAlias

from reverie.messages.blocks import Json, JsonObject, nothing_more
from reverie.messages.entries import TitleEntry
from reverie.values import value

Permission: TypeAlias = Literal["allow", "deny", "ask"]

_STRICTEST: tuple[Permission, ...] = ("deny", "ask", "allow")


@value
class HookVerdict:
    """The words of hooks; the empty one lets everything go on."""

    blocked: str | None = None
    """Why the event must not happen: the prompt is not sent, the tool not run, the agent does not stop yet."""
    permission: Permission | None = None
    """For a tool call; `deny` also blocks."""
    reason: str = ""
    """Why this permission."""
    updated_input: JsonObject | None = None
    """What the tool is to be called with instead."""
    updated_output: Json = None
    """What the model is to read instead of the tool's result."""
    context: tuple[str, ...] = ()
    """For the model."""
    stop: str | None = None
    """Why the agent is to stop altogether; goes before everything else."""
    messages: tuple[str, ...] = ()
    """For the user: words of hooks, and whatever went wrong with one."""
    more: JsonObject = field(default_factory=nothing_more)
    """Control fields that few events have, by the names of the format: `sessionTitle`, `initialUserMessage`,
    `watchPaths`, `reloadSkills`, `suppressOriginalPrompt`, `retry`, `interrupt`, `updatedPermissions`,
    `displayContent`, `action`, `content`, `worktreePath`."""


NOTHING = HookVerdict()


def merge_verdicts(verdicts: Sequence[HookVerdict]) -> HookVerdict:
    """One verdict of many, in the order of their sources: the strictest permission wins, a later input the earlier."""
    permission = next((one for one in _STRICTEST if any(verdict.permission == one for verdict in verdicts)), None)
    reasons = _distinct(
        verdict.reason for verdict in verdicts if permission is not None and verdict.permission == permission
    )
    inputs = [verdict.updated_input for verdict in verdicts if verdict.updated_input is not None]
    outputs = [verdict.updated_output for verdict in verdicts if verdict.updated_output is not None]
    return HookVerdict(
        blocked=_join_texts(verdict.blocked for verdict in verdicts),
        permission=permission,
        reason="\n".join(reasons),
        updated_input=inputs[-1] if inputs and permission != "deny" else None,
        updated_output=outputs[-1] if outputs else None,
        context=_distinct(text for verdict in verdicts for text in verdict.context),
        stop=_join_texts(verdict.stop for verdict in verdicts),
        messages=_distinct(text for verdict in verdicts for text in verdict.messages),
        more={name: value for verdict in verdicts for name, value in verdict.more.items()},
    )


def _join_texts(texts: Iterable[str | None]) -> str | None:
    present = [text for text in texts if text is not None]
    return "\n".join(_distinct(present)) if present else None


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


class FiresHooks(Protocol):
    """Somebody who asks the hooks that an event concerns; `extensions.hooks.fire.Hooks` does."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:
        """What they say, as one verdict; nothing that a hook does is raised."""
        ...


def titles(verdict: HookVerdict) -> tuple[TitleEntry, ...]:
    """The name that hooks give to the session, if they do."""
    name = verdict.more.get("sessionTitle")
    return (TitleEntry("custom-title", name.strip()),) if isinstance(name, str) and name.strip() else ()


class NoHooks:
    """No hooks at all."""

    async def fire(self, event: str, payload: JsonObject, *, subject: str = "") -> HookVerdict:  # noqa: ARG002
        return NOTHING
