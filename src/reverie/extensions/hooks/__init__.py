"""WHAT THE USER'S SCRIPTS SAY.

Reading order: `events` (when they may speak), `declared` (what people wrote, as values), `matching` (whom an event
concerns), `verdict` (what they said, put together), `output` (how a script's words are read), `programs`, `web` and
`judging` (the three ways of asking: a program, an address, a model), `running` (one hook), `consent` (what of a project
the user must agree to first), `firing` (`Hooks`, all of them).
"""

from reverie.extensions.hooks.declarations import Declared, Handler, Hook, declared_hooks, parse_declaration
from reverie.extensions.hooks.events import EVENTS, Event
from reverie.extensions.hooks.fire import Hooks
from reverie.extensions.hooks.run import Effects, Surroundings
from reverie.extensions.hooks.verdict import NOTHING, Verdict

__all__ = [
    "EVENTS",
    "NOTHING",
    "Declared",
    "Effects",
    "Event",
    "Handler",
    "Hook",
    "Hooks",
    "Surroundings",
    "Verdict",
    "declared_hooks",
    "parse_declaration",
]
