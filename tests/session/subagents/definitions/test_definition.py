from __future__ import annotations

import json

import pytest

from reverie.extensions.markdown_file import read_page
from reverie.files.places import AgentScope
from reverie.messages.blocks import Json
from reverie.session.subagents.definitions.definition import Definition, definition_of, page_of_json
from tests.requirements import requirement
from tests.session.subagents.definitions.roles import role

HEAD = """\
name: reviewer
description: Reviews a change before it is merged
tools: Read, Grep, Bash(git log:*), Bash(read-only)
disallowedTools: Write, mcp__web
model: haiku
effort: high
maxTurns: 7
memory: project
color: blue
background: yes
isolation: worktree
permissionMode: plan
skills: [style, testing]
initialPrompt: Begin with the diff.
mcpServers: [web]
hooks:
  Stop:
    - hooks:
        - type: command
          command: echo bye
          timeout: 3
"""
FIELDS: dict[str, Json] = {
    "description": "Reviews a change before it is merged",
    "prompt": "You review.",
    "tools": ["Read", "Grep", "Bash(git log:*)", "Bash(read-only)"],
    "disallowedTools": ["Write", "mcp__web"],
    "model": "haiku",
    "effort": "high",
    "maxTurns": 7,
    "memory": {"scope": "project"},
    "color": "blue",
    "background": True,
    "isolation": "worktree",
    "permissionMode": "plan",
    "skills": ["style", "testing"],
    "initialPrompt": "Begin with the diff.",
    "mcpServers": ["web"],
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo bye", "timeout": 3}]}]},
}


@requirement("agents:definition:fields")
def test_a_file_and_json_say_the_same() -> None:
    from_file = role(HEAD, "You review.\n")
    from_json = definition_of(page_of_json("reviewer", FIELDS), source="user", place="here.md")
    assert from_file == from_json
    assert from_file.memory is AgentScope.PROJECT
    assert (from_file.max_rounds, from_file.in_background, from_file.in_worktree) == (7, True, True)
    assert from_file.skills == ("style", "testing")
    assert from_file.hooks is not None
    assert json.loads(from_file.hooks.text)["Stop"][0]["hooks"][0]["timeout"] == 3.0
    assert from_file.problems == ()


@requirement("agents:definition:fields")
def test_what_a_role_may_use() -> None:
    reviewer = role(HEAD)
    assert reviewer.has_tool("Read")
    assert reviewer.has_tool("Bash")
    assert not reviewer.has_tool("Glob")
    assert not reviewer.has_tool("Write"), "excluding goes before everything, memory too"
    everything = role("name: a\ndescription: b\ndisallowedTools: mcp__web, Edit")
    assert everything.has_tool("anything")
    assert not everything.has_tool("mcp__web__search")
    assert role("name: a\ndescription: b\ntools: Task").has_tool("Agent"), "its older name"
    assert role("name: a\ndescription: b\ntools: '*'").tools is None
    assert role("name: a\ndescription: b\ntools: []").tools == ()
    assert role("name: a\ndescription: b\ntools:").tools is None
    assert role("name: a\ndescription: b\nmodel: inherit").model == ""


@requirement("agents:definition:memory-tools")
def test_memory_brings_the_tools_that_it_needs() -> None:
    reader = role("name: a\ndescription: b\ntools: Read, Grep\nmemory: user")
    assert reader.tool_names == ("Read", "Grep", "Edit", "Write")
    assert reader.tools_for_memory_only == {"Edit", "Write"}
    assert role("name: a\ndescription: b\nmemory: user").tools_for_memory_only == frozenset()


@requirement("agents:definition:skipped")
@pytest.mark.parametrize(
    "head",
    [
        "description: no name",
        "name: a:b\ndescription: c",
        "name: -a\ndescription: c",
        "name: .a\ndescription: c",
        "name: ../a\ndescription: c",
        "name: a",
        "name: a\ndescription: b\n  - broken: [\n x",
    ],
)
def test_what_is_no_role_is_left_out_with_a_sentence(head: str) -> None:
    found = definition_of(read_page(f"---\n{head}\n---\nbody"), source="user", place="here.md")
    assert isinstance(found, str)
    assert found.startswith("here.md: ")


@requirement("agents:definition:skipped")
def test_a_field_with_an_unknown_value_costs_itself() -> None:
    found = role("name: a\ndescription: b\nmemory: everywhere\nmaxTurns: many\nisolation: moon\npermissionMode: yolo")
    assert (found.memory, found.max_rounds, found.in_worktree, found.mode) == (None, None, False, "")
    assert len(found.problems) == 4


@requirement("agents:found:plugin")
def test_a_plugins_role_loosens_nothing() -> None:
    found = role(HEAD, plugin="pack")
    assert found.name == "pack:reviewer"
    assert (found.hooks, found.servers, found.mode) == (None, "", "")
    assert isinstance(found, Definition)
