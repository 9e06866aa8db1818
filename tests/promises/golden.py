"""What stays the same while the inside is rebuilt; the golden files lie in `tests/golden/`."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "golden:names": Requirement("Public Python names and their signatures change only on purpose."),
    "golden:json": Requirement("The JSON of every command changes only on purpose."),
    "golden:files": Requirement("The formats of files on disk change only on purpose."),
    "golden:kept": Requirement("Stores, transcripts and settings of version 0.1.0 open."),
    "golden:requests": Requirement("Request bodies of typical sessions change only on purpose."),
}
