"""What we promise of the joining of settings and objects."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "wiring:model:by-keys": Requirement(
        "The model named on the command line or in the settings answers, else what the keys at hand allow."
    ),
    "wiring:model:own-profile": Requirement("A local OpenAI-compatible server is two lines of settings."),
    "wiring:budget:settings": Requirement(
        "The lines of the window follow the settings; a percentage only lowers the compaction line."
    ),
}
