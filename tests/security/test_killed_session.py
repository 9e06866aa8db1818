from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reverie.messages.blocks import Json
from reverie.messages.entries import UserEntry
from reverie.messages.transcript import open_or_fork, read_entries
from reverie.session.session import Session
from reverie.testing.simulator import RunningSimulator, simulator
from tests.program import Forked
from tests.requirements import requirement
from tests.security.killed import main, setup
from tests.session.session_desk import NOTES, calls

pytestmark = pytest.mark.program


def script(file: Path) -> list[Json]:
    work = calls(
        ("Bash", {"command": f"sleep 0.02; echo x >> {file}"}), ("Bash", {"command": "seq 1 3000"}), text="I work."
    )
    return [
        NOTES,
        {"when": {"answers_tool": "Bash"}, "then": {"text": "finished"}},
        {"when": {"last_user": "please work"}, "then": work},
        {"when": {}, "then": {"text": "well"}},
    ]


def killed_once(
    root: Path, running: RunningSimulator, session: str | None, after_seconds: float, *, word: str = ""
) -> list[str]:
    """Let a session work until it is killed, so long after it said a word; everything that it said."""
    with TemporaryDirectory(prefix="reverie-killed") as folder:
        process = Forked(main, [root, running.base_url, session], Path(folder))
        lines = [process.out.readline()]
        while lines[-1] and not lines[-1].startswith(word):
            lines.append(process.out.readline())
        time.sleep(after_seconds)
        os.killpg(process.pid, signal.SIGKILL)
        ended = process.ended()
    assert "Traceback" not in ended.err, ended.err
    return [line.strip() for line in (*lines, *ended.out.splitlines())]


@pytest.mark.timeout(1800)
@requirement("security:crash:resumes")
def test_a_session_killed_anywhere_goes_on_with_all_that_was_said(tmp_path: Path, thorough: bool) -> None:
    kills = 150 if thorough else 6
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    chance = random.Random(7)
    said: list[str] = []
    last_words: Counter[str] = Counter()
    with simulator(script(tmp_path / "done.txt")) as running:
        session = None
        for _ in range(kills):
            word, longest = chance.choice([("saying", 0.6), ("compacting", 0.1), ("compacting", 0.02)])
            heard = killed_once(tmp_path, running, session, chance.uniform(0.0, longest), word=word if session else "")
            said += [line.removeprefix("said ") for line in heard if line.startswith("said ")]
            last_words[heard[-1].partition(" ")[0]] += 1
            found = sorted((tmp_path / "home" / ".reverie" / "projects").glob("*/*.jsonl"))
            assert len(found) <= 1, "a killed session is gone on with, not copied"
            if not found:
                continue
            session = found[0].stem
            entries = read_entries(found[0])
            typed = [entry.message.text for entry in entries if isinstance(entry, UserEntry)]
            assert [text for text in said if text not in typed] == []
            answers = Counter(
                result.tool_use_id
                for entry in entries
                if isinstance(entry, UserEntry)
                for result in entry.message.tool_results
            )
            assert [call for call, count in answers.items() if count > 1] == []
        refused = [record for record in running.requests if record.status == 400]
    print(f"killed after these words: {dict(last_words)}")
    assert session is not None
    assert last_words["compacting"] >= kills // 10, "compaction is among the points that were hit"
    assert refused == [], "every request had a valid history"


@requirement("security:crash:resumes")
def test_a_second_process_gets_a_copy_and_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    with simulator(script(tmp_path / "done.txt")) as running:
        killed_once(tmp_path, running, None, 0.0, word="said")
        (path,) = (tmp_path / "home" / ".reverie" / "projects").glob("*/*.jsonl")
        before = read_entries(path)
        with path.open("ab") as file:
            file.write(b'{"type":"user","uuid":"torn","message":{"role":"us')
        assert list(read_entries(path))[: len(before)] == list(before)
        made = setup(tmp_path, running.base_url)
        with open_or_fork(path, now=made.now(), new_id=made.new_id, label="first") as first:
            second = Session.open(made, resume=path.stem)

            assert first.path == path
            assert second.path != path
            typed = [entry.message.text for entry in before if isinstance(entry, UserEntry) and entry.source == "typed"]
            assert [text for _, text in second.prompts if text not in typed] == []
            assert typed[-1] in [text for _, text in second.prompts]
