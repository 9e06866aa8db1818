from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.files import locked
from reverie.memory.retention import (
    RetentionRules,
    SessionFile,
    find_expired,
    list_session_files,
    remove_expired,
    sweep_sessions,
)
from reverie.messages.transcript import lock_path
from tests.requirements import requirement

NOW = datetime(2026, 6, 1, tzinfo=UTC)

_files = st.lists(
    st.builds(
        SessionFile,
        path=st.integers(0, 999).map(lambda number: Path(f"f{number}")),
        kind=st.sampled_from(["transcript", "spill"]),
        session=st.sampled_from(["a", "b", "c"]),
        modified=st.integers(0, 100).map(lambda days: NOW - timedelta(days=days)),
        size_bytes=st.integers(0, 1000),
    ),
    max_size=30,
    unique_by=lambda file: file.path,
)


@requirement("store:retention:rules")
@settings(deadline=None)
@given(_files, st.integers(0, 5000))
def test_what_stays_obeys_the_rules_and_cited_sessions_stay(files: list[SessionFile], total: int) -> None:
    rules = RetentionRules(transcript_days=50, spill_days=30, spill_total_bytes=total)
    gone = set(find_expired(files, rules, now=NOW, keep={"a"}))
    assert not {file for file in gone if file.session == "a"}
    stays = [file for file in files if file not in gone and file.session != "a"]
    used = {file.session: max(one.modified for one in files if one.session == file.session) for file in files}
    assert all(NOW - used[file.session] <= timedelta(days=50) for file in stays)
    assert all(NOW - used[file.session] > timedelta(days=50) for file in gone if file.kind == "transcript")
    spills = [file for file in stays if file.kind == "spill"]
    assert all(NOW - used[file.session] <= timedelta(days=30) for file in spills)
    assert sum(file.size_bytes for file in spills) <= total
    assert set(find_expired(files, RetentionRules(None, None, None), now=NOW)) == set()


@requirement("store:retention:rules")
def test_expired_files_are_removed_with_the_folders_they_leave_empty(tmp_path: Path) -> None:
    spills = tmp_path / "old" / "tool-results"
    spills.mkdir(parents=True)
    agents = tmp_path / "new" / "subagents"
    agents.mkdir(parents=True)
    for path in (tmp_path / "old.jsonl", spills / "t1.txt", tmp_path / "new.jsonl", agents / "agent-1.jsonl"):
        path.write_text("x", encoding="utf-8")
        days = 40 if "old" in str(path.relative_to(tmp_path)) else 1
        moment = (NOW - timedelta(days=days)).timestamp()
        os.utime(path, (moment, moment))
    found = list(list_session_files(tmp_path))
    assert {(file.kind, file.session) for file in found} == {
        ("transcript", "old"),
        ("spill", "old"),
        ("transcript", "new"),
    }
    gone = find_expired(found, RetentionRules(transcript_days=None), now=NOW)
    assert remove_expired(gone) == (spills / "t1.txt",)
    assert remove_expired(gone) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new.jsonl", "old.jsonl"]


def aged(path: Path, days: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x", encoding="utf-8")
    moment = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (moment, moment))
    return path


@requirement("store:retention:rules")
def test_a_sweep_leaves_sessions_that_are_cited_open_or_in_use_and_comes_once_a_day(tmp_path: Path) -> None:
    for name in ("old", "cited", "open", "used"):
        aged(tmp_path / f"{name}.jsonl", 90 if name != "used" else 1)
        aged(tmp_path / name / "tool-results" / "t.txt", 90)
        aged(tmp_path / name / "notes.md", 90)
    aged(tmp_path / ".reverie-0123.tmp", 1)
    rules = RetentionRules(transcript_days=60)
    with locked(lock_path(tmp_path / "open.jsonl"), label="test", now=NOW):
        removed = sweep_sessions(tmp_path, rules, now=NOW, cited=lambda: {"cited"})

    assert {path.name for path in removed} == {"old.jsonl", "t.txt"}
    assert {path.name for path in tmp_path.iterdir()} == {".swept"} | {
        name for kept in ("cited", "open", "used") for name in (kept, f"{kept}.jsonl")
    }
    assert (tmp_path / "used" / "tool-results" / "t.txt").exists()
    assert sweep_sessions(tmp_path, rules, now=NOW, cited=set) == ()
    assert sweep_sessions(tmp_path, rules, now=NOW + timedelta(days=2), cited=set) != ()
