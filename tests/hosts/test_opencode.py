from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from reverie.hosts.opencode import list_sessions
from reverie.messages.message import Usage
from tests.hosts.homes import ANSWER, INJECTED, PRINTED, TYPED, add_opencode_turn, write_document, write_opencode
from tests.hosts.reading import injected, printed, read, typed, used
from tests.requirements import requirement

CWD = "/projects/harbour"
LATER = "Use tabs in Makefiles."


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@requirement("hosts:opencode", "hosts:typed")
def test_a_session_of_the_database_is_read(tmp_path: Path) -> None:
    path = write_opencode(tmp_path / "opencode.db", CWD)

    session = read(path)

    assert (session.agent, session.id, session.cwd, session.title) == ("opencode", "ses_1", CWD, "Harbour clock")
    assert (typed(session), injected(session), printed(session)) == ([TYPED], INJECTED, [PRINTED])
    assert used(session) == Usage(200, 50, 800)
    assert session.unknown == {}
    assert [listed for listed, _ in list_sessions(tmp_path)] == [path]


@requirement("hosts:opencode", "hosts:read-only")
@pytest.mark.parametrize("state", ["in use", "after a crash", "copied without shared memory"])
def test_what_lies_in_the_write_ahead_log_is_read_and_nothing_is_written(tmp_path: Path, state: str) -> None:
    store, copy = tmp_path / "store", tmp_path / "copy"
    write_opencode(store / "opencode.db", CWD)
    writer = sqlite3.connect(store / "opencode.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    add_opencode_turn(writer, "ses_1", 2, LATER)
    writer.commit()
    if state != "in use":
        shutil.copytree(store, copy)
        if state != "after a crash":
            (copy / "opencode.db-shm").unlink()
    folder = store if state == "in use" else copy
    before = contents(folder)

    session = read(folder / "opencode.db" / "ses_1")

    assert typed(session) == [TYPED, LATER]
    after = contents(folder)
    if state == "in use":
        # A writer in this same process shares its lock table with the reader.
        del before["opencode.db-shm"], after["opencode.db-shm"]
    assert after == before
    writer.close()


@requirement("hosts:read-only")
def test_a_transaction_that_was_not_committed_is_not_read(tmp_path: Path) -> None:
    write_opencode(tmp_path / "a" / "opencode.db", CWD)
    writer = sqlite3.connect(tmp_path / "a" / "opencode.db")
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA cache_size = 1")
    for number in range(2, 200):
        add_opencode_turn(writer, "ses_1", number, LATER * 40)
    shutil.copytree(tmp_path / "a", tmp_path / "b", ignore=shutil.ignore_patterns("*-shm"))

    assert typed(read(tmp_path / "b" / "opencode.db" / "ses_1")) == [TYPED]
    writer.close()


@requirement("hosts:opencode")
def test_the_older_tree_is_read(tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    path = write_document(
        storage / "session" / "prj_1" / "ses_2.json", {"id": "ses_2", "title": "Tides", "time": {"created": 1}}
    )
    write_document(storage / "project" / "prj_1.json", {"id": "prj_1", "worktree": CWD})
    times = {"created": 1777629600000}
    write_document(storage / "message" / "ses_2" / "msg_1.json", {"id": "msg_1", "role": "user", "time": times})
    write_document(storage / "part" / "msg_1" / "prt_1.json", {"type": "text", "text": TYPED})
    write_document(storage / "part" / "msg_1" / "prt_2.json", {"type": "text", "text": INJECTED, "synthetic": True})
    answer = {"id": "msg_2", "type": "assistant", "content": [{"type": "text", "text": ANSWER}, {"type": "hologram"}]}
    write_document(storage / "message" / "ses_2" / "msg_2.json", answer)

    session = read(path)

    assert (session.cwd, session.title, typed(session)) == (CWD, "Tides", [TYPED])
    assert session.unknown == {"part/hologram": 1}
    assert [listed for listed, _ in list_sessions(tmp_path)] == [path]
