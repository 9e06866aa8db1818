"""Maps the keys of `.claude/settings*.json` that we read to our own names.

All other keys of those files belong to another program and are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reverie.settings.layers import Given
from reverie.settings.schema import KeyPath

_OURS: Mapping[KeyPath, KeyPath] = {
    ("hooks",): ("hooks",),
    ("agents",): ("agents",),
    ("permissions", "allow"): ("permissions", "allow"),
    ("permissions", "ask"): ("permissions", "ask"),
    ("permissions", "deny"): ("permissions", "deny"),
    ("permissions", "defaultMode"): ("permissions", "mode"),
    ("permissions", "additionalDirectories"): ("permissions", "additional_directories"),
    ("autoMemoryEnabled",): ("memory", "enabled"),
    ("autoMemoryDirectory",): ("memory", "directory"),
    ("autoCompactEnabled",): ("compaction", "auto"),
    ("autoCompactWindow",): ("compaction", "auto_window_tokens"),
    ("cleanupPeriodDays",): ("retention", "transcript_days"),
    ("claudeMd",): ("instructions", "managed_text"),
    ("claudeMdExcludes",): ("instructions", "excludes"),
    ("disableAllHooks",): ("hook", "enabled"),
    ("allowManagedHooksOnly",): ("hook", "managed_only"),
    ("allowedHttpHookUrls",): ("hook", "allowed_http_urls"),
    ("httpHookAllowedEnvVars",): ("hook", "http_env_vars"),
    ("language",): ("language",),
    ("outputStyle",): ("output_style",),
    ("statusLine", "command"): ("status_line", "command"),
}
_NEGATED = frozenset({("disableAllHooks",)})


def givens_of_vendor(table: Mapping[str, object], place: Callable[[KeyPath], str]) -> list[Given]:
    """What a file of the vendor's says about keys of ours."""
    givens: list[Given] = []
    for theirs, ours in _OURS.items():
        value: object = table
        for name in theirs:
            value = value.get(name) if isinstance(value, Mapping) else None
        if theirs in _NEGATED and isinstance(value, bool):
            value = not value
        if value is not None:
            givens.append(Given(ours, value, place(theirs)))
    return givens
