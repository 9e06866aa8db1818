"""Where opencode kept sessions before 2026: a tree of JSON files, one for each session, message and part.

`session/<project>/<session>.json`, `message/<session>/*.json` and `part/<message>/*.json` below one directory; older
versions had messages and parts below `session/`, or the parts inside of the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie.hosts.fields import Fields
from reverie.hosts.session import ListedSession, list_files, list_session_files, read_object


def list_in_tree(home: Path) -> Iterator[ListedSession]:
    """The sessions of a tree below the directory of opencode."""
    return list_session_files(home, "storage/session/*/ses_*.json", "project/*/storage/session/info/ses_*.json")


def read_facts(path: Path) -> Fields:
    """What the file of a session says of it; its directory is that of the project where it names none."""
    facts = read_object(path)
    project = path.parents[2] / "project" / f"{path.parent.name}.json"
    return facts if facts.text("directory") else Fields({**facts, "directory": read_object(project).text("worktree")})


def read_messages(path: Path) -> Iterator[tuple[str, Fields, list[Fields]]]:
    """The messages of a session: id, message, parts; the message is empty where its file cannot be read."""
    storage = path.parents[2]
    for file in list_files(storage, f"message/{path.stem}/*.json", f"session/message/{path.stem}/*.json"):
        message = read_object(file)
        patterns = f"part/{file.stem}/*.json", f"session/part/{path.stem}/{file.stem}/*.json"
        parts = [read_object(part) for part in list_files(storage, *patterns)]
        yield file.stem, message, parts or _inline_parts(message)


def _inline_parts(message: Fields) -> list[Fields]:
    """The parts of a message that holds them itself, in the words of those that lie apart."""
    if message.get("type") == "shell":
        state = {"status": "completed", "input": {"command": message.get("command")}, "output": message.get("output")}
        return [Fields(type="tool", tool="shell", callID=message.get("callID"), state=state)]
    if isinstance(message.get("text"), str):
        return [Fields(type="text", text=message["text"])]
    return message.each("content")
