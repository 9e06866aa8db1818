"""What the fork server of `tests.program` imports once: the program, its late parts, and the vendor's client."""

from __future__ import annotations

import importlib

from reverie.apps.cli.program import COMMANDS, HIDDEN

for _listed in (*COMMANDS, *HIDDEN):
    importlib.import_module(f"reverie.apps.cli.{_listed.module}")
for _name in ("anthropic", "reverie.session.session", "reverie.apps.cli.print_turn", "reverie.models.anthropic"):
    importlib.import_module(_name)
