from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from reverie.files.places.paths import MemoryFolder
from reverie.memory.store.git.repository import PRIVATE, git_directory_of
from tests.requirements import requirement


@dataclass
class _MadeMeanwhile:
    """A memory directory whose repository another process makes while somebody asks where it lies."""

    directory: Path

    @property
    def aside(self) -> Path:
        (self.directory / ".git" / PRIVATE).mkdir(parents=True, exist_ok=True)
        return self.directory


@requirement("store:writers:no-lost-update")
def test_a_repository_that_is_made_meanwhile_is_not_taken_for_a_strangers(tmp_path: Path) -> None:
    folder = cast("MemoryFolder", _MadeMeanwhile(tmp_path))
    assert git_directory_of(folder) == tmp_path / ".git"
    assert git_directory_of(folder) == tmp_path / ".git"
