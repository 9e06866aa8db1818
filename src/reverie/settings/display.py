"""Formats a setting for people and programs, with possible secrets left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from reverie.settings.session import Declaration

MASK = "***"
_SECRET_NAME = re.compile(r"key|token|secret|password|passwd|credential|authorization|cookie", re.IGNORECASE)
_SECRET_TABLES = frozenset({"headers", "env"})
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_QUERY_VALUE = re.compile(r"([?&][^=&#\s]*(?:key|token|secret|password|sig)[^=&#\s]*=)[^&#\s]+", re.IGNORECASE)


def as_json(value: object) -> object:
    """A value of the tree as JSON may hold it."""
    if isinstance(value, str):
        return _masked_text(value)
    if isinstance(value, Declaration):
        declared = _masked(json.loads(value.text))
        return {"source": value.source, "place": value.place, "committed": value.committed, "value": declared}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    return value


def as_text(value: object) -> str:
    """A value of the tree as one writes it in a settings file."""
    if value is None:
        return "not set"
    if isinstance(value, Declaration):
        return f"{', '.join(json.loads(value.text)) or 'nothing'} ({value.place})"
    if isinstance(value, tuple) and value and isinstance(value[0], Declaration):
        return "; ".join(as_text(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}" if value >= 10_000 else str(value)
    return json.dumps(as_json(value), ensure_ascii=False)


def _masked(value: object, *, secret: bool = False) -> object:
    if isinstance(value, Mapping):
        return {
            name: _masked(inner, secret=secret or name in _SECRET_TABLES or bool(_SECRET_NAME.search(name)))
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_masked(item, secret=secret) for item in value]
    if secret:
        return MASK
    return _masked_text(value) if isinstance(value, str) else value


def _masked_text(text: str) -> str:
    return _QUERY_VALUE.sub(rf"\1{MASK}", _USER_INFO.sub(f"{MASK}@", text))
