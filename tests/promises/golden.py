"""What stays the same while the inside is rebuilt; the golden files lie in `tests/golden/`."""

from __future__ import annotations

from tests.promises import Requirement

_SOURCE = "issue 13, item 1"

PROMISES = {
    "golden:names": Requirement("Public Python names and their signatures change only on purpose.", source=_SOURCE),
}
