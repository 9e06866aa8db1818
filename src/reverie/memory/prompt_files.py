"""The prompts of memory: Markdown files in `prompts/`, each with a comment on top that says who reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

PROMPTS = Path(__file__).parent / "prompts"


def fill_prompt(name: str, values: Mapping[str, str]) -> str:
    """A prompt with its placeholders filled, in one pass: what stands in a value is never taken for a placeholder."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _read_prompt(name))


@cache
def _read_prompt(name: str) -> str:
    text = (PROMPTS / f"{name}.md").read_text(encoding="utf-8")
    return re.sub(r"\A<!--.*?-->\s*", "", text, flags=re.DOTALL)
