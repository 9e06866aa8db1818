"""`@area`: a group of settings as a value (see `reverie.values`).

The modules of areas leave out the postponed evaluation of annotations, so that `schema` finds types in the fields and
need not evaluate any.
"""

from __future__ import annotations

from reverie.values import value as area

__all__ = ["area"]
