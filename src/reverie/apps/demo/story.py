"""The sample sessions: three weeks of a small team on one repository, written for this demonstration.

Each file of `story/` is one session as people can read it: `@@ session WHEN WHO`, then `@@ user`, `@@ agent`,
`@@ call TOOL INPUT` and `@@ result`, each followed by its text. `write_story` turns them into transcripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from reverie.messages.blocks import Text, ToolResult, ToolUse
from reverie.messages.entries import AssistantEntry, Entry, Envelope, UserEntry, format_timestamp
from reverie.messages.message import assistant, user
from reverie.messages.transcript import Transcript

MODEL = "claude-sonnet-4-5"
PAUSE = timedelta(seconds=40)


def write_story(folder: Path, *, project: str) -> list[Path]:
    """Write all sample sessions as transcripts into a folder, the oldest first."""
    story = files("reverie.apps.demo") / "story"
    written = []
    for number, script in enumerate(sorted(one.name for one in story.iterdir() if one.name.endswith(".md")), 1):
        text = (story / script).read_text(encoding="utf-8").replace("{{key}}", sample_key())
        session = f"{number:08d}-0000-4000-8000-000000000000"
        path = folder / f"{session}.jsonl"
        entries = list(read_script(text, session, project))
        with Transcript.open(path, now=_moment(entries[0]), label="demonstration") as transcript:
            transcript.append(*entries, durable=False)
        written.append(path)
    return written


def sample_key() -> str:
    """Something that looks like a secret, made here so that none stands in a file."""
    return "-".join(("sk", "ant", "api03", "Qm7" * 31 + "AA"))


def read_script(text: str, session: str, project: str) -> Iterator[Entry]:
    """The entries of one script."""
    parent: str | None = None
    call = ""
    when = datetime.fromtimestamp(0, UTC)
    for number, part in enumerate(text.split("@@ ")[1:]):
        head, _, body = part.partition("\n")
        kind, _, rest = head.partition(" ")
        if kind == "session":
            when = datetime.fromisoformat(rest.split()[0]).astimezone()
            continue
        uuid = f"{session[:8]}-{number:04d}-4000-8000-000000000000"
        envelope = Envelope(
            uuid, parent, session, format_timestamp(when), cwd=project, git_branch="main", version="demo"
        )
        parent, when = uuid, when + PAUSE
        match kind:
            case "user":
                yield UserEntry(envelope, user(body.strip()), source="typed")
            case "result":
                yield UserEntry(envelope, user(ToolResult(call, body.rstrip())))
            case "agent":
                yield AssistantEntry(envelope, assistant(Text(body.strip())), f"msg_{uuid[:13]}", model=MODEL)
            case "call":
                name, _, arguments = rest.partition(" ")
                call = f"toolu_{uuid[:13]}"
                block = ToolUse(call, name, json.loads(arguments))
                yield AssistantEntry(envelope, assistant(block), f"msg_{uuid[:13]}", model=MODEL)
            case _:
                raise ValueError(f"{head!r} is no part of a script")


def _moment(entry: Entry) -> datetime:
    assert isinstance(entry, UserEntry | AssistantEntry)
    return datetime.fromisoformat(entry.envelope.timestamp)
