"""What the hooks say: the index at the start, recalled memories for a prompt, what survived after a compaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from reverie.apps.hook.state import HookFolder, SessionState
from reverie.apps.hook.transcript_tail import TranscriptTail, read_tail
from reverie.errors import Error
from reverie.hosts.hook_events import HookAnswer, HookEvent, HookMoment, shows_messages, tag_text
from reverie.memory.memory import Memory
from reverie.memory.search.recall import is_worth_recalling
from reverie.memory.search.render import attachment, find_still_shown

if TYPE_CHECKING:
    from reverie.memory.search.document import Query
    from reverie.memory.search.render import Hit

_BYTES_PER_TOKEN = 8
"""How many bytes of a transcript, with its JSON, stand for a token; only to tell how long ago something was shown."""
_SURVIVORS_SHARE = 0.65
"""What survivors may take of the text after a compaction; the rest is the index."""
_FORGETS_STARTS = ("qwen",)
"""Agents whose transcript does not keep what a start told the model: a resumed session is told again."""
_NAMED_CHANGES = 12
_NAMED_MEMORIES = 4

_RECALLED = (
    "Memories of earlier sessions that may matter for this request. They are notes and may be outdated; "
    "check what they say before relying on it."
)
_SAVING = (
    "Save what should be known in later sessions (preferences, decisions, pitfalls that the user states) with the tool "
    '`memory_save`, or with `reverie save "TEXT"`; `memory_recall` or `reverie recall QUERY` finds more.'
)
_SURVIVED = "State of this session before its conversation was compacted, taken from the transcript:"

AskWarm: TypeAlias = "Callable[[Query], Sequence[Hit] | None]"
"""Asks the process that holds the vectors; None when there is none or it is too slow."""


def answer_event(
    event: HookEvent, memory: Memory, folder: HookFolder, now: datetime, ask_warm: AskWarm = lambda _query: None
) -> HookAnswer:
    """What an event of a session is answered."""
    if memory.off is not None or event.is_subagent:
        return HookAnswer()
    context = ""
    match event.moment:
        case HookMoment.START:
            context = start_session(event, memory, folder, now)
        case HookMoment.PROMPT:
            context = answer_prompt(event, memory, folder, now, ask_warm)
        case HookMoment.BEFORE_COMPACTION:
            context = _save_survivors(event, memory, folder)
        case _:
            pass
    return HookAnswer(context, take_notice(memory) if shows_messages(event.agent) else "")


def start_session(event: HookEvent, memory: Memory, folder: HookFolder, now: datetime) -> str:
    """The index, what changed since the agent's last session, and what must survive a compaction."""
    is_compacted = event.source == "compact"
    survivors = ""
    with folder.session(event.agent, event.session) as state:
        if event.source in ("compact", "clear"):
            state.shown.clear()
        if is_compacted:
            survivors, state.survivors = state.survivors, ""
            state.survived = survivors if event.agent in _FORGETS_STARTS else ""
        elif event.source == "resume":
            survivors = state.survived
    limit = memory.settings.companion.max_chars
    parts = [f"{_SURVIVED}\n\n{survivors}"] if survivors else []
    parts += _index_parts(event, memory, limit - len(survivors) - 600)
    if not is_compacted:
        parts += _list_changes(event, memory, now)
    parts.append(_SAVING)
    return tag_text(_cut("\n\n".join(parts), limit))


def answer_prompt(
    event: HookEvent, memory: Memory, folder: HookFolder, now: datetime, ask_warm: AskWarm = lambda _query: None
) -> str:
    """Recalled memories for a prompt, each once, and survivors that no session start has given back."""
    with folder.session(event.agent, event.session) as state:
        if not event.prompt.strip() or not state.take_prompt(event.prompt_id, event.prompt, now):
            return ""
        survivors, state.survivors = state.survivors, ""
        hits = _recall(event, memory, state, ask_warm)
    parts = [f"{_SURVIVED}\n\n{survivors}"] if survivors else []
    parts += [f"{_RECALLED}\n\n{attachment(hits)}"] if hits else []
    if not parts:
        return ""
    memory.note_recalled(hits, event.prompt, session=event.session)
    return tag_text(_cut("\n\n".join(parts), memory.settings.companion.max_chars))


def take_notice(memory: Memory) -> str:
    """The line on what was learnt since the user was last told; empty when nothing was."""
    path = notices_file(memory)
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.unlink()
    except (OSError, ValueError):
        return ""
    names = list(dict.fromkeys(str(row) for row in rows))
    if not names:
        return ""
    more = f" and {len(names) - _NAMED_MEMORIES} more" if len(names) > _NAMED_MEMORIES else ""
    return f"remembered: {'; '.join(names[:_NAMED_MEMORIES])}{more} (`reverie undo`)"


def notices_file(memory: Memory) -> Path:
    """Names of memories that the user has not been told about, a JSON line each."""
    return memory.scope.folder.state / "hook-notices.jsonl"


def _recall(event: HookEvent, memory: Memory, state: SessionState, ask_warm: AskWarm) -> Sequence[Hit]:
    settings = memory.settings.recall
    is_wanted = settings.enabled and is_worth_recalling(
        event.prompt, min_words=settings.min_words, min_unspaced_chars=settings.min_unspaced_chars
    )
    if not is_wanted:
        return ()
    tail = read_tail(event.transcript, memory.root or Path(event.cwd)) if event.transcript else TranscriptTail()
    tokens = tail.size_bytes // _BYTES_PER_TOKEN
    still_shown = find_still_shown(state.list_shown(), tokens, memory.limits)
    if sum(each.size_bytes for each in still_shown) > settings.session_bytes:
        return ()
    query = memory.build_query(
        event.prompt,
        exclude=[each.path for each in still_shown if not each.is_line],
        named=[each.path for each in still_shown if each.is_line],
        context=tail.reply,
        files=tail.files,
        tools=tail.tools,
    )
    hits = ask_warm(query)
    if hits is None:
        hits = memory.recall_report(replace(query, by_words=True)).hits
    new = {hit.path for hit in hits}
    state.shown = [row for row in state.shown if row["path"] not in new]
    state.shown += [
        {"path": hit.path, "bytes": hit.size_bytes, "tokens": tokens, "line": hit.shown == "line"} for hit in hits
    ]
    return hits


def _save_survivors(event: HookEvent, memory: Memory, folder: HookFolder) -> str:
    """Keep what must survive until the compaction is over; returned for agents that take it before."""
    from reverie.apps.hook.compaction import read_survivors

    limit = int(memory.settings.companion.max_chars * _SURVIVORS_SHARE)
    survivors = read_survivors(event, folder.directory, limit)
    with folder.session(event.agent, event.session) as state:
        state.survivors = "" if event.agent == "opencode" else survivors  # it takes them before
        state.shown.clear()
    return tag_text(f"{_SURVIVED}\n\n{survivors}") if survivors else ""


def _index_parts(event: HookEvent, memory: Memory, limit: int) -> list[str]:
    """The indexes of the project and of the user, as far as the agent does not load them itself."""
    from reverie.memory.store.index.memory_md import IndexLimits, index_for_model
    from reverie.messages.injection import fence_text

    is_loaded_by_host = event.agent == "claude-code" and memory.scope.reason.startswith("kept by the host agent")
    folder = memory.scope.folder
    files = [] if is_loaded_by_host else [("Memories of this project", folder.index)]
    files += [("Memories shared by the team", folder.team_index)]
    files += [("Memories of the user, for every project", memory.user.scope.folder.index)]
    parts: list[str] = []
    for title, path in files:
        with suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            room = limit - sum(map(len, parts))
            shown, _ = index_for_model(text, IndexLimits(memory.settings.index.max_lines, max(room, 200)))
            if shown.strip():
                parts.append(f"{title} (one line each; the files are in {path.parent}):\n{fence_text(shown.strip())}")
    return parts or ["There are no memories of this project yet."]


def _list_changes(event: HookEvent, memory: Memory, now: datetime) -> list[str]:
    """What changed in the project's memory since this agent's last session; nothing at its first one."""
    from reverie.files.durable import write_atomic
    from reverie.memory.store import timeline

    path = memory.scope.folder.state / "hook-starts.json"
    seen = _read_object(path)
    try:
        commits = timeline.log(memory.store, limit=50)
    except Error:
        return []
    before = seen.get(event.agent)
    newest = commits[0].commit if commits else ""
    if isinstance(before, dict) and before.get("commit") == newest:
        return []
    seen[event.agent] = {"commit": newest, "when": now.isoformat(timespec="seconds")}
    with suppress(Error, OSError):
        write_atomic(path, json.dumps(seen), durable=False)
    if not isinstance(before, dict):
        return []
    names = [each.commit for each in commits]
    new = commits[: names.index(before["commit"])] if before.get("commit") in names else commits
    rows = dict.fromkeys(
        f"- {each.change.reason or 'changed'} ({each.change.author}, {each.when:%Y-%m-%d}): {', '.join(each.paths[:3])}"
        for each in new
        if each.paths
    )
    if not rows:
        return []
    from reverie.messages.injection import fence_text

    shown = [*list(rows)[:_NAMED_CHANGES], *(["- …"] if len(rows) > _NAMED_CHANGES else [])]
    since = str(before.get("when", ""))[:10]
    return [f"Changed since your last session here ({since}):\n{fence_text(chr(10).join(shown))}"]


def _read_object(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 2].rstrip()}\n…"
