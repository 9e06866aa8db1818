"""What the main model is told of roles: a line each, in an attachment, so that the tool description never changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reverie.session.subagents.definitions.definition import Definition

MAX_DESCRIPTION_CHARS = 1_536


def agent_line(definition: Definition) -> str:
    """One role in the list."""
    description = definition.description
    if len(description) > MAX_DESCRIPTION_CHARS:
        description = f"{description[: MAX_DESCRIPTION_CHARS - 1]}…"
    return f"- {definition.name}: {description} (Tools: {_tools(definition)})"


def listing_delta(definitions: Iterable[Definition], told: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What to say of the roles that changed, and all lines by name as they stand then; no text when none did.

    `told` are the lines by name that the conversation holds already.
    """
    lines = {one.name: agent_line(one) for one in definitions}
    new = [line for name, line in lines.items() if told.get(name) != line]
    gone = [name for name in told if name not in lines]
    parts = []
    if new:
        opening = "These further agent types can be named" if told else "These agent types can be named"
        parts.append("\n".join([f"{opening} as `subagent_type` of the Agent tool:", *new]))
    if gone:
        parts.append(f"These agent types are gone: {', '.join(gone)}.")
    return "\n".join(parts), lines


def _tools(definition: Definition) -> str:
    if definition.tools is not None:
        return ", ".join(definition.tools) or "none"
    return f"all but {', '.join(definition.disallowed)}" if definition.disallowed else "*"
