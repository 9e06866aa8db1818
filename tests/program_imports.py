"""What the fork server of `tests.program` does once: import the program, its late parts and the vendor's client."""

from __future__ import annotations

import gc
import importlib

from reverie.apps.cli.program import COMMANDS, HIDDEN
from reverie.files.secret_scan import scan
from reverie.memory.extraction.candidate import UserMessage
from reverie.memory.extraction.cues import infer_type
from reverie.memory.extraction.find import find_candidates
from reverie.messages.injection import flags

_LATE = (
    "anthropic",
    "yaml",
    "reverie.apps.cli.open_session",
    "reverie.apps.cli.print_turn",
    "reverie.apps.replay.run",
    "reverie.hosts.catalogue",
    "reverie.memory.doctor",
    "reverie.memory.extraction.learn",
    "reverie.memory.search.engine",
    "reverie.memory.search.topic_table",
    "reverie.memory.team.team",
    "reverie.models.anthropic",
    "reverie.models.from_settings",
    "reverie.session.session",
    "reverie.session.wiring",
)
"""What commands import when they need it."""
_TEXT = "Always use tabs here, because the linter wants them. The nightly job writes to the reports bucket."

for _listed in (*COMMANDS, *HIDDEN):
    importlib.import_module(f"reverie.apps.cli.{_listed.module}")
for _name in _LATE:
    importlib.import_module(_name)
# Each memory that is saved needs some two hundred regular expressions; compiling them takes longer than all the rest.
find_candidates(UserMessage("", _TEXT))
infer_type(_TEXT)
flags(_TEXT)
scan(_TEXT)
# What is here stays: a fork copies no page of it because its garbage collector looked at it.
gc.freeze()
