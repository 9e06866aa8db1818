"""Past sessions for tests: transcripts written line by line, and a search over them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.memory.search.passages import PastHit, PastQuery, PastSearch
from reverie.memory.search.passages.update import SearchedTranscript

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@dataclass
class Sessions:
    """A folder of transcripts and the index over it."""

    folder: Path
    index: Path
    said: int = 0
    opened: list[PastSearch] = field(default_factory=list)

    def path(self, session: str) -> Path:
        return self.folder / f"{session}.jsonl"

    def say(self, session: str, text: str | list[dict[str, Any]], role: str = "user", **more: Any) -> str:
        """Append a record; return its id."""
        line = self.line(session, text, role, **more)
        with self.path(session).open("ab") as file:
            file.write(line + b"\n")
        return str(json.loads(line)["uuid"])

    def line(self, session: str, text: str | list[dict[str, Any]], role: str = "user", **more: Any) -> bytes:
        self.said += 1
        content = [{"type": "text", "text": text}] if isinstance(text, str) else text
        moment = datetime(2026, 4, 1, 8, tzinfo=UTC) + timedelta(minutes=self.said)
        record = {
            "type": role,
            "uuid": f"{session}-{self.said:04d}",
            "sessionId": session,
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "cwd": "/home/me/app",
            "message": {"role": role, "content": content},
        }
        return json.dumps(record | more, ensure_ascii=False).encode()

    def past(self) -> PastSearch:
        past = PastSearch(self.index, self.transcripts)
        self.opened.append(past)
        return past

    def transcripts(self) -> Iterator[SearchedTranscript]:
        return (SearchedTranscript(path, path.stem) for path in sorted(self.folder.glob("*.jsonl")))

    def find(self, text: str, **more: Any) -> list[PastHit]:
        """Look at the transcripts and search them."""
        past = self.past()
        past.sweep()
        return list(past.search(PastQuery(text, **more), now=NOW).hits)

    def texts(self, text: str, **more: Any) -> list[str]:
        return [hit.text for hit in self.find(text, **more)]


def result(text: str) -> list[dict[str, Any]]:
    """What a tool answered."""
    return [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]


def call(name: str, **parameters: str) -> list[dict[str, Any]]:
    """The model asks for a tool."""
    return [{"type": "tool_use", "id": "toolu_1", "name": name, "input": parameters}]
