from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.apps.inspect import memories as pages
from reverie.files.background_tasks import cancel_on_stop_request, start_task, write_task
from reverie.messages.message import Usage
from reverie.models.ledger import Booking, append_booking
from tests.apps.inspect.kit import HOSTILE, Browser, save
from tests.hosts.homes import ANSWER, TYPED, codex_message, codex_meta, codex_work, write_codex, write_opencode
from tests.person import Person
from tests.requirements import requirement


@pytest.fixture
def project(person: Person, tmp_path: Path) -> Path:
    return person.repository(tmp_path / "harbour")


@requirement("inspect:memories:search")
async def test_a_search_shows_the_best_first_with_the_reasons(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        save(memory, "Staging database", "The staging database runs on kiwi.", "project")
        save(memory, "Tabs in Makefiles", "Use tabs in Makefiles.")

    part = (await Browser(person, project).get("/memories?q=staging+database", **{"hx-request": "true"})).text

    assert "Staging database" in part
    assert "Tabs" not in part
    assert "&#34;staging&#34;, &#34;database&#34; in name" in part
    assert "<html" not in part


@requirement("inspect:memories:filters")
async def test_filters_leave_what_fits(person: Person, project: Path) -> None:
    (project / "app.py").write_text("x = 1\n", encoding="utf-8")
    with person.open(project) as memory:
        save(memory, "Entry point", "Start in `app.py`.", "project")
        save(memory, "Tabs", "Use tabs.")
        memory.save(name="Old", description="d", type="feedback", body="Was so.", observed=date(2020, 1, 1))
        save(memory.user, "Short answers", "Answer in one sentence.", "user")
    (project / "app.py").unlink()
    browser = Browser(person, project)

    async def names(asked: str) -> set[str]:
        text = (await browser.get(f"/memories?{asked}", **{"hx-request": "true"})).text
        return {name for name in ("Entry point", "Tabs", "Old", "Short answers") if f">{name}</a>" in text}

    assert await names("type=feedback") == {"Tabs", "Old"}
    assert await names("scope=user") == {"Short answers"}
    assert await names("age=7") == {"Entry point", "Tabs", "Short answers"}
    assert await names("anchors=broken") == {"Entry point"}
    assert await names("trust=said") == set()


@requirement("inspect:memories:page", "inspect:hostile")
async def test_a_memory_is_shown_with_its_past_and_as_text(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        path = save(memory, f"Name {HOSTILE}", f"**Bold** {HOSTILE} [x](javascript:alert(2)) <img src=x onerror=a()>")
        memory.save(name=f"Name {HOSTILE}", description=HOSTILE, type="feedback", body=f"Later **bold** {HOSTILE}")
        memory.recall(f"later bold {HOSTILE}")
    browser = Browser(person, project)

    text = (await browser.get(f"/memories/project/{path}")).text

    assert "<strong>bold</strong>" in text
    assert "Later" in text
    assert text.count("Undo this change") == 2
    for page in (text, *[(await browser.get(url)).text for url in ("/memories", "/background", "/relations")]):
        assert "<script>" not in page
        assert "onerror=a()>" not in page.replace("&lt;img src=x onerror=a()&gt;", "")
        assert 'href="javascript' not in page


@requirement("inspect:memories:change")
async def test_changes_are_commits_that_can_be_undone(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        path = save(memory, "Tabs", "Use tabs.")
    browser = Browser(person, project)
    page = f"/memories/project/{path}"

    assert (await browser.post(f"{page}/edit", ("body", "Use tabs in Makefiles."))).status_code == 303
    assert (await browser.post(f"{page}/pin", ("pinned", "yes"))).status_code == 303
    with person.open(project) as memory:
        topic, edit = memory.read(path), memory.log(path)[1]
    assert (topic.body, topic.pinned) == ("Use tabs in Makefiles.", True)
    assert (edit.change.author, edit.change.reason) == ("user", "edited on the web page")

    await browser.post(f"{page}/undo", ("commit", edit.commit))
    with person.open(project) as memory:
        assert memory.read(path).body == "Use tabs."
    await browser.post(f"{page}/forget")
    with person.open(project) as memory:
        assert not list(memory.topics())
    assert (await browser.get(page)).status_code == 400


@requirement("inspect:memories:change")
async def test_what_the_store_refuses_is_not_saved(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        path = save(memory, "Tabs", "Use tabs.")
    secret = "".join(("AKIA", "QZ7XNV3KD2LMPW5R"))

    refused = await Browser(person, project).post(f"/memories/project/{path}/edit", ("body", f"key {secret}"))

    assert refused.status_code == 400
    assert "secret" in refused.text
    assert secret not in refused.text
    with person.open(project) as memory:
        assert memory.read(path).body == "Use tabs."


@requirement("inspect:memories:many")
async def test_a_long_list_comes_in_parts(person: Person, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", 2)
    with person.open(project) as memory:
        for number in range(5):
            save(memory, f"Fact number {number}", f"It is {number}.")
    browser = Browser(person, project)

    seen, url = 0, "/memories?start=0"
    while url:
        text = (await browser.get(url, **{"hx-request": "true"})).text
        seen += text.count("Fact number")
        url = text.split('hx-get="')[1].split('"')[0].replace("&amp;", "&") if 'hx-get="' in text else ""
    assert seen == 5


@requirement("inspect:sessions")
async def test_a_session_shows_requests_window_and_transcript(person: Person, project: Path) -> None:
    folder = person.home / ".claude" / "projects" / "-harbour"
    folder.mkdir(parents=True)
    common = {"sessionId": "s-1", "cwd": str(project), "version": "2", "isSidechain": False}
    usage = {"input_tokens": 10, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 90, "output_tokens": 5}
    said = {"role": "user", "content": f"Where is the {HOSTILE} harbour?"}
    answer: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5"}
    answer |= {"content": [{"type": "text", "text": "At the sea."}], "stop_reason": "end_turn", "usage": usage}
    lines = [
        common
        | {"type": "user", "uuid": "a", "parentUuid": None, "timestamp": "2026-04-01T10:00:00Z", "message": said},
        common
        | {"type": "assistant", "uuid": "b", "parentUuid": "a", "timestamp": "2026-04-01T10:00:05Z", "message": answer},
    ]
    (folder / "s-1.jsonl").write_text("".join(f"{json.dumps(common | line)}\n" for line in lines), encoding="utf-8")
    browser = Browser(person, project)

    assert "claude-code" in (await browser.get("/sessions")).text
    assert (await browser.get("/sessions/s-1")).status_code == 200
    assert "model calls</dt><dd>1<" in (await browser.get("/sessions/s-1/figures")).text
    assert ">500<" in (await browser.get("/sessions/s-1/requests")).text
    window = (await browser.get("/sessions/s-1/window")).json()
    assert [series[0] for series in window["cache"]] == [500, 90, 10]
    assert sum(series[0] for series in window["tokens"]) == 600
    assert "your messages" in window["groups"]
    transcript = (await browser.get("/sessions/s-1/transcript?q=HARBOUR")).text
    assert "&lt;script&gt;" in transcript
    assert "At the sea." not in transcript
    assert (await browser.get("/sessions/none")).status_code == 400
    for page in ("/sessions", "/sessions/s-1/transcript", "/memories"):
        assert (await browser.get(f"{page}?start=x")).status_code == 200


@requirement("inspect:background:review")
async def test_only_the_ticked_pieces_of_a_proposal_are_applied(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        for number in (1, 2, 3):
            memory.save(
                name=f"Fact {number}",
                description=f"fact {number}",
                type="project",
                body=f"The build of part {number} runs {'twice' if number == 1 else 'once'} tomorrow.",
                observed=date(2026, 4, 1),
            )
        await memory.dreams.run("nothing")
        proposal = memory.dreams.proposal()
    assert proposal is not None
    assert len(proposal.steps) == 3
    browser = Browser(person, project)
    assert (await browser.get("/background")).text.count('name="hunk"') == 3

    done = await browser.post("/background/proposal", ("hunk", "1"))

    assert done.headers["location"] == "/background?notice=Applied."
    with person.open(project) as memory:
        changed = [topic.name for topic in memory.topics() if "2026-04-02" in topic.body]
        assert changed == ["Fact 2"]
        assert memory.dreams.proposal() is None


@requirement("inspect:background:tasks")
async def test_a_running_task_shows_its_last_words_and_is_stopped(person: Person, project: Path) -> None:
    folder = person.home / ".reverie" / "tasks"
    browser = Browser(person, project)
    stopped = asyncio.Event()

    async def work() -> None:
        task = start_task("dream-1", "dream", "dream on harbour", person.clock()).with_line("comparing 12 memories")
        write_task(folder, task)
        async with cancel_on_stop_request(folder, task.id):
            stopped.set()
            await asyncio.sleep(60)

    working = asyncio.create_task(work())
    await stopped.wait()
    page = (await browser.get("/background")).text
    assert "comparing 12 memories" in page
    assert "/background/tasks/dream-1/stop" in page
    await browser.post("/background/tasks/dream-1/stop")
    assert "stopping" in (await browser.get("/background/tasks")).text
    with pytest.raises(asyncio.CancelledError):
        await working
    assert "Stop</button>" not in (await Browser(person, project, can_edit=False).get("/background/tasks")).text


@requirement("inspect:sessions:hosts")
async def test_sessions_of_other_agents_open(person: Person, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(person.home))
    lines = [codex_meta("c-1", str(project), "0.50"), codex_message("user", TYPED), *codex_work()]
    write_codex(person.home / ".codex", "c-1", lines)
    write_opencode(person.home / ".local" / "share" / "opencode" / "opencode.db", str(project))
    browser = Browser(person, project)

    listed = (await browser.get("/sessions")).text
    assert ">codex<" in listed
    assert ">opencode<" in listed
    for session in ("c-1", "ses_1"):
        for part in ("", "/figures", "/window", "/requests", "/transcript?q=clock", "/transcript"):
            assert (await browser.get(f"/sessions/{session}{part}")).status_code == 200, (session, part)
        assert ANSWER in (await browser.get(f"/sessions/{session}/transcript")).text
    assert ">codex<" not in (await browser.get("/sessions?agent=opencode", **{"hx-request": "true"})).text


@requirement("inspect:memories:change")
async def test_a_forgotten_memory_comes_back_from_the_list(person: Person, project: Path) -> None:
    with person.open(project) as memory:
        path = save(memory, "Tabs", "Use tabs.")
    browser = Browser(person, project)

    gone = await browser.post(f"/memories/project/{path}/forget")
    page = (await browser.get(gone.headers["location"])).text
    assert "Tabs was forgotten." in page
    action = page.split('class="inline" method="post" action="')[1].split('"')[0]
    assert (await browser.post(action)).headers["location"] == "/memories?notice=Undone."
    assert ">Tabs</a>" in (await browser.get("/memories")).text


@requirement("inspect:cost")
async def test_cost_is_added_up(person: Person, project: Path) -> None:
    moment = datetime(2026, 4, 30, 12, tzinfo=UTC)
    for purpose, cost in (("turn", 1.0), ("notes", 0.25)):
        booking = Booking(moment, "s", "p", purpose, "m", Usage(10, 5, 30, 10), cost)
        append_booking(person.home / ".reverie" / "ledger", booking)
    browser = Browser(person, project)

    table = (await browser.get("/cost/table?by=purpose")).text

    assert table.index(">turn<") < table.index("$1.00") < table.index(">notes<") < table.rindex("$0.25")
    assert table.count("$1.25") == 2
    days = (await browser.get("/cost/days")).json()
    assert (days["conversations"], days["background"], days["budget"]) == ([1.0], [0.25], [0.1])
    assert (await browser.get("/cost?by=none&days=none")).status_code == 200


@requirement("inspect:relations")
async def test_relations_name_anchors_and_what_was_never_recalled(person: Person, project: Path) -> None:
    (project / "app.py").write_text("x = 1\n", encoding="utf-8")
    with person.open(project) as memory:
        save(memory, "Entry point", "Start in `app.py`.", "project")
        save(memory, "Tabs in Makefiles", "Use tabs in Makefiles.")
        memory.recall("which file is the entry point, app.py?")

    browser = Browser(person, project)
    text = (await browser.get("/relations")).text

    assert "<code>app.py</code>" in text
    assert "1 of 2 memories" in text
    graph = (await browser.get("/relations/clean-up")).text
    assert ">Entry point</text>" in graph
    assert ">app.py</text>" in graph
