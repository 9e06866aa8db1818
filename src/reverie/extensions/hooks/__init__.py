"""Hooks: the user's scripts, run at named events.

Reading order: `events` (when they run), `declarations` (what people wrote, as values), `matcher` (which hooks an event
concerns), `verdict` (their answers, put together), `output` (how a script's output is read), `command_hook`,
`http_hook` and `model_hook` (the three kinds: a program, a URL, a question to a model), `run` (one hook), `consent`
(what of a project the user must agree to first), `fire` (`Hooks`: all of them).
"""

from reverie.extensions.hooks.declarations import Declared, Handler, Hook, parse_declaration, parse_hooks
from reverie.extensions.hooks.events import EVENTS, Event
from reverie.extensions.hooks.fire import Hooks
from reverie.extensions.hooks.run import Effects, HookContext
from reverie.extensions.hooks.verdict import NOTHING, HookVerdict

__all__ = [
    "EVENTS",
    "NOTHING",
    "Declared",
    "Effects",
    "Event",
    "Handler",
    "Hook",
    "HookContext",
    "HookVerdict",
    "Hooks",
    "parse_declaration",
    "parse_hooks",
]
