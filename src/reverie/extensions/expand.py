"""Expands `${NAME}` and `${NAME:-default}` in configuration files from values that the caller gives."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")


def expanded(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables filled in; one that is unset and has no default stays as it was written."""

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1])
        # As in a shell, the default also stands in for an empty value.
        if found[2] is not None:
            return known or found[2]
        return found[0] if known is None else known

    return _VARIABLE.sub(value, text)


def unset(text: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that `expanded` leaves as they are."""
    named = ((found[1], found[2]) for found in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys(name for name, default in named if default is None and name not in values))
