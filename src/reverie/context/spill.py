"""Oversized tool results go to a file; the context keeps a part that says plainly it is a part.

Each result is looked at once. Both decisions are recorded, to spill and not to spill, so every later request shows
the same bytes whatever the limits become. The stage writes nothing itself: it hands the file to the pipeline, which
takes the decision back when the disk refuses it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from reverie.context.stage import CHARS_PER_TOKEN, NOTHING, FileWrite, Reduction, Stage, StageContext, StageOutcome
from reverie.errors import Error
from reverie.messages.blocks import ToolResult, ToolUse
from reverie.messages.entries import SpillDecision, SpillEntry
from reverie.messages.view import Item, ItemKind, View
from reverie.settings import SpillSettings

SPILL = "spill"
PERSISTED = "<persisted-output>"
"""How a text begins that stands for a spilled result."""
SHELLS = frozenset({"Bash", "PowerShell", "bash", "shell"})
"""Tools whose errors come last: their preview has a head and a tail."""
READERS = SHELLS | {"Read", "Grep"}
"""Tools by which a model can read a file."""


def spill(settings: SpillSettings, path_of: Callable[[str], Path] | None) -> Stage:
    """Make the stage; without a place for files every result stays inline."""

    def stage(view: View, scene: StageContext) -> StageOutcome:
        rounds = list(_find_undecided(view)) if settings.enabled else []
        if not rounds:
            return NOTHING
        decisions: list[SpillDecision] = []
        writes: list[FileWrite] = []
        freed = 0
        for waiting in rounds:
            chosen = _chosen(waiting, settings)
            for tool, result in waiting:
                is_chosen = result.tool_use_id in chosen
                limit = settings.preview_bytes if scene.reads_files else _share(settings, tool, len(waiting))
                decision = (
                    decide(result, result.text, tool, path_of, limit, reads_files=scene.reads_files)
                    if is_chosen
                    else None
                )
                decisions.append(decision or SpillDecision(result.tool_use_id, None))
                if decision is not None and decision.path is not None:
                    writes.append(FileWrite(Path(decision.path), result.text))
                    freed += len(result.text) - len(decision.preview or "")
        reductions = (Reduction(SPILL, freed // CHARS_PER_TOKEN, len(writes)),) if writes else ()
        return StageOutcome((SpillEntry(scene.envelope(), tuple(decisions)),), tuple(writes), reductions)

    return stage


def keep_inline(outcome: StageOutcome, failed: Collection[Path]) -> StageOutcome:
    """The same outcome after some files could not be written: their results stay whole, or as whole as they fit."""
    lost = {str(one.path): one.instead for one in outcome.writes if one.path in failed}
    entries = tuple(
        replace(
            entry,
            decisions=tuple(
                SpillDecision(one.tool_use_id, lost[one.path]) if one.path in lost else one for one in entry.decisions
            ),
        )
        if isinstance(entry, SpillEntry)
        else entry
        for entry in outcome.entries
    )
    writes = tuple(one for one in outcome.writes if one.path not in failed)
    wanted_chars, kept_chars = (sum(len(one.content) for one in each) for each in (outcome.writes, writes))
    reductions = tuple(
        one
        if one.kind != SPILL
        else replace(one, freed_tokens=one.freed_tokens * kept_chars // wanted_chars, items=len(writes))
        for one in outcome.reductions
        if one.kind != SPILL or writes
    )
    return StageOutcome(entries, writes, reductions)


def _find_undecided(view: View) -> Iterable[list[tuple[str, ToolResult]]]:
    """Results that nobody has looked at, with their tools, round by round."""
    first = _find_first_undecided(view)
    if first is None:
        return
    names = _names(view.items, _results_from(view, first))
    waiting: list[tuple[str, ToolResult]] = []
    for item in view.items[first:]:
        if item.kind is ItemKind.REPLY and waiting:
            yield waiting
            waiting = []
        waiting += [
            (names.get(result.tool_use_id, ""), result)
            for result in item.message.tool_results
            if result.tool_use_id not in view.decided
        ]
    if waiting:
        yield waiting


def _results_from(view: View, first: int) -> set[str]:
    return {result.tool_use_id for item in view.items[first:] for result in item.message.tool_results} - view.decided


def _names(items: Sequence[Item], call_ids: set[str]) -> dict[str, str]:
    """The tools of these calls; they are among the newest."""
    names: dict[str, str] = {}
    for item in reversed(items):
        if len(names) == len(call_ids):
            break
        if item.kind is ItemKind.REPLY:
            for block in item.message.content:
                if type(block) is ToolUse and block.id in call_ids:
                    names.setdefault(block.id, block.name)
    return names


def _find_first_undecided(view: View) -> int | None:
    """Where the first result stands that nobody has looked at; most requests have none, or only at the end."""
    decided = view.decided
    for number, item in enumerate(view.items):
        if item.kind is ItemKind.RESULT:
            for block in item.message.content:
                if type(block) is ToolResult and block.tool_use_id not in decided:
                    return number
    return None


def _chosen(waiting: list[tuple[str, ToolResult]], settings: SpillSettings) -> set[str]:
    """Results over the limit of their tool, then the largest until those left of the round fit together."""
    sizes = {
        result.tool_use_id: (len(result.text), settings.limit_chars(tool))
        for tool, result in waiting
        if isinstance(result.content, str) or all(hasattr(part, "text") for part in result.content)
    }
    chosen = {call_id for call_id, (size, limit) in sizes.items() if limit is not None and size > limit}
    remaining = sorted(
        (call_id for call_id, (_, limit) in sizes.items() if limit is not None and call_id not in chosen),
        key=lambda call_id: (-sizes[call_id][0], call_id),
    )
    together = sum(len(result.text) for _, result in waiting if result.tool_use_id not in chosen)
    for call_id in remaining:
        if together <= settings.round_chars or sizes[call_id][0] <= settings.preview_bytes:
            break
        chosen.add(call_id)
        together -= sizes[call_id][0]
    return chosen


def _share(settings: SpillSettings, tool: str, results: int) -> int:
    """How much stays of a result that cannot be read again: all that the limits of result and round leave for it."""
    limits = (settings.limit_chars(tool) or settings.result_chars, settings.round_chars // results)
    return max(settings.preview_bytes, min(limits))


def decide(
    result: ToolResult,
    text: str,
    tool: str,
    path_of: Callable[[str], Path] | None,
    limit_bytes: int,
    *,
    reads_files: bool = True,
) -> SpillDecision | None:
    """The decision to spill; None when there is no place for the file or the preview would be no shorter.

    Without `reads_files` the model is not sent to the file.
    """
    if path_of is None:
        return None
    try:
        path = path_of(result.tool_use_id)
    except Error:
        # An id that cannot be part of a path comes from a foreign tool; its result stays whole.
        return None
    data = text.encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    shown = preview(
        text,
        path=path if reads_files else None,
        sha256=digest,
        size_bytes=len(data),
        limit_bytes=limit_bytes,
        tail=tool in SHELLS or not reads_files,
    )
    return SpillDecision(result.tool_use_id, shown, str(path), digest, len(data)) if len(shown) < len(text) else None


def preview(text: str, *, path: Path | None, sha256: str, size_bytes: int, limit_bytes: int, tail: bool) -> str:
    """What the model sees instead of the whole: how much is missing, where it is, and a part cut at line ends.

    Without a path the model cannot read files and is told to ask its tool for less.
    """
    head = _head(text, limit_bytes // 2 if tail else limit_bytes)
    end = _tail(text, limit_bytes // 2) if tail else ""
    return render_persisted(head, end, path=path, sha256=sha256, size_bytes=size_bytes, lines=text.count("\n") + 1)


def shell_preview(
    beginning: str,
    ending: str,
    *,
    path: Path,
    sha256: str,
    size_bytes: int,
    kept_bytes: int,
    lines: int,
    limit_bytes: int,
) -> str:
    """The same for what a command printed into a file, of which only the two ends are at hand."""
    head, end = _head(beginning, limit_bytes // 2), _tail(ending, limit_bytes // 2)
    return render_persisted(
        head, end, path=path, sha256=sha256, size_bytes=size_bytes, lines=lines, kept_bytes=kept_bytes
    )


def render_persisted(
    head: str, end: str, *, path: Path | None, sha256: str, size_bytes: int, lines: int, kept_bytes: int | None = None
) -> str:
    """A beginning and an end, where the rest is, and how much of it."""
    shown = len(head.encode("utf-8", "replace")) + len(end.encode("utf-8", "replace"))
    is_whole = kept_bytes is None or kept_bytes >= size_bytes
    where = "The whole output is" if is_whole else f"The first {kept_bytes:,} bytes of it are"
    rest = (
        "What is not shown is unknown to you: call the tool again for a smaller part before you rely on it."
        if path is None
        else f"{where} in {path} (SHA-256 {sha256[:16]}).\n"
        "What is not shown is unknown to you: read that file in pieces or search it before you rely on it."
    )
    notice = f"Only a part is shown here: {shown:,} of {size_bytes:,} bytes, of {lines:,} lines.\n{rest}"
    parts = [notice, f"Beginning:\n{head}"]
    if end:
        parts.append(f"[… {size_bytes - shown:,} bytes left out …]")
        parts.append(f"End:\n{end}")
    body = "\n\n".join(parts)
    return f"{PERSISTED}\n{body}\n</persisted-output>"


def _head(text: str, limit_bytes: int) -> str:
    """At most so many bytes from the start, cut after the last whole line, or anywhere when there is none."""
    cut = text.encode("utf-8", "replace")[:limit_bytes].decode("utf-8", "ignore")
    if len(cut) == len(text):
        return text
    line_end = cut.rfind("\n")
    return cut[:line_end] if line_end > 0 else cut


def _tail(text: str, limit_bytes: int) -> str:
    cut = text.encode("utf-8", "replace")[-limit_bytes:].decode("utf-8", "ignore")
    line_start = cut.find("\n")
    return cut[line_start + 1 :] if 0 <= line_start < len(cut) - 1 else cut
