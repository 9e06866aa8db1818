"""The files of a conversation: what was read, what was changed, which definitions were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reverie.context.facts.outcomes import cut, outcome_of
from reverie.context.facts.outline import is_bare_punctuation, lines_of, outline
from reverie.context.facts.rounds import SHELL, RoundAction
from reverie.context.facts.shell import file_uses
from reverie.context.facts.values import ActionOutcome, FileEdit, Symbol, Touched

_READS = frozenset({"Read", "NotebookRead", "read_file", "view", "open_file"})
_EDITS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "str_replace", "apply_patch"})
_WRITES = frozenset({"Write", "write_file", "create_file"})
_EDITOR_COMMANDS = {"view": "read", "create": "wrote", "str_replace": "edited", "insert": "edited"}
PATH_KEYS = ("file_path", "notebook_path", "path", "filename", "file")
MOST_LINES = 60
"""Lines of one change that are kept on each side; more would be the file itself."""


@dataclass(slots=True)
class _File:
    operations: dict[str, int] = field(default_factory=dict)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    changes: list[FileEdit] = field(default_factory=list)
    last: int = 0


class Files:
    """Collects what is done to files, action by action."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def take(self, action: RoundAction, number: int) -> str:
        """Note what an action did to files; returns the file whose text came back, or nothing."""
        kind, path = file_tool(action)
        if path:
            return self._take_tool(action, kind, path, number)
        if action.call.name in {SHELL, "bash", "shell"}:
            return self._take_shell(action, number)
        return ""

    def values(self) -> tuple[Touched, ...]:
        """All files, the least recently touched first."""
        ordered = sorted(self._files.items(), key=lambda one: one[1].last)
        return tuple(
            Touched(
                path,
                tuple(one.operations.items()),
                merge_ranges(one.ranges),
                tuple(one.symbols.values()),
                tuple(one.changes),
                one.last,
            )
            for path, one in ordered
        )

    def _take_tool(self, action: RoundAction, kind: str, path: str, number: int) -> str:
        outcome = outcome_of(action)
        if kind == "read":
            file = self._note(path, "read" if not action.failed else "could not read", number)
            if not action.failed:
                _take_range(file, action)
                self._see(file, outline(action.result, in_round=number))
            return path
        file = self._note(path, kind if outcome is not ActionOutcome.FAILED else f"failed to change ({kind})", number)
        for removed, added in edits_of(action):
            file.changes.append(change(removed, added, number, outcome))
            self._see(file, outline(added, in_round=number, changed=True))
        self._see(file, outline(action.result, in_round=number))
        return path

    def _take_shell(self, action: RoundAction, number: int) -> str:
        uses = file_uses(action.get_text("command"))
        for use in uses:
            file = self._note(use.path, use.kind, number)
            if use.lines:
                file.ranges.append(use.lines)
            if use.kind in {"wrote", "edited"}:
                file.changes.append(change("", use.content, number, outcome_of(action)))
                self._see(file, outline(use.content, in_round=number, changed=True))
        reads = [use for use in uses if use.kind in {"read", "searched"}]
        if len(reads) != 1:
            return ""
        starts_at = reads[0].lines[0] if reads[0].lines else None
        self._see(self._files[reads[0].path], outline(action.result, starts_at=starts_at, in_round=number))
        return reads[0].path

    def _note(self, path: str, kind: str, number: int) -> _File:
        file = self._files.setdefault(path, _File())
        file.operations[kind] = file.operations.get(kind, 0) + 1
        file.last = number
        return file

    def _see(self, file: _File, symbols: Sequence[Symbol]) -> None:
        for symbol in symbols:
            earlier = file.symbols.pop(symbol.name, None)
            if earlier is not None:
                symbol = replace(symbol, line=symbol.line or earlier.line, changed=symbol.changed or earlier.changed)
            file.symbols[symbol.name] = symbol


def file_tool(action: RoundAction) -> tuple[str, str]:
    """What a file tool does and to which file; both empty for other tools."""
    name = action.call.name
    path = action.get_text(*PATH_KEYS)
    if not path:
        return "", ""
    if name in _READS:
        return "read", path
    if name in _EDITS:
        return "edited", path
    if name in _WRITES:
        return "wrote", path
    if "edit" in name.lower() and action.get_text("command") in _EDITOR_COMMANDS:
        return _EDITOR_COMMANDS[action.get_text("command")], path
    return "", ""


def edits_of(action: RoundAction) -> list[tuple[str, str]]:
    """The pairs of old and new text of an edit; a written file is new text only."""
    edits = action.call.input.get("edits")
    pairs = [one for one in edits if isinstance(one, dict)] if isinstance(edits, list) else [dict(action.call.input)]
    return [
        (
            str(one.get("old_string") or one.get("old_str") or ""),
            str(
                one.get("new_string") or one.get("new_str") or one.get("content") or one.get("file_text")
                or one.get("new_source") or one.get("insert_text") or ""
            ),
        )
        for one in pairs
    ]  # fmt: skip


def change(removed: str, added: str, number: int, outcome: ActionOutcome) -> FileEdit:
    """The lines that differ, each side in its order."""
    old = [line.strip() for line in removed.split("\n")]
    new = [line.strip() for line in added.split("\n")]
    old_only, new_only = set(old) - set(new), set(new) - set(old)
    return FileEdit(
        tuple(cut(line) for line in old if line in old_only and not is_bare_punctuation(line))[:MOST_LINES],
        tuple(cut(line) for line in new if line in new_only and not is_bare_punctuation(line))[:MOST_LINES],
        number,
        outcome,
    )


def merge_ranges(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges of lines without overlaps, in order."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def _take_range(file: _File, action: RoundAction) -> None:
    if not action.call.input.get("offset") and not action.call.input.get("limit"):
        return
    numbers = [number for number, _ in lines_of(action.result) if number is not None]
    if numbers:
        file.ranges.append((numbers[0], numbers[-1]))
