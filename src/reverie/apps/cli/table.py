"""The commands: their names, a line of help each, and where they live. Importing this imports none of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """One command as `reverie --help` shows it."""

    name: str
    help: str
    module: str
    """The module below `reverie.apps.cli` whose `command` it is."""
    group: str


COMMANDS: tuple[Listed, ...] = (
    Listed("sessions", "List the sessions of this project.", "sessions", "Sessions"),
    Listed("context", "Show what fills the window of a session.", "context", "Sessions"),
    Listed("settings", "Show every setting and where its value comes from.", "settings", "Setup"),
    Listed("simulate", "Run a local Messages API with a byte-exact prompt cache.", "simulate", "Setup"),
)
