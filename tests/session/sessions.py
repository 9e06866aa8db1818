"""Sessions that were held: transcripts as a host writes them."""

from __future__ import annotations

import json
from pathlib import Path


def hold(path: Path, *texts: str, session: str = "", role: str = "user", start: int = 0, cwd: str = "") -> Path:
    """Add messages to a transcript; each on a day of its own in February 2026."""
    path.parent.mkdir(parents=True, exist_ok=True)
    session = session or path.stem
    with path.open("a", encoding="utf-8") as file:
        for number, text in enumerate(texts, start + 1):
            record = {
                "type": role,
                "uuid": f"{session}-{role}-{number}",
                "parentUuid": None,
                "sessionId": session,
                "cwd": cwd,
                "timestamp": f"2026-02-{number:02}T08:00:00.000Z",
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def print_result(path: Path, text: str, session: str = "") -> Path:
    """Let a tool have printed something."""
    session = session or path.stem
    record = {
        "type": "user",
        "uuid": f"{session}-result-{len(text)}",
        "parentUuid": None,
        "sessionId": session,
        "timestamp": "2026-02-01T07:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": text}]},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    return path
