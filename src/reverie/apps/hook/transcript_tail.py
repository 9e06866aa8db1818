"""The end of another agent's transcript, whatever its size: files and tools in use, and the last reply.

Lines of JSON of any agent are searched for tool calls by their usual keys, so that no reader is needed and a transcript
of gigabytes costs as much as a small one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reverie.hosts.hook_events import HookEvent
from reverie.values import value

if TYPE_CHECKING:
    from reverie.settings.load import Configuration

_TAIL_BYTES = 96_000
_HEAD_BYTES = 2_000_000
_REPLY_CHARS = 1_000
_RECENT_LINES = 40
_PATH_KEYS = ("file_path", "filePath", "path", "absolute_path", "notebook_path")


@value
class TranscriptTail:
    """What was going on at the end of a transcript."""

    size_bytes: int = 0
    files: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    reply: str = ""


def find_transcript(event: HookEvent, configuration: Configuration) -> str:
    """The session that an event without a path is about, as a path; empty where it is not known."""
    inside = {"copilot": f"session-state/{event.session}/events.jsonl", "opencode": f"opencode.db/{event.session}"}
    if not event.session or "/" in event.session or event.agent not in inside:
        return ""
    paths = (home / inside[event.agent] for home in configuration.agents.get(event.agent, ()))
    return next((str(path) for path in paths if path.exists() or path.parent.is_file()), "")


def read_tail(path: str, project: Path) -> TranscriptTail:
    """Look at the last lines of a transcript; nothing is found where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            lines = file.read(_TAIL_BYTES).splitlines()[-_RECENT_LINES:]
    except (OSError, ValueError):
        return TranscriptTail()
    files: dict[str, None] = {}
    tools: dict[str, None] = {}
    reply = ""
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        for part in _parts(record, 0):
            name, given = part.get("name"), part.get("input") or part.get("arguments") or part.get("args")
            if isinstance(name, str) and given is not None:
                tools[name] = None
                files |= dict.fromkeys(each.removeprefix(f"{project}/") for each in _paths(given))
        reply = _find_reply(record) or reply
    return TranscriptTail(size, tuple(files), tuple(tools), reply[-_REPLY_CHARS:])


def copy_tail(path: Path, folder: Path, most_bytes: int) -> Path:
    """A file with the first line and the last whole lines of a larger one, under the same name in a folder of its
    own; a file that is not larger is returned as it is.
    """
    if not path.is_file() or path.stat().st_size <= most_bytes or path.suffix != ".jsonl":
        return path
    import shutil

    copy = folder / path.parent.name / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    with path.open("rb") as source, copy.open("wb") as target:
        head = source.readline(_HEAD_BYTES)
        target.write(head if head.endswith(b"\n") else b"")
        source.seek(-most_bytes, 2)
        source.readline()
        shutil.copyfileobj(source, target)
    return copy


def _parts(record: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects inside a record."""
    if depth > 6:
        return
    if isinstance(record, dict):
        yield record
        for inner in record.values():
            yield from _parts(inner, depth + 1)
    elif isinstance(record, list):
        for inner in record:
            yield from _parts(inner, depth + 1)


def _paths(given: Any) -> list[str]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return []
    if not isinstance(given, dict):
        return []
    return [said for key in _PATH_KEYS if isinstance(said := given.get(key), str) and said]


def _find_reply(record: Any) -> str:
    """The text of a record that is a reply of the model, in the forms of Claude Code, Codex, Copilot and Qwen."""
    if not isinstance(record, dict):
        return ""
    body = next((part for key in ("message", "payload", "data") if isinstance(part := record.get(key), dict)), {})
    kinds = (record.get("type"), body.get("role"))
    if not {"assistant", "model", "assistant.message"}.intersection(kind for kind in kinds if isinstance(kind, str)):
        return ""
    content = body.get("content") or body.get("parts")
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in content if isinstance(part, dict)) if isinstance(content, list) else ()
    return "\n".join(text for text in texts if isinstance(text, str))
