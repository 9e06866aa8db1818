"""In a notebook: plain calls in a running loop, values that are readable when a cell ends with them, a real kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reverie import Session, Window
from reverie.messages.blocks import Json
from reverie.testing.simulator import RunningSimulator, simulator
from tests.documents import ROOT, read_blocks
from tests.person import Person
from tests.requirements import requirement

NOTEBOOK = ROOT / "docs" / "guides" / "notebook.md"


@requirement("docs:notebook")
async def test_plain_calls_work_where_a_loop_is_running_and_results_are_readable(person: Person) -> None:
    project = person.home / "project"
    project.mkdir()
    with person.open(project) as memory:
        memory.save(name="No mocks", type="feedback", description="Tests use a real database, never a mock")
        (hit,) = memory.recall("may I mock the database in a test?")
        (change,) = memory.log()

        assert repr(memory) == f"Memory({str(memory.directory)!r})"
        assert repr(hit).startswith("Hit('No mocks', score=0.")
        assert hit.why in repr(hit)
        assert re.fullmatch(r"Commit\([0-9a-f]{8}, [-0-9]{10} [0-9:]{5}, agent: 'save No mocks'\)", repr(change))


@requirement("docs:notebook")
def test_a_window_and_its_request_are_readable() -> None:
    window = Window("claude-sonnet-5", window=8_000)

    request = window.prepare([{"role": "user", "content": "hello " * 500}])

    assert repr(window) == "Window('claude-sonnet-5', window=8000)"
    assert repr(request).startswith("PreparedRequest(1 message, report=")
    assert len(repr(request)) < 200


@requirement("docs:notebook")
async def test_a_session_that_python_opens_learns_without_anybody_to_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()

    async with Session.start(project, model="offline") as session:
        async for _ in session.send("Remember: never mock the database in integration tests."):
            pass

    assert [topic.name for topic in session.memory.topics()] == ["Never mock the database in integration tests"]
    assert repr(session) == f"<Session {session.id} with offline in {project}>"


@pytest.fixture
def server() -> Any:
    script: list[Json] = [{"then": "Noted."}]
    with simulator(script) as running:
        yield running


@pytest.mark.program
@requirement("docs:notebook")
def test_the_cells_of_the_guide_run_in_a_real_kernel(
    tmp_path: Path, server: RunningSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [block.text for block in read_blocks(NOTEBOOK) if block.language == "python"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    for name, setting in {
        "HOME": str(tmp_path),
        "ANTHROPIC_BASE_URL": server.base_url,
        "ANTHROPIC_API_KEY": server.api_key,
    }.items():
        monkeypatch.setenv(name, setting)
    (tmp_path / "project").mkdir()

    nbclient.NotebookClient(
        notebook, timeout=100, resources={"metadata": {"path": str(tmp_path / "project")}}
    ).execute()

    shown = [output.data["text/plain"] for cell in notebook.cells for output in cell.outputs if "data" in output]
    assert shown[0].startswith("Memory('")
    assert shown[1].startswith("[Hit('No database mocks', score=")
    assert "deploy" in "".join(shown)
