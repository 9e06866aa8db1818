"""What may be shared and what is taken from a remote: path, size, type, secrets, and what was erased here.

The same rules hold in both directions, because a remote may hold whatever somebody put there. A refusal names the rule
and the line, never the text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from reverie.errors import Damaged
from reverie.files import is_encodable
from reverie.memory.store.erased_sentences import ErasedSentences, extract_topic_text
from reverie.memory.store.worktree import TEAM, is_safe_path, is_topic_path
from reverie.memory.store.writer import find_secrets
from reverie.memory.team.entry import RefusedEntry
from reverie.memory.topics.scope import find_private_reason
from reverie.memory.topics.topic import parse_topic
from reverie.settings.tree import TeamSettings

PATH_CHARS = 200
"""A longer path may not fit into a file name elsewhere."""


def find_path_fault(path: str) -> str:
    """Why a path cannot name a shared file; empty where it can."""
    if len(path) > PATH_CHARS or not is_encodable(path) or any(unicodedata.category(char) == "Cc" for char in path):
        return "a path that is too long or has control characters"
    if "\\" in path or not is_safe_path(path) or not is_topic_path(path) or path.startswith("."):
        return "a path that is not a Markdown file inside the team directory"
    return ""


def find_refusals(
    path: str,
    text: str,
    settings: TeamSettings,
    *,
    direction: str,
    erased: ErasedSentences | None = None,
    is_personal: bool = False,
) -> tuple[RefusedEntry, ...]:
    """Why a text may not be shared or taken; empty where it may.

    Between machines of one person (`is_personal`) personal memories travel too, and team memories do not.
    """

    def refuse(*rules: tuple[str, int]) -> tuple[RefusedEntry, ...]:
        return tuple(RefusedEntry(path, rule, line, direction) for rule, line in dict.fromkeys(rules))

    fault = find_path_fault(path)
    if is_personal and path.startswith(TEAM):
        fault = "a team memory, which travels by `reverie team`"
    if fault:
        return refuse((fault, 0))
    if len(text.encode()) > settings.max_file_bytes:
        return refuse((f"a file of more than {settings.max_file_bytes:,} bytes", 0))
    findings = find_secrets(path, text.encode())
    if findings:
        return refuse(*((f"possible secret ({finding.rule})", finding.line) for finding in findings))
    try:
        reason = "" if is_personal else find_private_reason(parse_topic(path, text))
    except Damaged as problem:
        return refuse(("front matter that cannot be read", problem.line or 0))
    if reason:
        return refuse((reason.partition(";")[0], 0))
    if erased is not None and erased.covers(extract_topic_text(text.encode())):
        return refuse(("a memory that was erased here", 0))
    return ()


def name_paths(paths: Iterable[str], most: int = 5) -> str:
    """A few paths for a sentence."""
    names = sorted(paths)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
