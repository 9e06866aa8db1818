"""Trees of files on a real disk, and loads over them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reverie.extensions.instructions import InstructionFile, Loaded, Where, load
from reverie.files.places import Places
from reverie.settings import InstructionsSettings


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """Write files by their paths below the root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def somewhere(tmp_path: Path, directory: str | Path = "project", **settings: object) -> Where:
    """A place to load from, with home and machine folders below the temporary folder."""
    places = Places(
        home=tmp_path / "home" / ".reverie",
        config_home=tmp_path / "home" / ".claude",
        managed=tmp_path / "etc" / "reverie",
        host_managed=tmp_path / "etc" / "claude-code",
    )
    folder = tmp_path / directory
    folder.mkdir(parents=True, exist_ok=True)
    chosen = InstructionsSettings(**settings)  # type: ignore[arg-type]
    return Where(places, folder, tmp_path / "home", chosen)


def load_tree(tmp_path: Path, files: dict[str, str], directory: str = "project", **settings: object) -> Loaded:
    """Write a tree below the temporary folder and load what applies in a folder of it."""
    write_tree(tmp_path, files)
    return load(somewhere(tmp_path, directory, **settings))


def names(files: Iterable[InstructionFile], root: Path) -> list[str]:
    """The paths of loaded files below a folder; what else this machine has above it does not count."""
    real = root.resolve()
    return [str(file.path.resolve().relative_to(real)) for file in files if file.path.resolve().is_relative_to(real)]


def texts(files: Iterable[InstructionFile], root: Path) -> list[str]:
    """What those files say."""
    real = root.resolve()
    return [file.text for file in files if file.path.resolve().is_relative_to(real) and file.text]
