from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import Overloaded
from reverie.messages.blocks import Json, ToolUse
from reverie.messages.message import Usage, assistant
from reverie.models.ports import Event, Finished, Reply, Request
from reverie.session.subagents.progress import PURPOSE, ask_progress_line, progress_line
from tests.requirements import requirement

NAMES = ("Read", "Edit", "Write", "Grep", "Glob", "Bash", "WebFetch", "RecallMemory", "mcp__web__search", "Other")
FIELDS = ("file_path", "path", "pattern", "command", "url", "query", "old_string", "glob")


def call(name: str, **given: Json) -> ToolUse:
    return ToolUse("id", name, given)


@requirement("agents:progress:line")
@pytest.mark.parametrize(
    ("made", "line"),
    [
        (call("Read", file_path="/srv/src/app.py"), "Reading through app.py"),
        (call("Edit", file_path="a/dates.py", old_string="def parse_date(x):"), "Editing parse_date in dates.py"),
        (call("Edit", file_path="a/dates.py", old_string="x = 1"), "Editing code in dates.py"),
        (call("Write", file_path="notes.md"), "Writing the file notes.md"),
        (call("Grep", pattern="TODO fix", path="src"), "Searching src for TODO"),
        (call("Glob", pattern="**/*.py"), "Listing files like **/*.py"),
        (call("Bash", command="CI=1 pytest -q tests/test_app.py"), "Running pytest on test_app.py"),
        (call("Bash", command="make"), "Running make as command"),
        (call("mcp__web__search", q="x"), "Calling search of web"),
        (call("TodoWrite"), "Reading the given task"),
    ],
)
def test_a_line_says_what_is_done_to_what(made: ToolUse, line: str) -> None:
    assert progress_line([made]) == line


@requirement("agents:progress:line")
def test_the_newest_call_that_says_something_counts() -> None:
    calls = [call("Read", file_path="a.py"), call("Read", file_path="b.py"), call("TodoWrite", todos=[])]
    assert progress_line(calls) == "Reading through b.py"
    assert progress_line([]) == "Reading the given task"


@requirement("agents:progress:line")
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), st.text() | st.none() | st.integers()))
def test_every_line_has_three_to_five_words_in_the_present_tense(name: str, fields: dict[str, Json]) -> None:
    words = progress_line([ToolUse("id", name, fields)]).split()
    assert 3 <= len(words) <= 5
    assert words[0].endswith("ing")


class _Says:
    name = "small"

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked: list[Request] = []

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.asked.append(request)
        if self.text is None:
            raise Overloaded("busy")
        yield Finished(Reply(assistant(self.text), Usage(), "end_turn", "small"))


@requirement("agents:progress:line")
@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Fixing parse_date in dates.py.", "Fixing parse_date in dates.py"),
        ("Investigated the issue thoroughly", "Reading through dates.py"),
        ("I am now going to look at the file dates.py", "Reading through dates.py"),
        ("", "Reading through dates.py"),
        (None, "Reading through dates.py"),
    ],
)
async def test_a_models_line_counts_only_in_the_right_form(said: str | None, line: str) -> None:
    model = _Says(said)
    assert await ask_progress_line(model, [call("Read", file_path="dates.py")], words=(3, 5)) == line
    (request,) = model.asked
    assert request.purpose == PURPOSE
    assert len(request.messages) == 1, "the calls, not the conversation"
