"""Every number and switch of the system: their files, environment and precedence.

Reading order: `tree` holds `Settings`; `window`, `memory` and `session` its areas, made by `area` with the marks of
`bounds`; `features` says what the switches mean together. `load` reads files, environment and flags; for it `schema`
lists the keys, `values` checks one value, `environment` and `vendor` translate foreign names, `documents` reads a file
whose keys know their line, which `locate` finds, `layers` puts the sources over one another, `assemble` makes the
tree. `trust_parts` says what of a project's settings the user must agree to, `process` gives the settings, clock and
ids of this process, `display` shows values, `describe` explains them.
"""

from __future__ import annotations

from reverie.settings.memory import (
    Age,
    Budget,
    Dream,
    Extraction,
    Index,
    Memory,
    Recall,
    Remote,
    Retention,
)
from reverie.settings.session import (
    Agent,
    Declaration,
    Hook,
    Instructions,
    Model,
    ModelProfile,
    Permissions,
    StatusLine,
    Tools,
    Ui,
)
from reverie.settings.tree import Settings
from reverie.settings.window import (
    ApiClearing,
    Cache,
    CachedClearing,
    Clearing,
    Collapse,
    Compaction,
    Notes,
    Snip,
    Spill,
    TimeClearing,
    Window,
)

__all__ = [
    "Age",
    "Agent",
    "ApiClearing",
    "Budget",
    "Cache",
    "CachedClearing",
    "Clearing",
    "Collapse",
    "Compaction",
    "Declaration",
    "Dream",
    "Extraction",
    "Hook",
    "Index",
    "Instructions",
    "Memory",
    "Model",
    "ModelProfile",
    "Notes",
    "Permissions",
    "Recall",
    "Remote",
    "Retention",
    "Settings",
    "Snip",
    "Spill",
    "StatusLine",
    "TimeClearing",
    "Tools",
    "Ui",
    "Window",
]
