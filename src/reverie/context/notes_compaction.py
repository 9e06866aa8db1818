"""The session notes become the summary: a compaction that asks nobody.

Tried first whenever the gate says yes. It declines for one of six reasons, as a value, and then the full compaction
takes over. What it brings back besides the notes is what every compaction brings back.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias

from reverie.context.replacement import Case, build, keepable, seal
from reverie.context.session_notes import NotesFile, cursor, shorten_notes
from reverie.context.spans import chain
from reverie.context.stage import StageOutcome
from reverie.context.summarise import WrittenSummary
from reverie.context.survive import must_survive
from reverie.messages.entries import BoundaryEntry, Entry, envelope_of
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, ItemKind
from reverie.settings import Settings
from reverie.values import value

KIND = "notes compaction"
NOTES_FRACTION = 0.25
KEEP_MIN_FRACTION = 0.20
KEEP_MAX_FRACTION = 0.40
"""Shares of E to which the fixed sizes shrink in small windows; on a window of 200,000 the fixed sizes are smaller."""
WORTHWHILE = 0.75
"""Share of the compaction line at which a result counts as too large: one closer to it would be compacted again at
once, and each time costs the cache."""


class NotesRefusal(StrEnum):
    """Why the notes cannot be the summary."""

    OFF = "notes and compaction by notes are not both on"
    NO_FILE = "there are no notes yet"
    BLANK = "the notes are an empty template"
    NO_CURSOR = "it is unknown up to where the notes reach"
    TOO_LARGE = "notes and kept messages together are still too large"
    FAILED = "something went wrong"


@value
class Declined:
    """No compaction by notes."""

    reason: NotesRefusal


Result: TypeAlias = StageOutcome | Declined


def compact_by_notes(case: Case, settings: Settings, file: NotesFile) -> Result:
    """Put the notes and a recent tail in place of the history, or say why not. Never fails."""
    if not (settings.notes.enabled and settings.compaction.from_notes):
        return Declined(NotesRefusal.OFF)
    if not file.text:
        return Declined(NotesRefusal.NO_FILE)
    if file.is_blank:
        return Declined(NotesRefusal.BLANK)
    try:
        return _compact(case, settings, file)
    except Exception:  # noqa: BLE001 — any failure leads to the full compaction
        return Declined(NotesRefusal.FAILED)


def find_kept_start(items: Sequence[Item], uncovered: int, case: Case) -> int:
    """Where the kept tail begins: what the notes do not cover, and older rounds until the tail is worth keeping."""
    effective = case.scene.budget.effective_tokens
    least = min(case.settings.keep_min_tokens, int(effective * KEEP_MIN_FRACTION))
    most = min(case.settings.keep_max_tokens, int(effective * KEEP_MAX_FRACTION))
    start = uncovered
    tokens = case.weight(items[start:])
    texts = sum(map(_has_text, items[start:]))
    while start > 0 and (tokens < least or texts < case.settings.keep_min_text_messages):
        weight = case.scene.weigh(items[start - 1])
        if tokens + weight > most or items[start - 1].kind in (ItemKind.SUMMARY, ItemKind.FOLD):
            break
        start -= 1
        tokens += weight
        texts += _has_text(items[start])
    # Towards older messages where that keeps within the limit, because a cut must not part a call from its result.
    cuts = legal_cuts(items)
    return max(cut for cut in cuts if cut <= start)


def _compact(case: Case, settings: Settings, file: NotesFile) -> Result:
    items = case.view.items
    uncovered = _find_first_uncovered(case)
    if uncovered is None:
        return Declined(NotesRefusal.NO_CURSOR)
    start = find_kept_start(items, uncovered, case)
    kept_items = keepable(case, items[start:])
    budget = case.scene.budget
    limit = min(settings.notes.total_tokens, int(budget.effective_tokens * NOTES_FRACTION))
    notes = shorten_notes(file.text, settings.notes, case.scene.weigh_text, total_tokens=limit, path=file.path)
    folds = [item.message.text for item in items[start:] if item.kind is ItemKind.FOLD]
    summary = "\n\n".join([f"Notes on the session so far, kept in {file.path}:", notes, *folds])
    skills = (skill.name for skill in case.around.skills)
    must = must_survive(case.entries, case.view.leaf, skills, rereads=case.scene.rereads)
    replacement = build(
        case,
        must,
        WrittenSummary(summary, "notes"),
        kind=KIND,
        kept_items=kept_items,
        limit_tokens=case.scene.weigh_text(summary),
    )
    before = case.overhead_tokens + case.weight(items)
    if replacement.tokens >= min(before, int(budget.compact_at_tokens * WORTHWHILE)):
        return Declined(NotesRefusal.TOO_LARGE)
    return seal(case, replacement)


def _find_first_uncovered(case: Case) -> int | None:
    """The number of the first item that the notes do not cover; None when that is unknown."""
    entries = chain(case.entries, case.view.leaf)
    state = cursor(entries)
    items = case.view.items
    for number, item in enumerate(items):
        if item.uuid == state.covers:
            return number + 1
    if state.covers is None or not _is_before_the_view(state.covers, entries, state.boundary_after):
        return None
    # The message left the view when these notes last were the summary: all that stands behind it is news.
    return next((n for n, item in enumerate(items) if item.kind is not ItemKind.SUMMARY), len(items))


def _is_before_the_view(covers: str, entries: Sequence[Entry], boundary: BoundaryEntry | None) -> bool:
    is_known = any((envelope := envelope_of(entry)) is not None and envelope.uuid == covers for entry in entries)
    details = boundary.details.get("reverie") if boundary is not None else None
    return is_known and (boundary is None or (isinstance(details, dict) and details.get("kind") == KIND))


def _has_text(item: Item) -> bool:
    return bool(item.message.text.strip())
