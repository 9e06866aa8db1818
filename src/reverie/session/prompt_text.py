"""The texts in `prompts/`, by name, with their placeholders filled."""

from __future__ import annotations

from reverie.context.prompt import fill, read_prompt


def prompt_text(name: str, /, **values: str) -> str:
    """One of this package's prompts."""
    return fill(read_prompt(name, "reverie.session"), values)
