"""Builds a tool's spec: its description from `prompts/`, its fields as a JSON schema."""

from __future__ import annotations

from reverie.context.prompt import read_prompt
from reverie.messages.blocks import Json
from reverie.messages.entries import ToolSpec


def make_tool_spec(name: str, prompt: str, fields: dict[str, Json], *, required: tuple[str, ...] = ()) -> ToolSpec:
    """The spec of a tool whose description is the file `prompts/<prompt>.md`."""
    schema: dict[str, Json] = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, read_prompt(prompt, "reverie.tools"), schema)


def field(kind: str, description: str, **more: Json) -> dict[str, Json]:
    """One field of a schema."""
    return {"type": kind, "description": description, **more}
