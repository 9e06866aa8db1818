"""The agents' own commands that add an entry: tried on a copy of the settings first, then run on the settings."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reverie.errors import UserMistake
from reverie.hosts.install.edits import SettingsEdit
from reverie.hosts.install.json_text import read_json
from reverie.hosts.install.ledger import read_text, take_out
from reverie.hosts.install.targets import VendorCommand

_SECONDS = 60.0


def try_on_copy(
    command: VendorCommand, before: str | None, edits: Sequence[SettingsEdit], variables: Mapping[str, str]
) -> str | None:
    """What the file would hold after the command; None where the program is missing or would change more than ours.

    The command sees a home of its own that holds nothing but a copy of that file.
    """
    program = shutil.which(command.program, path=variables.get("PATH"))
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as aside:
        copies = {name: Path(aside) / str(number) for number, (name, _) in enumerate(command.home_variables)}
        environment = {**variables, "HOME": aside, **{name: str(folder) for name, folder in copies.items()}}
        name, folder = command.home_variables[0]
        copy = copies[name] / command.path.relative_to(folder)
        copy.parent.mkdir(parents=True)
        if before is not None:
            copy.write_bytes(before.encode("utf-8"))
        if not _run(program, command.arguments, environment, Path(aside)):
            return None
        after = read_text(copy)
    if after is None or not all(edit.stands_in(after, str(command.path)) for edit in edits):
        return None
    return after if _keeps_rest(before, after, edits, str(command.path)) else None


def run_on_settings(command: VendorCommand, edits: Sequence[SettingsEdit], variables: Mapping[str, str]) -> bool:
    """Run the command on the user's settings; whether the entry is there afterwards."""
    program = shutil.which(command.program, path=variables.get("PATH"))
    with tempfile.TemporaryDirectory() as aside:
        is_done = program is not None and _run(program, command.arguments, variables, Path(aside))
    text = read_text(command.path) if is_done else None
    return text is not None and all(edit.stands_in(text, str(command.path)) for edit in edits)


def _run(program: str, arguments: Sequence[str], environment: Mapping[str, str], directory: Path) -> bool:
    guarded = {**environment, "REVERIE_HOOKS": "off"}
    try:
        done = subprocess.run(
            [program, *arguments],
            env=guarded,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _keeps_rest(before: str | None, after: str, edits: Sequence[SettingsEdit], place: str) -> bool:
    """Whether all that was there still is, comments included."""
    if before is None:
        return True
    without = take_out(after, edits, place) or ""
    comments = [line.strip() for line in before.splitlines() if line.lstrip().startswith(("//", "#", "/*"))]
    if any(comment not in after for comment in comments):
        return False
    try:
        return _contains(_read(without, place), _read(take_out(before, edits, place) or "", place))
    except UserMistake:
        return False


def _read(text: str, place: str) -> Any:
    if not place.endswith(".toml"):
        return read_json(text, place)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UserMistake(f"{place} is not valid TOML: {problem}") from None


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and _contains(whole[key], part[key]) for key in part)
    return bool(whole == part)
