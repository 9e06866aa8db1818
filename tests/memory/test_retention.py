from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.memory.retention import Retention, SessionFile, expired, list_session_files, remove_expired
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
    rules = Retention(transcript_days=50, spill_days=30, spill_total_bytes=total)
    gone = set(expired(files, rules, now=NOW, keep={"a"}))
    assert not {file for file in gone if file.session == "a"}
    stays = [file for file in files if file not in gone and file.session != "a"]
    assert all(NOW - file.modified <= timedelta(days=50) for file in stays)
    spills = [file for file in stays if file.kind == "spill"]
    assert all(NOW - file.modified <= timedelta(days=30) for file in spills)
    assert sum(file.size_bytes for file in spills) <= total
    assert set(expired(files, Retention(None, None, None), now=NOW)) == set()


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
    gone = expired(found, Retention(transcript_days=None), now=NOW)
    assert remove_expired(gone) == (spills / "t1.txt",)
    assert remove_expired(gone) == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new.jsonl", "old.jsonl"]
