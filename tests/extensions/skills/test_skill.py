from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.extensions.skills.skill import read_skill
from tests.extensions.skills.making import made, skill_in, write
from tests.requirements import requirement

HEAD = """name: review
description: Reviews a change.
when_to_use: After an edit.
argument-hint: [file]
arguments: file mode
disable-model-invocation: yes
user-invocable: off
allowed-tools: Read, Bash(git diff:*)
disallowed-tools: [Write]
model: small
effort: high
context: fork
agent: Explore
background: 1
paths:
  - "src/**/*.ts"
shell: bash
license: MIT
hooks:
  Stop:
    - hooks:
        - type: command
          command: check
          timeout: 5
          once: true"""


@requirement("skills:head:fields")
def test_every_field_of_the_format_is_read(tmp_path: Path) -> None:
    skill = made(tmp_path, HEAD, source="project")

    assert (skill.name, skill.description, skill.when_to_use) == ("review", "Reviews a change.", "After an edit.")
    assert (skill.argument_hint, skill.arguments) == ("[file]", ("file", "mode"))
    assert (skill.for_model, skill.for_user, skill.forks, skill.in_background) == (False, False, True, True)
    assert (skill.allowed_tools, skill.disallowed_tools) == (("Read", "Bash(git diff:*)"), ("Write",))
    assert (skill.model, skill.effort, skill.agent) == ("small", "high", "Explore")
    assert (skill.paths, skill.root) == (("src/**/*.ts",), skill.path.parent)
    assert skill.hooks is not None
    assert (skill.hooks.source, skill.hooks.committed) == ("skill", True)
    (entry,) = json.loads(skill.hooks.text)["Stop"][0]["hooks"]
    assert entry == {"type": "command", "command": "check", "timeout": 5, "once": True}


@requirement("skills:head:fields")
def test_a_file_without_a_head_has_the_name_of_its_folder_and_its_first_words(tmp_path: Path) -> None:
    skill = made(tmp_path, body="# Title\n\nDoes a thing\nwell.\n\nMore.")

    assert (skill.name, skill.description, skill.for_model, skill.for_user) == (
        "made",
        "Does a thing well.",
        True,
        True,
    )
    assert made(tmp_path, is_command=True).name == "made"


@requirement("skills:head:fields")
def test_permission_rules_of_a_projects_skill_are_something_to_agree_to(tmp_path: Path) -> None:
    theirs, mine = made(tmp_path, HEAD, source="project").grants, made(tmp_path, HEAD).grants

    assert theirs is not None
    assert "Bash(git diff:*)" in theirs.text
    assert mine is None
    assert made(tmp_path, source="project").grants is None


@requirement("skills:found:broken")
@pytest.mark.parametrize("name", ["a b", "../up", "x" * 65, "a/b"])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    skill, problem = read_skill(skill_in(tmp_path, "dir", head=f"name: {name}"), source="user")

    assert skill is None
    assert "is no name" in problem


@requirement("skills:found:broken")
def test_a_broken_head_is_named_and_the_skill_stays(tmp_path: Path) -> None:
    skill, problem = read_skill(write(tmp_path / "x" / "SKILL.md", "---\n[ {\n---\nWords."), source="user")

    assert skill is not None
    assert (skill.name, skill.description) == ("x", "Words.")
    assert "not YAML" in problem
