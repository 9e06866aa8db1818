"""Every number and switch of the system: their files, environment and precedence.

Reading order: `tree` holds `Settings` and its areas; `features` says what the switches mean together. `load` reads
files, environment and flags, gives the settings, clock and ids of this process, and says what of a project's settings
the user must agree to; for it `schema` lists the keys and checks values, `environment` translates names of variables,
`documents` reads a file, ours or another agent's, whose keys know their line, which `locate` finds, `layers` puts the
sources over one another and makes the tree. `describe` shows and explains values.
"""

from __future__ import annotations

from reverie.settings.tree import (
    AgentSettings,
    AgeSettings,
    ApiClearing,
    BudgetSettings,
    CachedClearing,
    CacheSettings,
    ClearingSettings,
    CollapseSettings,
    CompactionSettings,
    Declaration,
    DreamSettings,
    ExtractionSettings,
    HookSettings,
    IndexSettings,
    InstructionsSettings,
    MemorySettings,
    ModelProfile,
    ModelSettings,
    NotesSettings,
    PermissionsSettings,
    RecallSettings,
    RemoteSettings,
    RetentionSettings,
    Settings,
    SnipSettings,
    SpillSettings,
    StatusLineSettings,
    TimeClearing,
    ToolsSettings,
    UiSettings,
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
