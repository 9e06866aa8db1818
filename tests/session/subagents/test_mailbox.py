from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.session.subagents.mailbox import (
    AgentMessage,
    append_letter,
    has_mail,
    letter_line,
    parse_letter,
    read_mail,
    write_cursor,
)
from tests.requirements import requirement

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from reverie.session.subagents.mailbox import AgentMessage, append_letter
box, sent, name, first, count = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
with sent.open("a", buffering=1) as told:
    for number in range(first, count):
        letter = f"{name}-{number}"
        append_letter(box, AgentMessage(letter, name, "reader", "x" * (number % 3000), datetime.now(UTC)))
        told.write(letter + "\\n")
"""
READER = """
import sys, time
from pathlib import Path
from reverie.session.subagents.mailbox import read_mail, write_cursor
from reverie.files import append_lines
box, kept = Path(sys.argv[1]), Path(sys.argv[2])
known = set(kept.read_text().split()) if kept.exists() else set()
while True:
    mail = read_mail(box, "reader", known_ids=known)
    for letter in mail.letters:
        append_lines(kept, [letter.id], durable=False)
        known.add(letter.id)
    write_cursor(box, "reader", mail.cursor)
    time.sleep(0.005)
"""


def run(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])


@requirement("mailbox:file:exactly-once")
def test_eight_writers_and_a_killed_reader_lose_and_double_nothing(tmp_path: Path) -> None:
    box, kept = tmp_path / "team" / "reader.jsonl", tmp_path / "kept"
    chance, each = random.Random(7), 120
    writers = {f"w{n}": run(WRITER, box, tmp_path / f"sent-w{n}", f"w{n}", 0, each) for n in range(8)}
    reader = run(READER, box, kept)
    deadline = time.monotonic() + 60
    killed = 0
    try:
        while any(one.poll() is None for one in writers.values()):
            assert time.monotonic() < deadline
            time.sleep(chance.uniform(0.02, 0.15))
            name = chance.choice(sorted(writers))
            if killed < 12 and writers[name].poll() is None:
                killed += 1
                writers[name].send_signal(signal.SIGKILL)
                writers[name].wait()
                sent = tmp_path / f"sent-{name}"
                done = len(sent.read_text(encoding="utf-8").split()) if sent.exists() else 0
                # A killed writer does not know whether its last letter went out: it sends that one again.
                writers[name] = run(WRITER, box, sent, name, done, each)
            if chance.random() < 0.3:
                reader.send_signal(signal.SIGKILL)
                reader.wait()
                reader = run(READER, box, kept)
        expected = {f"w{n}-{number}" for n in range(8) for number in range(each)}
        while set(kept.read_text(encoding="utf-8").split() if kept.exists() else ()) < expected:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        for one in (*writers.values(), reader):
            one.kill()
            one.wait()
    assert killed > 3
    found = kept.read_text(encoding="utf-8").split()
    assert len(found) == len(set(found))
    assert set(found) == expected


@requirement("mailbox:file:torn")
def test_a_torn_line_costs_itself(tmp_path: Path) -> None:
    box = tmp_path / "a.jsonl"
    append_letter(box, AgentMessage("1", "b", "a", "one", NOW))
    with box.open("ab") as file:
        file.write(b'{"id": "2", "sender": "b')
    first = read_mail(box, "a")
    assert [one.id for one in first.letters] == ["1"]
    write_cursor(box, "a", first.cursor)
    append_letter(box, AgentMessage("3", "b", "a", "three", NOW))
    second = read_mail(box, "a")
    assert [one.id for one in second.letters] == ["3"]
    write_cursor(box, "a", second.cursor)
    assert not has_mail(box, "a")
    assert has_mail(box, "another reader"), "every reader has a cursor of its own"


@requirement("mailbox:file:exactly-once")
def test_what_is_not_kept_is_read_again_and_known_by_its_id(tmp_path: Path) -> None:
    box = tmp_path / "a.jsonl"
    for number in range(3):
        append_letter(box, AgentMessage(str(number), "b", "a", "", NOW))
    append_letter(box, AgentMessage("1", "b", "a", "sent twice", NOW))
    assert [one.id for one in read_mail(box, "a").letters] == ["0", "1", "2"]
    assert [one.id for one in read_mail(box, "a", known_ids={"0"}).letters] == ["1", "2"]
    assert read_mail(tmp_path / "none.jsonl", "a").letters == ()


@given(
    st.builds(
        AgentMessage,
        id=st.text(min_size=1),
        sender=st.text(),
        to=st.text(),
        text=st.text(),
        at=st.just(NOW),
        summary=st.text(),
        kind=st.sampled_from(["message", "shutdown_request"]),
        request_id=st.text(),
        approve=st.none() | st.booleans(),
    )
)
@requirement("mailbox:file:torn")
def test_a_letter_is_one_line_and_comes_back(letter: AgentMessage) -> None:
    line = letter_line(letter)
    assert "\n" not in line
    assert parse_letter(line) == letter
    assert all(parse_letter(line[:cut]) is None for cut in range(0, len(line), 7) if cut < len(line))


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@requirement("mailbox:file:torn")
def test_what_is_no_letter_is_none(value: object) -> None:
    assert parse_letter(json.dumps(value)) is None
