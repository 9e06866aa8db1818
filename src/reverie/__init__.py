"""Reverie: the memory of an agent.

The public names are loaded on first use, so that `import reverie` and `reverie --version` cost nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"
