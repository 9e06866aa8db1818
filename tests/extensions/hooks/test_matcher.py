from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.hooks.events import EVENTS
from reverie.extensions.hooks.matcher import covers, matches
from reverie.messages.blocks import JsonObject
from tests.requirements import requirement


@requirement("hooks:events:all")
def test_every_event_of_the_format_is_known() -> None:
    assert len(EVENTS) == 31
    assert {event.subject for event in EVENTS.values() if event.is_about_tool} == {"tool_name"}


@requirement("hooks:matching:matcher")
@pytest.mark.parametrize(
    ("matcher", "subject", "holds"),
    [
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("Edit|Write", "MultiEdit", False),
        (".*", "Anything", True),
        ("Notebook.*", "NotebookEdit", True),
        ("^Edit$", "MultiEdit", False),
        ("mcp__memory__.*", "mcp__memory__create", True),
        ("mcp__memory__.*", "mcp__files__create", False),
        ("mcp__.*__write.*", "mcp__files__write_file", True),
        ("startup|clear", "resume", False),
    ],
)
def test_a_matcher_is_a_name_a_list_or_an_expression(matcher: str, subject: str, holds: bool) -> None:
    assert matches("PreToolUse", matcher, subject) is holds


@requirement("hooks:matching:matcher")
def test_files_are_matched_by_their_name() -> None:
    assert matches("FileChanged", ".envrc|.env", "/project/.env")
    assert not matches("FileChanged", "env", "/env/other")
    assert matches("StopFailure", "rate_limit", "rate_limit")


@requirement("hooks:matching:matcher")
@given(st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True), st.from_regex(r"[A-Za-z0-9_]{1,12}", fullmatch=True))
def test_a_plain_name_matches_itself_and_nothing_else(one: str, other: str) -> None:
    assert matches("PreToolUse", one, other) is (one == other)


@requirement("hooks:matching:condition")
@pytest.mark.parametrize(
    ("rule", "tool", "given_", "holds"),
    [
        ("Bash", "Bash", {"command": "ls"}, True),
        ("Bash", "Edit", {}, False),
        ("Bash(git *)", "Bash", {"command": "git push"}, True),
        ("Bash(git *)", "Bash", {"command": "git"}, True),
        ("Bash(git:*)", "Bash", {"command": "git push"}, True),
        ("Bash(git:*)", "Bash", {"command": "gitk"}, False),
        ("Bash(rm *)", "Bash", {"command": "cd x && rm -rf y"}, True),
        ("Bash(rm *)", "Bash", {"command": "ls"}, False),
        ("Edit(*.ts)", "Edit", {"file_path": "/p/src/a.ts"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "/p/src/a.ts"}, True),
        ("Edit(*.ts)", "Edit", {"file_path": "/p/a.py"}, False),
        ("mcp__files__*", "mcp__files__read", {}, True),
        ("((", "Bash", {"command": "ls"}, True),
    ],
)
def test_a_condition_covers_calls_and_in_doubt_all(rule: str, tool: str, given_: JsonObject, holds: bool) -> None:
    assert covers(rule, tool, given_) is holds
