"""What was installed where, with one backup of each file as it was before; and the way back.

A file that nobody changed since is restored byte for byte; from one that was changed only what is ours is taken out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.errors import UserMistake
from reverie.files import write_atomic
from reverie.hosts.install.edits import OwnFile, SettingsEdit
from reverie.values import value


@value
class SettingsChange:
    """A file before and after; None where there is none."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        from difflib import unified_diff

        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        old = "/dev/null" if self.before is None else str(self.path)
        new = "/dev/null" if self.after is None else str(self.path)
        lines = unified_diff(list(before), list(after), old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class Ledger:
    """The record of installations in our home."""

    def __init__(self, home: Path) -> None:
        self._directory = home / "install"
        self._file = self._directory / "ledger.json"

    def list_agents(self) -> list[tuple[str, str, str]]:
        """Agent, scope and project of each installation."""
        rows = self._read()
        return list(dict.fromkeys((row["agent"], row["scope"], row["project"]) for row in rows.values()))

    def installed_since(self, agent: str) -> str:
        """When hooks of an agent were first installed; empty when they are not."""
        return min((row["when"] for row in self._read().values() if row["agent"] == agent), default="")

    def find_backup(self, path: Path) -> tuple[str | None, str] | None:
        """What a file held before us (None for no file) and the digest of what we left; None when we know nothing."""
        row = self._read().get(str(path))
        if row is None:
            return None
        if not row["existed"]:
            return None, row["digest"]
        try:
            return self._backup(path).read_bytes().decode("utf-8"), row["digest"]
        except (OSError, UnicodeDecodeError):
            return None if row["existed"] else (None, row["digest"])

    def note(self, change: SettingsChange, edits: Sequence[SettingsEdit], facts: dict[str, str], now: datetime) -> None:
        """Keep a backup of a file as it is without us, and the digest of what we leave in it."""
        rows = self._read()
        row = rows.get(str(change.path))
        if row is None or row["digest"] != digest(change.before):
            clean = take_out(change.before, edits, str(change.path))
            existed = change.before is not None and not (clean == "" and any(isinstance(e, OwnFile) for e in edits))
            if existed:
                write_atomic(self._backup(change.path), clean or "")
            made = [str(folder) for folder in change.path.parents if not folder.exists()]
            row = {**facts, "existed": existed, "made": made, "when": now.isoformat(timespec="seconds")}
        rows[str(change.path)] = {**row, **facts, "digest": digest(change.after)}
        self._write(rows)

    def forget(self, path: Path) -> None:
        """Drop the record of a file and its backup, and folders that were made for it and are empty."""
        rows = self._read()
        row = rows.pop(str(path), None)
        with suppress(OSError):
            self._backup(path).unlink()
        if row is not None:
            self._write(rows)
            for folder in row.get("made", ()):
                with suppress(OSError):
                    Path(folder).rmdir()
        if not rows:
            import shutil

            shutil.rmtree(self._directory, ignore_errors=True)

    def paths(self, agent: str, scope: str, project: str) -> list[Path]:
        """The files of an installation."""
        wanted = (agent, scope, project)
        return [
            Path(path) for path, row in self._read().items() if (row["agent"], row["scope"], row["project"]) == wanted
        ]

    def _backup(self, path: Path) -> Path:
        name = hashlib.sha256(str(path).encode()).hexdigest()[:12]
        return self._directory / "backups" / f"{name}-{path.name}"

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            rows = json.loads(self._file.read_text(encoding="utf-8"))
            return {path: row for path, row in rows.items() if {"agent", "scope", "project", "digest"} <= row.keys()}
        except (OSError, ValueError, AttributeError):
            return {}

    def _write(self, rows: dict[str, dict[str, Any]]) -> None:
        write_atomic(self._file, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def digest(text: str | None) -> str:
    """Identifies the content of a file; empty for none."""
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def read_text(path: Path) -> str | None:
    """The text of a settings file; None where there is none.

    Raises:
        UserMistake: it is not a file of text.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise UserMistake(f"{path} cannot be read: {problem}; correct it, nothing was changed") from None


def put_in(text: str | None, edits: Sequence[SettingsEdit], place: str) -> str:
    """The text with all that is ours."""
    new, restore = _plain_newlines(text or "")
    for edit in edits:
        new = edit.put(new, place)
    return restore(new)


def take_out(text: str | None, edits: Sequence[SettingsEdit], place: str) -> str | None:
    """The text without what is ours; None where there is no file."""
    if text is None:
        return None
    new, restore = _plain_newlines(text)
    for edit in edits:
        new = edit.take(new, place)
    return restore(new)


def _plain_newlines(text: str) -> tuple[str, Callable[[str], str]]:
    """The text with line feeds only, and the way back for a file of another system."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n"), lambda new: new.replace("\n", "\r\n")
    return text, lambda new: new


def write_change(change: SettingsChange) -> None:
    """Put a file in place whole, through links; remove it where nothing is left."""
    target = change.path.resolve() if change.path.is_symlink() else change.path
    if change.after is None:
        target.unlink(missing_ok=True)
        return
    write_atomic(target, change.after)
