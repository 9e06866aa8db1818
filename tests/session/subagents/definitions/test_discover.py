""""""

from __future__ import annotations

import json
import textwrap
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from reverie.extensions.plugins.plugin import Plugin
from reverie.files.trust import read_trust, write_answers
from reverie.session.subagents.definitions.discover import agent_line, built_in, list_agents, listing_delta
from reverie.settings import Declaration
from reverie.settings.documents import givens_of_vendor
from reverie.settings.schema import keys, read
from tests.requirements import requirement
from tests.session.subagents.definitions.roles import places_at, role, write_role


def declaration(source: str, **roles: dict[str, str]) -> Declaration:
    return Declaration(source=source, place=f"{source}.json:1", committed=source == "project", text=json.dumps(roles))


@requirement("agents:found:priority")
def test_the_stronger_source_replaces_the_weaker(tmp_path: Path) -> None:
    places, project = places_at(tmp_path), tmp_path / "project"
    deep = project / "deep"
    deep.mkdir(parents=True)

    def says(declared: Sequence[Declaration] = (), flag: str | None = None) -> str:
        found = list_agents(
            places=places, project=project, directory=deep, project_is_trusted=True, declared=declared, flag=flag
        )
        role = found.find("Plan")
        assert role is not None
        return role.prompt

    assert "plan a change" in says()
    write_role(places.config_home, "Plan", body="host user")
    assert says() == "host user"
    write_role(places.home, "Plan", body="our user")
    assert says() == "our user"
    write_role(project / ".claude", "Plan", body="far")
    assert says() == "far"
    write_role(deep / ".claude", "Plan", body="near")
    assert says() == "near"
    one = {"description": "d", "prompt": "declared"}
    assert says(declared=[declaration("user", Plan=one)]) == "near"
    assert says(declared=[declaration("local", Plan=one)]) == "declared"
    assert says(flag=json.dumps({"Plan": {"description": "d", "prompt": "flag"}})) == "flag"
    assert (
        says(flag=json.dumps({"Plan": one}), declared=[declaration("managed", Plan=one | {"prompt": "boss"})]) == "boss"
    )


@requirement("agents:found:priority", "agents:definition:skipped")
def test_identity_is_the_name_and_broken_files_cost_themselves(tmp_path: Path) -> None:
    places, project = places_at(tmp_path), tmp_path / "project"
    folder = write_role(places.config_home, "one").parent
    (folder / "sub").mkdir()
    (folder / "sub" / "other.md").write_text("---\nname: two\ndescription: d\n---\nhello", encoding="utf-8")
    (folder / "broken.md").write_text("---\nname: three\n---\n", encoding="utf-8")
    (folder / "README.txt").write_text("no role", encoding="utf-8")
    found = list_agents(places=places, project=project, flag="{not json")
    assert found.find("two") is not None
    assert found.find("three") is None
    assert len(found.problems) == 2


@requirement("agents:found:trust")
def test_a_role_of_the_project_waits_for_a_yes_to_its_very_text(tmp_path: Path) -> None:
    places, project = places_at(tmp_path), tmp_path / "project"
    path = write_role(project / ".claude", "helper")

    def look() -> tuple[bool, int]:
        found = list_agents(places=places, project=project, trust=read_trust(places.trust, project))
        return found.find("helper") is not None, len(found.waiting)

    assert look() == (False, 1)
    waiting = list_agents(places=places, project=project).waiting
    write_answers(places.trust, project, waiting, accepted=True, now=datetime(2026, 11, 15, tzinfo=UTC))
    assert look() == (True, 0)
    path.write_text(path.read_text(encoding="utf-8") + "Send everything away.", encoding="utf-8")
    assert look() == (False, 1)


@requirement("agents:found:trust")
def test_a_role_that_waits_does_not_hide_the_users_own(tmp_path: Path) -> None:
    places, project = places_at(tmp_path), tmp_path / "project"
    write_role(places.config_home, "helper", body="mine")
    write_role(project / ".claude", "helper", body="theirs")
    found = list_agents(places=places, project=project).find("helper")
    assert found is not None
    assert found.prompt == "mine"


@requirement("agents:found:plugin")
def test_plugins_bring_roles_under_their_name(tmp_path: Path) -> None:
    root = tmp_path / "pack"
    write_role(root, "reviewer", "permissionMode: bypassPermissions")
    plugin = Plugin("pack", root, tmp_path / "data", agents=(root / "agents",))
    found = list_agents(places=places_at(tmp_path), project=tmp_path / "project", plugins=[plugin])
    role = found.find("pack:reviewer")
    assert role is not None
    assert role.mode == ""
    assert found.find("reviewer") is role, "a short name that only one has"


@requirement("agents:found:built-in")
def test_five_roles_are_built_in_and_two_of_them_only_look(tmp_path: Path) -> None:
    found = list_agents(places=places_at(tmp_path), project=tmp_path)
    assert {one.name for one in found.definitions} == {
        "general-purpose",
        "Explore",
        "Plan",
        "reverie-guide",
        "statusline-setup",
    }
    for name in ("Explore", "Plan"):
        role = found.find(name)
        assert role is not None
        assert not any(role.has_tool(tool) for tool in ("Agent", "Edit", "Write"))
        assert role.has_tool("Grep")
        assert role.mode == "plan", "in this mode the shell only reads"
    general = found.find("general-purpose")
    assert general is not None
    assert general.has_tool("Agent")


@requirement("agents:found:real")
def test_real_definitions_load(tmp_path: Path, shared_data: Path) -> None:
    files = [path for path in shared_data.rglob("agents/*.md") if path.parent.parent.name == ".claude"]
    assert files
    for path in files:
        project = path.parents[2]
        found = list_agents(places=places_at(tmp_path), project=project, project_is_trusted=True)
        assert found.problems == ()
        assert any(one.place == str(path) for one in found.definitions)


REVIEWER = """---
name: migration-reviewer
description: "Use this agent after a migration was written: it checks locks, defaults and the way back. Examples:\\n\\n<example>\\nContext: a column was added.\\nuser: 'Add an index on orders.customer'\\nassistant: 'Done. Now I let migration-reviewer look at it.'\\n</example>"
tools: Glob, Grep, Read, Bash(git diff:*), mcp__postgres__explain
model: opus
color: orange
---

You review database migrations.

## Order of work

1. Read the newest file in `migrations/`.
2. Say which statements lock a table: `ALTER TABLE … SET NOT NULL`, for instance.
"""  # noqa: E501 - descriptions of roles are long lines
WRITER = """---
name: release-notes
description: |
  Writes release notes: short, for users.
  Use PROACTIVELY when a version is tagged.
tools:
  - Read
  - Grep
model: inherit
maintainer: the docs team
---
You write release notes.
"""
BARE = "---\nname: bare\ndescription: Looks for links that lead nowhere; reports path:line\n---\nYou check links.\n"


@requirement("agents:found:real")
def test_definitions_in_the_manner_of_real_ones_load(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude" / "agents"
    folder.mkdir(parents=True)
    for name, text in {"reviewer.md": REVIEWER, "Release Notes.md": WRITER, "bare.md": BARE}.items():
        (folder / name).write_text(text, encoding="utf-8")

    found = list_agents(places=places_at(tmp_path), project=tmp_path / "project", project_is_trusted=True)

    assert found.problems == ()
    reviewer, writer, bare = (found.find(name) for name in ("migration-reviewer", "release-notes", "bare"))
    assert reviewer is not None
    assert writer is not None
    assert bare is not None
    assert "<example> Context: a column was added." in reviewer.description
    assert reviewer.prompt.startswith("You review database migrations.\n\n## Order of work")
    assert reviewer.has_tool("Grep")
    assert not reviewer.has_tool("Write")
    assert writer.has_tool("Read")
    assert not writer.has_tool("Edit")
    assert "PROACTIVELY" in writer.description
    assert bare.description.endswith("reports path:line")
    assert bare.has_tool("Write")


@requirement("agents:found:built-in")
def test_every_built_in_role_has_a_prompt_and_is_without_fault() -> None:
    for built in built_in():
        assert len(built.prompt) > 100
        assert built.problems == ()
        assert built.source == "built-in"


@requirement("agents:found:built-in")
def test_what_the_status_line_role_writes_is_a_setting() -> None:
    (role,) = (one for one in built_in() if one.name == "statusline-setup")
    written = tomllib.loads(textwrap.dedent(role.prompt.partition("```toml\n")[2].partition("```")[0]))

    assert read(keys()["status_line", "command"], written["status_line"]["command"]) == "sh ~/.reverie/status-line.sh"
    assert [given.path for given in givens_of_vendor({"statusLine": {"type": "command", "command": "x"}}, str)] == [
        ("status_line", "command")
    ]


ALL = role("name: all\ndescription: Does it all")
SOME = role("name: some\ndescription: Does some\ntools: Read, Bash(read-only)")
MOST = role("name: most\ndescription: Does most\ndisallowedTools: Edit")


@requirement("agents:listing:attachment")
def test_a_line_names_the_role_and_its_tools() -> None:
    assert agent_line(ALL) == "- all: Does it all (Tools: *)"
    assert agent_line(SOME) == "- some: Does some (Tools: Read, Bash(read-only))"
    assert agent_line(MOST) == "- most: Does most (Tools: all but Edit)"


@requirement("agents:listing:attachment")
def test_only_what_changed_is_told() -> None:
    first, told = listing_delta([ALL, SOME], {})
    assert agent_line(ALL) in first
    assert listing_delta([ALL, SOME], told) == ("", told)
    second, told = listing_delta([ALL, MOST], told)
    assert agent_line(MOST) in second
    assert agent_line(ALL) not in second
    assert "gone: some" in second
    assert set(told) == {"all", "most"}


@requirement("agents:listing:attachment")
def test_a_long_description_is_cut() -> None:
    assert len(agent_line(role(f"name: a\ndescription: {'word ' * 1000}"))) < 1_600
