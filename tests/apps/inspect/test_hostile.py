"""HTML in anything that people, agents or files wrote stays text on every page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from reverie.files.background_tasks import start_task, write_task
from reverie.messages.message import Usage
from reverie.models.ledger import Booking, append_booking
from tests.apps.inspect.kit import HOSTILE, Browser
from tests.person import Person
from tests.requirements import requirement

ATTRIBUTE = '" onmouseover="alert(4)'
BAD = f"{HOSTILE} <img src=x onerror=alert(2)> {ATTRIBUTE} [go](javascript:alert(3))"


def write_session(folder: Path, cwd: str) -> None:
    folder.mkdir(parents=True)
    common = {"sessionId": "s-1", "cwd": cwd, "version": BAD, "gitBranch": BAD, "timestamp": "2026-04-01T10:00:00Z"}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 90, "output_tokens": 5}
    call = {"type": "tool_use", "id": "t1", "name": BAD, "input": {BAD: BAD}}
    answer: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": BAD,
        "stop_reason": "end_turn",
    }
    answer |= {"content": [{"type": "thinking", "thinking": BAD}, {"type": "text", "text": BAD}, call], "usage": usage}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": BAD * 100}
    attachment = {"type": BAD, "content": BAD}
    receipt = {"kind": BAD, "writtenBy": BAD, "first": "a", "last": "b", "preTokens": 5, "postTokens": 2}
    receipt["lines"] = [["file", "left out", BAD, BAD]]
    rows: list[dict[str, Any]] = [
        {"type": "summary", "summary": BAD, "leafUuid": "a"},
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": BAD}},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": answer},
        {"type": "user", "uuid": "c", "parentUuid": "b", "message": {"role": "user", "content": [result]}},
        {"type": "attachment", "uuid": "d", "parentUuid": "c", "attachment": attachment},
        {"type": "system", "subtype": "compact_boundary", "uuid": BAD, "parentUuid": None, "logicalParentUuid": "d"}
        | {"compactMetadata": {"trigger": BAD, "preTokens": 900}},
        {"type": "user", "uuid": "f", "parentUuid": BAD, "isCompactSummary": True}
        | {"message": {"role": "user", "content": BAD}},
        {"type": "assistant", "uuid": "g", "parentUuid": "f", "message": answer | {"id": "n"}},
    ]
    (folder / "s-1.jsonl").write_text("".join(f"{json.dumps(common | row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def browser(person: Person, tmp_path: Path) -> Browser:
    project = person.repository(tmp_path / "<b>harbour")
    file = f"{quote(HOSTILE, safe='')}.py"
    (project / file).write_text("x = 1\n", encoding="utf-8")
    with person.open(project) as memory:
        memory.save(name=f"Name {BAD}", description=BAD, type="feedback", body=f"**Bold** {BAD} in `{file}`")
        memory.save(name=f"Name {BAD}", description=BAD, type="feedback", body=f"Later {BAD} in `{file}`, tomorrow")
        memory.recall(f"later {BAD}")
    write_session(person.home / ".claude" / "projects" / "-harbour", f"/p/{BAD}")
    home = person.home / ".reverie"
    moment = datetime(2026, 4, 30, 12, tzinfo=UTC)
    append_booking(home / "ledger", Booking(moment, BAD, BAD, BAD, BAD, Usage(1, 1, 1, 1), 1.0, BAD))
    for number, state in enumerate(("running", "completed")):
        task = start_task(f"t{number}", "dream", BAD, moment).with_line(BAD)
        write_task(home / "tasks", task if state == "running" else task.finished("completed", moment))
    return Browser(person, project)


@requirement("inspect:hostile")
async def test_html_stays_text_on_every_page(browser: Browser) -> None:
    with browser.inspected.reading() as memory:
        [topic] = memory.topics()
        commit = memory.log()[0].commit
    path = quote(topic.path)
    asked = quote(BAD)
    pages = [
        *("/memories", "/refused", "/sessions", "/background", "/background/tasks", "/cost", "/relations"),
        *(f"/memories?q={asked}", f"/memories?notice={asked}&undo={asked}", f"/background?notice={asked}"),
        *(f"/memories/project/{path}", f"/memories/project/{path}?notice={asked}", f"/changes/project/{commit}"),
        *("/relations/clean-up", f"/sessions?q={asked}&agent={asked}&project={asked}", "/sessions/s-1"),
        *(f"/sessions/s-1?q={asked}&at={asked}", "/sessions/s-1/figures", "/sessions/s-1/requests"),
        *("/sessions/s-1/transcript", "/sessions/s-1/transcript?q=script", f"/sessions/s-1/transcript?at={asked}"),
        *("/sessions/s-1/records/3/0?q=script", f"/cost?by={asked}", f"/memories/project/{asked}", f"/{asked}"),
        *(f"/cost/table?by={key}&days=" for key in ("day", "purpose", "session", "model", "agent", "project")),
    ]
    shown = 0
    for page in pages:
        answer = await browser.get(page)
        assert answer.headers["content-type"].startswith("text/html"), page
        text = answer.text
        assert answer.status_code < 500, page
        assert "<script>" not in text, page
        assert "<img" not in text, page
        assert "<b>harbour" not in text, page
        assert 'onmouseover="alert(4)"' not in text, page
        assert '="javascript' not in text, page
        shown += "&lt;script&gt;" in text
    assert shown > len(pages) * 2 // 3


@requirement("inspect:hostile")
async def test_figures_are_no_pages(browser: Browser) -> None:
    for page in ("/sessions/s-1/window", "/cost/days?days="):
        answer = await browser.get(page)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
