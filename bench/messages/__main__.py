"""Measure reading: `python -m bench.messages`. Each figure comes from a process of its own; memory is its peak."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from importlib.resources import files
from pathlib import Path

SIZE_BYTES = 100_000_000
SESSIONS = 1_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        projects = home / "projects" / "-p"
        projects.mkdir(parents=True)
        large = projects / f"{uuid.UUID(int=1, version=4)}.jsonl"
        write_large(large)
        print(f"{'what':44} {'seconds':>8} {'peak MB':>8}")
        ours = measure("ours_open", large, home)
        theirs = measure("vendor_open", large, home)
        report("open, project and count 100 MB (ours)", ours)
        report("read its messages (vendor's reader)", theirs)
        print(
            f"{'ratio':44} {theirs['seconds'] / ours['seconds']:>7.1f}× {theirs['peak_mb'] / ours['peak_mb']:>7.1f}×\n"
        )
        large.unlink()
        write_many(projects)
        ours = measure("ours_list", projects, home)
        theirs = measure("vendor_list", projects, home)
        report("list 1,000 sessions (ours)", ours)
        report("list 1,000 sessions (vendor's reader)", theirs)
        print(f"{'ratio':44} {theirs['seconds'] / ours['seconds']:>7.1f}×")


def sample() -> list[str]:
    return (files("reverie.apps.demo") / "sample-session.jsonl").read_text(encoding="utf-8").splitlines()


def write_large(path: Path) -> None:
    """A long session: the sample again and again, each record with its own id and a structured result."""
    records = [json.loads(line) for line in sample() if '"uuid"' in line]
    parent, written, turn = None, 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < SIZE_BYTES:
            turn += 1
            for record in records:
                made = dict(record, uuid=f"{turn:08d}-{record['uuid'][9:]}", parentUuid=parent, sessionId=path.stem)
                message = dict(made["message"])
                message["content"] = renamed(message["content"], turn)
                if "id" in message:
                    message["id"] = f"{message['id']}{turn}"
                made["message"] = message
                if record["type"] == "user" and isinstance(message["content"], list):
                    made["toolUseResult"] = {"stdout": json.dumps(message["content"])}
                line = json.dumps(made, separators=(",", ":"))
                file.write(line + "\n")
                written += len(line) + 1
                parent = made["uuid"]


def renamed(content: list[dict[str, object]], turn: int) -> list[dict[str, object]]:
    return [
        {key: f"{value}{turn}" if key in ("id", "tool_use_id") else value for key, value in block.items()}
        for block in content
    ]


def write_many(folder: Path) -> None:
    """A thousand sessions of 50 kB to 500 kB."""
    lines = sample()
    text = "\n".join(lines) + "\n"
    for number in range(SESSIONS):
        session = str(uuid.UUID(int=number, version=4))
        body = text.replace("3c1a7f52-8d0e-4b6a-9f2d-51c0ffee0001", session)
        (folder / f"{session}.jsonl").write_text(body * (1 + number % 10), encoding="utf-8")


def measure(job: str, path: Path, home: Path) -> dict[str, float]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["CLAUDE_CONFIG_DIR"] = str(home)
    best: dict[str, float] | None = None
    for _ in range(3):
        ran = subprocess.run(
            [sys.executable, "-m", "bench.messages", job, str(path)],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        found: dict[str, float] = json.loads(ran.stdout)
        if best is None or found["seconds"] < best["seconds"]:
            best = found
    assert best is not None
    return best


def report(name: str, found: dict[str, float]) -> None:
    print(f"{name:44} {found['seconds']:>8.2f} {found['peak_mb']:>8.0f}")


def work(job: str, path: Path) -> None:
    match job:
        case "ours_open":
            from reverie.messages.transcript import read_entries
            from reverie.messages.view import project
            from reverie.models.tokens.count import count, facts_of

            start = time.perf_counter()
            entries = read_entries(path)
            view = project(entries)
            counted = count(view, facts_of(view), entries=entries)
            assert counted.tokens > 0
        case "ours_list":
            from reverie.messages.listing import list_glances

            start = time.perf_counter()
            assert len(list_glances([path])) == SESSIONS
        case "vendor_open":
            from claude_agent_sdk import get_session_messages

            start = time.perf_counter()
            assert get_session_messages(path.stem)
        case "vendor_list":
            from claude_agent_sdk import list_sessions

            start = time.perf_counter()
            assert len(list_sessions()) == SESSIONS
        case _:
            raise SystemExit(f"no job {job!r}")
    seconds = time.perf_counter() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb}))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
