"""What stays the same while the inside is rebuilt; the golden files lie in `tests/golden/`."""

from __future__ import annotations

from tests.promises import Requirement

_SOURCE = "issue 13, item 1"

PROMISES = {
    "golden:names": Requirement("Public Python names and their signatures change only on purpose.", source=_SOURCE),
    "golden:json": Requirement("The JSON of every command changes only on purpose.", source=_SOURCE),
    "golden:files": Requirement("The formats of files on disk change only on purpose.", source=_SOURCE),
    "golden:kept": Requirement("Stores, transcripts and settings of version 0.1.0 open.", source=_SOURCE),
    "golden:requests": Requirement("Request bodies of typical sessions change only on purpose.", source=_SOURCE),
}
