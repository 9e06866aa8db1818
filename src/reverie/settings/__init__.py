"""Every number and switch of the system: their files, environment and precedence.

Reading order: `tree` holds `Settings`; `window`, `memory` and `session` its areas, made with `bounds`; `features` says
what the switches mean together. `load` reads files, environment and flags, and says what of a project's settings the
user must agree to; for it `schema` lists the keys, `values` checks one value, `environment` translates names of
variables, `documents` reads a file, ours or another agent's, whose keys know their line, which `locate` finds, `layers`
puts the sources over one another and makes the tree. `process` gives the settings, clock and ids of this process,
`describe` shows and explains values.
"""

from __future__ import annotations

from reverie.settings.memory import (
    AgeSettings,
    BudgetSettings,
    DreamSettings,
    ExtractionSettings,
    IndexSettings,
    MemorySettings,
    RecallSettings,
    RemoteSettings,
    RetentionSettings,
)
from reverie.settings.session import (
    AgentSettings,
    Declaration,
    HookSettings,
    InstructionsSettings,
    ModelProfile,
    ModelSettings,
    PermissionsSettings,
    StatusLineSettings,
    ToolsSettings,
    UiSettings,
)
from reverie.settings.tree import Settings
from reverie.settings.window import (
    ApiClearing,
    CachedClearing,
    CacheSettings,
    ClearingSettings,
    CollapseSettings,
    CompactionSettings,
    NotesSettings,
    SnipSettings,
    SpillSettings,
    TimeClearing,
    WindowSettings,
)

__all__ = [
    "AgeSettings",
    "AgentSettings",
    "ApiClearing",
    "BudgetSettings",
    "CacheSettings",
    "CachedClearing",
    "ClearingSettings",
    "CollapseSettings",
    "CompactionSettings",
    "Declaration",
    "DreamSettings",
    "ExtractionSettings",
    "HookSettings",
    "IndexSettings",
    "InstructionsSettings",
    "MemorySettings",
    "ModelProfile",
    "ModelSettings",
    "NotesSettings",
    "PermissionsSettings",
    "RecallSettings",
    "RemoteSettings",
    "RetentionSettings",
    "Settings",
    "SnipSettings",
    "SpillSettings",
    "StatusLineSettings",
    "TimeClearing",
    "ToolsSettings",
    "UiSettings",
    "WindowSettings",
]
