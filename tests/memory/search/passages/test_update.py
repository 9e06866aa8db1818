from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from reverie.memory.search.passages import PastQuery, PastSearch
from reverie.memory.store.redact import write_redacted
from tests.memory.search.passages.sessions import NOW, Sessions
from tests.requirements import requirement

INDEX = """
import sys, time
from pathlib import Path
from reverie.memory.search.passages import PastSearch
from reverie.memory.search.passages import update
update.BATCH_BYTES = 20_000
folder = Path(sys.argv[2])
past = PastSearch(
    Path(sys.argv[1]), lambda: [update.SearchedTranscript(path, path.stem) for path in sorted(folder.glob("*.jsonl"))]
)
print("ready", flush=True)
sys.stdin.readline()
past.sweep()
"""


def index_in_another_process(sessions: Sessions) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(sessions.index), str(sessions.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def count(past: PastSearch) -> int:
    """How many passages the index holds."""
    return past.search(PastQuery("anything"), now=NOW).passages


def write_many(sessions: Sessions, count: int) -> None:
    for number in range(count):
        with sessions.path(f"s{number % 4}").open("ab") as file:
            file.write(sessions.line(f"s{number % 4}", f"kiwi number{number} " + "padding words " * 20) + b"\n")


@requirement("past:incremental")
def test_only_what_was_appended_is_read(sessions: Sessions) -> None:
    sessions.say("a", "the kiwi server listens in Frankfurt")
    sessions.say("b", "the mango queue is drained at night")
    past = sessions.past()
    assert past.sweep().bytes_read == sum(path.stat().st_size for path in sessions.folder.iterdir())
    assert past.sweep().bytes_read == 0

    before = sessions.path("a").stat().st_size
    sessions.say("a", "it moved to Dublin yesterday")

    assert past.sweep().bytes_read == sessions.path("a").stat().st_size - before
    assert [hit.text for hit in sessions.find("Dublin")] == ["it moved to Dublin yesterday"]
    assert len(sessions.find("Frankfurt")) == 1


@requirement("past:incremental")
def test_a_torn_last_line_waits_for_its_end(sessions: Sessions) -> None:
    sessions.say("a", "a first line")
    line = sessions.line("a", "the papaya is ripe")
    with sessions.path("a").open("ab") as file:
        file.write(line[:40])
    assert sessions.find("papaya") == []

    with sessions.path("a").open("ab") as file:
        file.write(line[40:] + b"\n")

    assert sessions.texts("papaya") == ["the papaya is ripe"]


@requirement("past:incremental")
def test_a_last_record_without_a_line_break_counts_and_is_not_read_twice(sessions: Sessions) -> None:
    sessions.path("a").write_bytes(sessions.line("a", "the papaya is ripe"))
    assert sessions.texts("papaya") == ["the papaya is ripe"]

    with sessions.path("a").open("ab") as file:
        file.write(b"\n" + sessions.line("a", "so is the mango") + b"\n")

    assert sessions.texts("papaya") == ["the papaya is ripe"]
    assert sessions.texts("mango") == ["so is the mango"]
    past = sessions.past()
    assert count(past) == 2


@requirement("past:rewritten")
@pytest.mark.parametrize("sentence", ["The vault code is guava.", "guava"])
def test_words_erased_from_a_transcript_leave_the_index_file(sessions: Sessions, sentence: str) -> None:
    sessions.say("a", "Before. The vault code is guava. After it, the kiwi.")
    assert len(sessions.find("guava")) == 1

    assert write_redacted([sessions.path("a")], [sentence])

    assert sessions.find("guava") == []
    assert len(sessions.find("kiwi")) == 1
    for past in sessions.opened:
        past.close()
    sessions.opened.clear()
    left = b"".join(path.read_bytes() for path in sessions.index.parent.iterdir())
    assert b"guava" not in left


@requirement("past:rewritten")
def test_a_change_that_keeps_size_and_time_is_noticed(sessions: Sessions) -> None:
    sessions.say("a", "the code is guava")
    looks = sessions.path("a").stat()
    assert len(sessions.find("guava")) == 1

    data = sessions.path("a").read_bytes().replace(b"guava", b"melon")
    sessions.path("a").write_bytes(data)
    os.utime(sessions.path("a"), ns=(looks.st_atime_ns, looks.st_mtime_ns))

    assert sessions.find("guava") == []
    assert len(sessions.find("melon")) == 1


@requirement("past:rewritten")
def test_a_shortened_and_grown_file_is_read_again(sessions: Sessions) -> None:
    sessions.say("a", "the code is guava")
    sessions.say("a", "and the second is lychee")
    assert len(sessions.find("lychee")) == 1

    sessions.path("a").write_bytes(b"")
    sessions.say("a", "a new beginning " * 40 + "with a melon")

    assert sessions.find("guava") == sessions.find("lychee") == []
    assert len(sessions.find("melon")) == 1


@requirement("past:rewritten")
def test_a_removed_transcript_is_not_found_any_more(sessions: Sessions) -> None:
    sessions.say("a", "the code is guava")
    sessions.say("b", "the code is melon")
    assert len(sessions.find("code")) == 2

    sessions.path("a").unlink()

    assert [hit.session for hit in sessions.find("code")] == ["b"]


@requirement("past:derived")
@pytest.mark.parametrize("damage", [b"", b"this is no database", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_lost_or_damaged_index_is_made_again(sessions: Sessions, damage: bytes) -> None:
    sessions.say("a", "the code is guava")
    past = sessions.past()
    past.sweep()
    past.close()
    sessions.opened.clear()

    for path in sessions.index.parent.iterdir():
        path.unlink()
    sessions.index.write_bytes(damage)

    assert len(sessions.find("guava")) == 1


@requirement("past:derived")
def test_reading_anew_finds_the_same(sessions: Sessions) -> None:
    write_many(sessions, 20)
    before = sessions.find("kiwi")
    past = sessions.past()

    assert past.sweep(anew=True).bytes_read == sum(path.stat().st_size for path in sessions.folder.iterdir())

    assert [hit.message for hit in sessions.find("kiwi")] == [hit.message for hit in before]


@requirement("past:many-processes")
def test_processes_that_index_at_once_index_everything_once(sessions: Sessions) -> None:
    write_many(sessions, 400)
    processes = [index_in_another_process(sessions) for _ in range(3)]
    for process in processes:
        begin(process)
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    for process in processes:
        process.communicate()

    past = sessions.past()
    assert past.sweep().changed == 0
    assert count(past) == 400
    assert len(sessions.find("number123")) == 1


@requirement("past:many-processes")
def test_a_killed_process_leaves_an_index_that_the_next_one_completes(sessions: Sessions) -> None:
    write_many(sessions, 600)
    for pause in (0.0, 0.01, 0.03):
        process = index_in_another_process(sessions)
        begin(process)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()

    past = sessions.past()
    past.sweep()

    assert count(past) == 600
    for number in (0, 300, 599):
        assert len(sessions.find(f"number{number}")) == 1


def test_lines_that_are_no_records_are_passed_over(sessions: Sessions) -> None:
    sessions.path("a").write_bytes(b'\n\n{"type":\n\xff\xfe\n[1]\n' + json.dumps({"type": "x"}).encode() + b"\n")
    sessions.say("a", "the code is guava")

    assert sessions.texts("guava") == ["the code is guava"]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(sessions: Sessions) -> None:
    sessions.path("a").symlink_to(sessions.folder / "missing.jsonl")
    sessions.say("b", "the code is guava")

    assert sessions.texts("guava") == ["the code is guava"]
