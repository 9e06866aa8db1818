"""Three-way merge of one shared file; pure.

A delete wins over an edit. Two edits are merged key by key and line by line; where they overlap the remote's stays,
because others have it already. The edit that loses is returned, for a conflict copy on this machine. Saving a name
again after its deletion makes a new entry.
"""

from __future__ import annotations

from reverie.files.merge import MergedText
from reverie.memory.team.entry import TeamEntry, hash_text
from reverie.memory.topics.merge import merge_topics
from reverie.values import value


@value
class MergedFile:
    """What becomes of one file on this side."""

    text: str | None
    """None where there is to be no file."""
    losing: str | None = None
    """The edit that did not make it: theirs when we deleted the file, else ours."""


def merge_file(path: str, base: TeamEntry | None, ours: str | None, theirs: TeamEntry | None) -> MergedFile:
    """Merge what is here with what is there, both seen from what both last agreed on.

    `base` and `theirs` are None where nothing was agreed or is known there; `ours` is None where there is no file.
    """
    if theirs is None or theirs.text == ours:
        return MergedFile(ours)
    before = None if base is None else base.text
    if theirs.text == before:
        # A copy of a deleted text that came here before we were joined; any other text is a new entry.
        is_deleted_copy = base is None and ours is not None and hash_text(ours) == theirs.sha256
        return MergedFile(None if is_deleted_copy else ours)
    if ours == before:
        return MergedFile(theirs.text)
    if theirs.text is None:
        return MergedFile(None, losing=ours)
    if ours is None:
        return MergedFile(None, losing=theirs.text)
    merged = merge_topics(path, before or "", ours, theirs.text)
    if isinstance(merged, MergedText):
        return MergedFile(merged.text)
    return MergedFile(theirs.text, losing=ours)
