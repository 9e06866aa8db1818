"""Reverie: the memory of an agent.

The public names are loaded on first use, so that `import reverie` and `reverie --version` cost nothing.
"""

from __future__ import annotations

# Type checkers take the name for true; importing it from `typing` would double the time of `reverie --version`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from reverie.context.window import Window
    from reverie.context.wrap import wrap
    from reverie.memory.memory import Memory
    from reverie.memory.search.render import Hit
    from reverie.memory.topics.topic import Topic
    from reverie.session.session import Session
    from reverie.settings import Settings

__version__ = "0.1.0"
__all__ = ["Hit", "Memory", "Session", "Settings", "Topic", "Window", "__version__", "wrap"]

_PLACES = {
    "Hit": "reverie.memory.search.render",
    "Memory": "reverie.memory.memory",
    "Session": "reverie.session.session",
    "Settings": "reverie.settings",
    "Topic": "reverie.memory.topics.topic",
    "Window": "reverie.context.window",
    "wrap": "reverie.context.wrap",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'reverie' has no attribute {name!r}")
    from importlib import import_module

    public: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = public
    return public


def __dir__() -> list[str]:
    return __all__
