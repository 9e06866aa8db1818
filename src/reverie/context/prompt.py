"""Prompts: Markdown files beside the code of a package, and how their placeholders are filled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_HEADER = re.compile(r"\A\s*<!--.*?-->\s*", re.DOTALL)


@cache
def read_prompt(name: str, package: str = "reverie.context") -> str:
    """The text of one prompt of a package without its header comment."""
    text = (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    return without_header(text)


def without_header(text: str) -> str:
    """A prompt or template without the comment at its top that is meant for its readers among us."""
    return _HEADER.sub("", text, count=1).strip("\n")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in for `{{name}}` in a single pass: what was inserted is not looked at again, unknown names stay."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)
