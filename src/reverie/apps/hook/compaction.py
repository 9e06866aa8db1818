"""What must survive a compaction of another agent's session, from its transcript, without a model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from reverie.hosts.hook_events import HookEvent

_MOST_BYTES = 6_000_000
"""Of a longer transcript the end is read."""
_CHARS_PER_TOKEN = 4


def read_survivors(event: HookEvent, folder: Path, limit_chars: int) -> str:
    """The user's requests, open tasks, decisions, files and errors of a session, within a limit."""
    from reverie.apps.hook.transcript_tail import copy_tail
    from reverie.context.digest import summary
    from reverie.context.facts import gather
    from reverie.context.spans import history
    from reverie.hosts.catalogue import is_session_path, read_any_entries

    path = Path(event.transcript)
    if not event.transcript or not is_session_path(path):
        return ""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        entries = read_any_entries(copy_tail(path, Path(aside), _MOST_BYTES))
    facts = gather(history(entries))
    if not facts.requests:
        return ""
    tokens = limit_chars // _CHARS_PER_TOKEN
    text = summary(facts, limit_tokens=tokens, weigh=lambda said: len(said) // _CHARS_PER_TOKEN + 1, rereads=False)
    return text[:limit_chars]
