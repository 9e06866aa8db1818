"""The same drives as with the local model (`make test-model`), with noise that every machine can make."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.testing.scripted_model import ScriptedModel
from tests.memory.replies.noise import Drive, drive_dream, drive_learning, drive_selector
from tests.requirements import requirement

NOISE = ["the the the the", '{"selected_memories": ["kayaks"], "memories": [{"type": "user"', "{}", "[]", "\n"]


@requirement("recall:selector:replies", "learn:replies", "dream:replies")
@pytest.mark.sampled
@pytest.mark.parametrize("said", NOISE)
@pytest.mark.parametrize("drive", [drive_selector, drive_learning, drive_dream])
async def test_noise_changes_nothing(tmp_path: Path, drive: Drive, said: str) -> None:
    await drive(ScriptedModel([said] * 40), tmp_path)
