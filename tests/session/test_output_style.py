""""""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reverie.messages.blocks import Json
from reverie.session.events import Notice
from reverie.session.output_style import OutputStyle, list_output_styles, read_output_style
from reverie.settings import InstructionsSettings
from tests.requirements import requirement
from tests.session.session_desk import Desk, calls, desk, told


@requirement("prompt:styles")
def test_a_style_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "teacher.md"
    path.write_text(
        "---\nname: Teacher\ndescription: Explains\nkeep-coding-instructions: yes\nforce-for-plugin: false\n---\n"
        "\nExplain.\n",
        encoding="utf-8",
    )

    assert read_output_style(path) == OutputStyle("Teacher", "Explain.", "Explains", keeps_coding=True)


@requirement("prompt:styles")
def test_a_file_without_front_matter_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "terse.md"
    path.write_text("Be terse.\n", encoding="utf-8")

    assert read_output_style(path) == OutputStyle("terse", "Be terse.")


@requirement("prompt:styles")
def test_the_nearer_folder_stands_and_broken_files_are_left_out(tmp_path: Path) -> None:
    user, project = tmp_path / "user", tmp_path / "project"
    for folder, text in ((user, "far"), (project, "near")):
        folder.mkdir()
        (folder / "same.md").write_text(f"---\nname: Same\n---\n{text}", encoding="utf-8")
    (user / "empty.md").write_text("---\nname: Empty\n---\n", encoding="utf-8")
    (user / "broken.md").write_text("---\nname: x\n  bad: indent\n---\ntext", encoding="utf-8")
    (user / "folder.md").mkdir()

    assert list_output_styles([user, project, tmp_path / "nowhere"]) == (OutputStyle("Same", "near"),)


FINE: list[Json] = [{"then": "fine {request}"}]


def system(body: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in body["system"])


def write_style(folder: Path, name: str, text: str, **head: str) -> None:
    path = folder / "output-styles" / f"{name.lower()}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key.replace('_', '-')}: {value}" for key, value in {"name": name, **head}.items()]
    path.write_text("\n".join(["---", *lines, "---", text, ""]), encoding="utf-8")


def choose(at: Desk, style: str | None, language: str | None = None) -> None:
    at.settings = replace(at.settings, output_style=style, language=language)


@requirement("session:style:chosen")
async def test_style_and_language_of_the_settings_hold_in_the_main_conversation_alone(tmp_path: Path) -> None:
    script: list[Json] = [
        {"when": {"has_tool_results": True}, "then": "thanks"},
        {"when": {"last_user": "look around"}, "then": "I looked"},
        {
            "then": calls(
                ("Agent", {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"})
            )
        },
    ]
    with desk(tmp_path, script) as at:
        write_style(at.home / ".claude", "Bard", "Answer in verse.")
        choose(at, "bard", "français")
        async with at.start() as session:
            await told(session, "hello")
            assert session.parts.opening_prompt.styling.name == "Bard"

        mine, agent = system(at.bodies[0]), system(at.bodies[1])
        assert "# Output style: Bard" in mine
        assert "Answer in verse." in mine
        assert 'takes the place of the section "Working on code"' in mine
        assert "Write to the user in français" in mine
        assert "verse" not in agent
        assert "français" not in agent


@requirement("session:style:chosen")
@pytest.mark.parametrize("style", [None, "default", "Default"])
async def test_without_a_choice_the_agent_writes_as_it_is(tmp_path: Path, style: str | None) -> None:
    with desk(tmp_path, FINE) as at:
        choose(at, style)
        async with at.start() as session:
            await told(session, "hello")

        assert "# Output style" not in system(at.bodies[0])
        assert "# Language" not in system(at.bodies[0])


@requirement("session:style:sources")
async def test_of_one_name_the_users_own_style_counts_and_the_projects_is_there_too(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        write_style(at.project / ".claude", "Bard", "THEIRS")
        write_style(at.project / ".claude", "Terse", "Few words.", description="Says little")
        write_style(at.home / ".claude", "Bard", "MINE", keep_coding_instructions="true")
        choose(at, "Bard")
        async with at.start() as session:
            await told(session, "hello")
            rows = dict(session.describe("output-style") or ())

        assert "MINE" in system(at.bodies[0])
        assert "THEIRS" not in system(at.bodies[0])
        assert rows["Terse"] == "Says little [project]"
        assert rows["Bard"] == "MINE [user, in use]"
        assert {"default", "Explanatory", "Learning"} <= set(rows)


@requirement("session:style:sources")
async def test_a_style_of_the_project_leads_nowhere_else(tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_text("SECRET", encoding="utf-8")
    with desk(tmp_path, FINE) as at:
        folder = at.project / ".claude" / "output-styles"
        folder.mkdir(parents=True)
        (folder / "bard.md").symlink_to(outside)
        choose(at, "bard")
        async with at.start() as session:
            await told(session, "hello")

        assert "SECRET" not in system(at.bodies[0])


@requirement("session:style:sources")
async def test_a_plugin_may_bring_its_style_along_and_the_users_choice_goes_before_it(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        plugin = at.root / "stage"
        write_style(plugin, "Bard", "Answer in verse.", force_for_plugin="true")
        at.options["plugin_dirs"] = (plugin,)
        for style, expected in ((None, True), ("stage:bard", True), ("bard", True), ("default", False)):
            choose(at, style)
            async with at.start() as session:
                await told(session, "hello")
            assert ("Answer in verse." in system(at.bodies[-1])) is expected, style


@requirement("session:style:unknown")
async def test_a_style_that_is_not_there_is_warned_of_with_those_that_are(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        write_style(at.home / ".claude", "Bard", "Answer in verse.")
        choose(at, "brad")
        async with at.start() as session:
            events = await told(session, "hello")

        warned = [event.text for event in events if isinstance(event, Notice) and "output style" in event.text]
        assert warned == [
            "there is no output style 'brad' (`output_style`); there are default, Bard, Explanatory, Learning"
        ]
        assert "# Output style" not in system(at.bodies[0])


@requirement("instructions:managed-text")
async def test_what_an_administrator_writes_into_settings_is_told_before_all_else(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        at.file("CLAUDE.md", "Project words.")
        text = "House words.<!-- hidden -->"
        at.settings = replace(at.settings, instructions=InstructionsSettings(managed_text=text, excludes=("**",)))
        async with at.start() as session:
            await told(session, "hello")
        at.settings = replace(at.settings, instructions=InstructionsSettings(managed_text=text))
        async with at.start() as session:
            await told(session, "hello")

        alone, both = (json.dumps(body["messages"]) for body in at.bodies)
        assert "House words." in alone
        assert "hidden" not in alone
        assert "Project words." not in alone
        assert both.index("House words.") < both.index("Project words.")
