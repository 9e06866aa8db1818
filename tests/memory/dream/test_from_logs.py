from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.daily_logs import list_daily_logs, read_log_lines
from reverie.memory.dream.from_logs import read_from_logs
from reverie.memory.topics.topic import Trust, parse_topic
from tests.memory.dream.kit import append_daily, text
from tests.requirements import requirement

NOW = datetime(2026, 3, 2, 23, 58, tzinfo=UTC)


def folder_at(path: Path) -> MemoryFolder:
    return MemoryFolder(path, path)


@requirement("dream:daily")
def test_a_log_is_appended_by_day_and_read_by_item(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    append_daily(folder, "first thing\nof the day", now=NOW)
    append_daily(folder, "second thing", now=NOW)
    append_daily(folder, "next day", now=NOW.replace(day=3, hour=0))
    (tmp_path / "logs" / "2026" / "03" / "notes.md").write_text("no log", encoding="utf-8")

    logs = list_daily_logs(folder)
    assert [day.isoformat() for day, _ in logs] == ["2026-03-02", "2026-03-03"]
    path = logs[0][1]
    assert path == tmp_path / "logs" / "2026" / "03" / "2026-03-02.md"
    lines, size = read_log_lines(path)
    assert lines == ("first thing of the day", "second thing")
    assert read_log_lines(path, size) == ((), size)
    with path.open("a", encoding="utf-8") as file:
        file.write("- 23:59 torn")
    assert read_log_lines(path, size) == ((), size)


@requirement("dream:daily")
def test_what_a_log_holds_becomes_a_conclusion_once(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    append_daily(folder, "Always run the linter before committing, because CI rejects unformatted code.", now=NOW)
    append_daily(folder, "ran the tests", now=NOW)

    found = read_from_logs(folder, {}, {}, UTC)

    ((path, draft),) = found.drafts.items()
    made = parse_topic(path, draft.text)
    assert made.trust is Trust.inferred
    assert "linter" in made.description
    assert "2026-03-02" in draft.reason
    assert read_from_logs(folder, found.read, {path: draft.text}, UTC).drafts == {}
    assert read_from_logs(folder, {}, {path: draft.text}, UTC).drafts == {}


@requirement("dream:daily")
def test_a_log_never_overrides_what_the_user_said(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    said = text("a.md", "Always run the linter before committing code to the main branch.")
    append_daily(folder, "Never run the linter before committing code to the main branch again.", now=NOW)
    assert read_from_logs(folder, {}, {"a.md": said}, UTC).drafts == {}

    concluded = text("a.md", "Always run the linter before committing code to the main branch.", trust="inferred")
    assert list(read_from_logs(folder, {}, {"a.md": concluded}, UTC).drafts) == ["a.md"]
