from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import Conflict, UserMistake
from reverie.messages.entries import BadLine, Entry, Envelope, UserEntry
from reverie.messages.message import user
from reverie.messages.transcript import Transcript, open_or_fork, read_entries
from reverie.messages.view import project
from tests.requirements import requirement

NOW = datetime(2026, 11, 1, 10, tzinfo=UTC)


def entry(number: int, parent: str | None = None, text: str = "") -> UserEntry:
    envelope = Envelope(f"e{number}", parent, "s", "2026-11-01T10:00:00.000Z")
    return UserEntry(envelope, user(text or f"line {number}"))


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.messages.transcript import Transcript
from tests.messages.test_transcript import entry
with Transcript.open(Path(sys.argv[1]), now=datetime(2026, 11, 1, tzinfo=UTC)) as transcript:
    start = len(transcript.entries)
    for number in range(start, start + 10_000):
        transcript.append(entry(number, text=f"line {number} " + "x" * (number % 7000)), durable=False)
        print(number, flush=True)
"""


def writer(path: Path) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ}
    )


@pytest.mark.timeout(1200)
@requirement("messages:transcript:kill")
def test_a_killed_writer_tears_at_most_the_line_it_was_writing(tmp_path: Path, thorough: bool) -> None:
    path = tmp_path / "s.jsonl"
    chance = random.Random(7)
    confirmed: list[int] = []
    for kills in range(1, 101 if thorough else 4):
        process = writer(path)
        assert process.stdout is not None
        confirmed.append(int(process.stdout.readline()))
        time.sleep(chance.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        # The last number may be cut off in the pipe; what is whole ends with its line break.
        confirmed += [int(line) for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        process.wait()
        process.stdout.close()

        found = read_entries(path)

        # A line that goes over the end of a page is written page by page, and the system may end a process in between.
        assert sum(isinstance(one, BadLine) for one in found) <= kills
        written = [int(one.message.text.split()[1]) for one in found if isinstance(one, UserEntry)]
        assert written == sorted(set(written))
        assert set(confirmed) <= set(written)


@requirement("messages:transcript:torn-line")
def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Transcript.open(path, now=NOW) as transcript:
        transcript.append(entry(1), entry(2, "e1"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type":"user","uuid":"torn","mess')

    with Transcript.open(path, now=NOW) as transcript:
        transcript.append(entry(3, "e2"))

    assert [item.uuid for item in project(read_entries(path)).items] == ["e1", "e2", "e3"]
    assert path.read_bytes().startswith(whole)


@requirement("messages:transcript:second-writer-forks")
def test_a_second_writer_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Transcript.open(path, now=NOW), pytest.raises(Conflict, match=str(os.getpid())):
        Transcript.open(path, now=NOW)


@requirement("messages:transcript:second-writer-forks")
def test_a_second_writer_gets_a_fork_and_the_first_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    with Transcript.open(path, now=NOW) as first:
        first.append(entry(1), entry(2, "e1"))
        before = path.read_bytes()

        with open_or_fork(path, now=NOW, new_id=lambda: str(uuid.uuid4())) as second:
            assert second.path != path
            leaf = project(second.entries).leaf
            second.append(entry(9, leaf, "mine"))
            first.append(entry(3, "e2"))

    assert path.read_bytes().startswith(before)
    assert [item.message.text for item in project(read_entries(path)).items] == ["line 1", "line 2", "line 3"]
    assert [item.message.text for item in project(read_entries(second.path)).items] == ["line 1", "line 2", "mine"]


@requirement("messages:transcript:second-writer-forks")
def test_the_session_is_free_again_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    process = writer(path)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(Conflict):
        Transcript.open(path, now=NOW)

    process.kill()
    process.wait()
    process.stdout.close()

    with Transcript.open(path, now=NOW) as transcript:
        assert transcript.entries


@requirement("messages:transcript:two-sessions")
def test_two_processes_write_two_sessions_of_one_project(tmp_path: Path) -> None:
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    processes = [writer(path) for path in paths]
    for process in processes:
        assert process.stdout is not None
        for _ in range(50):
            process.stdout.readline()
        process.kill()
    for process, path in zip(processes, paths, strict=True):
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        texts = [one.message.text.split()[1] for one in read_entries(path) if isinstance(one, UserEntry)]
        assert texts == [str(number) for number in range(len(texts))]
        assert len(texts) >= 50


def test_a_missing_transcript_is_a_mistake_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="reverie sessions"):
        read_entries(tmp_path / "none.jsonl")


@requirement("messages:compatible:vendor-reader")
def test_the_vendors_reader_opens_our_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    from reverie.messages.blocks import ToolResult, ToolUse
    from reverie.messages.entries import AssistantEntry, BoundaryEntry, TitleEntry
    from reverie.messages.message import Usage, assistant

    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    project_root = tmp_path / "work"
    project_root.mkdir()
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(project_root.resolve()))
    session = str(uuid.uuid4())
    ids = [str(uuid.uuid4()) for _ in range(8)]

    def envelope(number: int, parent: int | None) -> Envelope:
        return Envelope(
            ids[number],
            None if parent is None else ids[parent],
            session,
            f"2026-11-01T10:00:0{number}.000Z",
            cwd=str(project_root),
            git_branch="main",
            version="0.1.0",
        )

    entries: list[Entry] = [
        UserEntry(envelope(0, None), user("please fix the importer")),
        AssistantEntry(envelope(1, 0), assistant(ToolUse("t1", "Read", {})), "m1", model="claude-x", usage=Usage(5, 7)),
        UserEntry(envelope(2, 1), user(ToolResult("t1", "text"))),
        AssistantEntry(envelope(3, 2), assistant("done"), "m2", model="claude-x", usage=Usage(9, 2)),
        BoundaryEntry(envelope(4, None), "manual", 1000, 10),
        UserEntry(envelope(5, 4), user("the importer was fixed"), is_summary=True),
        UserEntry(envelope(6, 5), user("now the tests")),
        TitleEntry("custom-title", "Importer"),
    ]
    path = tmp_path / "projects" / slug / f"{session}.jsonl"
    with Transcript.open(path, now=NOW) as transcript:
        transcript.append(*entries)

    (listed,) = sdk.list_sessions(directory=str(project_root))
    messages = sdk.get_session_messages(session, directory=str(project_root))

    assert listed.session_id == session
    assert listed.summary == "Importer"
    assert listed.cwd == str(project_root)
    assert [message.uuid for message in messages] == [ids[5], ids[6]]
    assert json.loads(json.dumps(messages[1].message))["content"] == [{"type": "text", "text": "now the tests"}]
