"""Transcripts as people have them, made up: the sample session's talk about real source files, with names of its own.

The results of tools are stretches of the standard library's source; each record carries its envelope, its usage and the
client's own copy of the result, so that the share of text in the bytes is that of real files.
"""

from __future__ import annotations

import json
import random
import sysconfig
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

SESSION_BYTES = 2_000_000
_SYLLABLES = "kalomirentavobedufigrahejonupraquisetuwexyazo"
_LINES_READ = (20, 160)


def write_corpus(folder: Path, size_bytes: int, seed: int = 7) -> list[Path]:
    """Write sessions of about two megabytes until there are so many bytes; return their files."""
    draw = random.Random(seed)
    sources = _sources()
    talk = _talk()
    written, paths = 0, []
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    while written < size_bytes:
        path = folder / f"{uuid.UUID(int=draw.getrandbits(128), version=4)}.jsonl"
        moment += timedelta(hours=7)
        target = min(SESSION_BYTES, size_bytes - written)
        with path.open("w", encoding="utf-8") as file:
            size = 0
            for record in _session(path.stem, draw, sources, talk, moment):
                size += file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
                if size >= target:
                    break
        written += path.stat().st_size
        paths.append(path)
    return paths


def queries(count: int, seed: int = 11) -> list[str]:
    """Six-word questions, two-word ones and single names, of words that the sessions have."""
    draw = random.Random(seed)
    sources = _sources()
    found: list[str] = []
    while len(found) < count:
        lines = draw.choice(sources)[1]
        at = draw.randrange(len(lines))
        words = [word for word in " ".join(lines[at : at + 4]).split() if word.isidentifier() and len(word) > 3]
        wanted = (6, 2, 1, 6)[len(found) % 4]
        if len(words) >= wanted:
            found.append(" ".join(draw.sample(words, wanted)))
    return found


def _sources() -> list[tuple[str, list[str]]]:
    root = Path(sysconfig.get_path("stdlib"))
    found = [path for path in sorted(root.rglob("*.py")) if "site-packages" not in path.parts]
    read = [(str(path.relative_to(root)), path.read_bytes().decode("utf-8", "ignore").splitlines()) for path in found]
    return [(name, lines) for name, lines in read if len(lines) > _LINES_READ[0]]


def _talk() -> list[str]:
    sample = (files("reverie.apps.demo") / "sample-session.jsonl").read_text(encoding="utf-8").splitlines()
    texts = []
    for record in map(json.loads, sample):
        content = record.get("message", {}).get("content", [])
        texts += [block["text"] for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return [text for text in texts if len(text) > 20]


def _name(draw: random.Random) -> str:
    starts = [draw.randrange(0, len(_SYLLABLES) - 6, 2) for _ in range(draw.randint(1, 3))]
    return "_".join(_SYLLABLES[at : at + 4] + draw.choice("bdfgklmnprst") + draw.choice("aeiou") for at in starts)


def _session(
    session: str, draw: random.Random, sources: list[tuple[str, list[str]]], talk: list[str], moment: datetime
) -> Iterator[dict[str, Any]]:
    names = [_name(draw) for _ in range(60)]
    parent: str | None = None
    while True:
        path, lines = draw.choice(sources)
        count = draw.randint(*_LINES_READ)
        at = draw.randrange(max(1, len(lines) - count))
        source = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines[at : at + count], at + 1))
        call = f"toolu_{draw.getrandbits(96):024x}"
        said = _perturbed(draw, talk, names)
        asked = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/home/me/app/{path}"}}
        result = {"tool_use_id": call, "type": "tool_result", "content": source}
        copy = {"type": "text", "file": {"filePath": path, "content": source, "numLines": count, "startLine": at}}
        signature = f"{draw.getrandbits(8 * 300):0600x}"
        thought = {"type": "thinking", "thinking": _perturbed(draw, talk, names), "signature": signature}
        turns: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
            ("user", [{"type": "text", "text": _perturbed(draw, talk, names)}], {}),
            ("assistant", [thought], {}),
            ("assistant", [{"type": "text", "text": said}], {}),
            ("assistant", [asked], {}),
            ("user", [result], {"toolUseResult": copy}),
        ]
        for role, content, more in turns:
            moment += timedelta(seconds=draw.randint(2, 40))
            record = _record(session, role, content, parent, draw, moment) | more
            parent = record["uuid"]
            yield record


def _perturbed(draw: random.Random, talk: list[str], names: list[str]) -> str:
    words = draw.choice(talk).split(" ")
    for _ in range(1 + len(words) // 8):
        words[draw.randrange(len(words))] = draw.choice(names)
    return " ".join(words)


def _record(
    session: str,
    role: str,
    content: list[dict[str, Any]],
    parent: str | None,
    draw: random.Random,
    moment: datetime,
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        tokens = {"input_tokens": 4, "cache_creation_input_tokens": 812, "cache_read_input_tokens": 51_204}
        message |= {"id": f"msg_{draw.getrandbits(88):022x}", "type": "message", "model": "claude-sonnet-4-5-20250929"}
        message |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": tokens | {"output_tokens": 310}}
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/me/app",
        "sessionId": session,
        "version": "2.0.14",
        "gitBranch": "main",
        "type": role,
        "message": message,
        "uuid": str(uuid.UUID(int=draw.getrandbits(128), version=4)),
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
