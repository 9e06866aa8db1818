from __future__ import annotations

from pathlib import Path

import pytest

from reverie.extensions.plugins.plugin import Plugin
from reverie.extensions.skills import Skills, list_nested, list_skills
from reverie.files.places import Places
from tests.extensions.skills.making import skill_in, write
from tests.requirements import requirement


class Home:
    def __init__(self, root: Path) -> None:
        self.places = Places.at(root / ".reverie", root / ".claude")
        self.project = root / "project"
        self.project.mkdir()

    def list(self, directory: Path | None = None, *plugins: Plugin) -> Skills:
        return list_skills(places=self.places, project=self.project, directory=directory, plugins=plugins)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def names(found: Skills) -> list[str]:
    return [skill.name for skill in found.skills]


@requirement("skills:found:places")
def test_skills_and_commands_of_every_place_are_found(home: Home, tmp_path: Path) -> None:
    skill_in(home.places.config_home, "theirs")
    skill_in(home.places.home, "ours")
    skill_in(home.project / ".claude", "repo")
    skill_in(home.project / ".reverie", "repo-ours")
    skill_in(home.project / "sub" / ".claude", "sub")
    write(home.project / ".claude" / "commands" / "group" / "fix.md", "Fix it.")
    write(home.places.config_home / "commands" / "mine.md", "Mine.")
    plugin_root = tmp_path / "plug"
    skill_in(plugin_root, "extra")
    write(plugin_root / "commands" / "go.md", "Go.")
    write(plugin_root / "one.md", "One.")
    plugin = Plugin(
        "plug",
        plugin_root,
        tmp_path,
        skills=(plugin_root / "skills",),
        commands=(plugin_root / "commands", plugin_root / "one.md"),
    )

    assert names(home.list()) == ["fix", "mine", "ours", "repo", "repo-ours", "theirs"]
    assert names(home.list(home.project / "sub", plugin)) == [
        "fix",
        "mine",
        "ours",
        "plug:extra",
        "plug:go",
        "plug:one",
        "repo",
        "repo-ours",
        "sub",
        "theirs",
    ]
    sources = {skill.name: (skill.source, skill.is_command) for skill in home.list(None, plugin).skills}
    assert sources["fix"] == ("project", True)
    assert sources["ours"] == ("user", False)
    assert sources["plug:go"] == ("plugin", True)


@requirement("skills:found:precedence")
def test_the_strongest_source_of_a_name_counts(home: Home) -> None:
    write(home.project / ".claude" / "commands" / "x.md", "command")
    assert home.list().skills[0].description == "command"
    skill_in(home.project / ".claude", "x", body="skill")
    assert home.list().skills[0].description == "skill"
    skill_in(home.project / "sub" / ".claude", "x", body="nearer")
    assert home.list(home.project / "sub").skills[0].description == "nearer"
    assert home.list().skills[0].description == "skill"
    skill_in(home.places.config_home, "x", body="mine")
    (only,) = home.list(home.project / "sub").skills
    assert only.description == "mine"


@requirement("skills:found:nested")
def test_skills_of_a_folder_below_are_found_when_a_file_there_is_touched(home: Home) -> None:
    skill_in(home.project / ".claude", "top")
    skill_in(home.project / "a" / ".claude", "middle")
    skill_in(home.project / "a" / "b" / ".claude", "deep")
    touched = home.project / "a" / "b" / "file.py"

    nested = list_nested(touched, places=home.places, directory=home.project)

    assert names(home.list()) == ["top"]
    assert names(nested) == ["deep", "middle"]
    assert names(home.list().with_more(nested)) == ["deep", "middle", "top"]
    assert list_nested(Path("/elsewhere/x"), places=home.places, directory=home.project) == Skills()


@requirement("skills:found:places")
def test_in_the_home_directory_the_users_skills_are_the_users(home: Home, tmp_path: Path) -> None:
    skill_in(home.places.config_home, "mine")

    found = list_skills(places=home.places, project=tmp_path)

    assert [skill.source for skill in found.skills] == ["user"]


@requirement("skills:found:broken")
def test_a_file_that_cannot_be_read_is_named_and_the_others_stay(home: Home) -> None:
    skill_in(home.project / ".claude", "good")
    write(home.project / ".claude" / "skills" / "big" / "SKILL.md", "x" * (1024 * 1024 + 1))
    (home.project / ".claude" / "skills" / "empty").mkdir()

    found = home.list()

    assert names(found) == ["good"]
    assert len(found.problems) == 1
    assert "big" in found.problems[0]


@requirement("skills:found:precedence")
def test_a_name_means_one_skill(home: Home, tmp_path: Path) -> None:
    skill_in(home.project / ".claude", "go")
    root = tmp_path / "p"
    for name in ("go", "run"):
        skill_in(root, name)
    found = home.list(None, *(Plugin(plugin, root, tmp_path, skills=(root / "skills",)) for plugin in ("p", "q")))

    assert [getattr(found.find(name), "name", None) for name in ("/go", "p:go", "run", "none")] == [
        "go",
        "p:go",
        None,
        None,
    ]
    only = home.list(None, Plugin("p", root, tmp_path, skills=(root / "skills",)))
    assert getattr(only.find("/run"), "name", None) == "p:run"


@requirement("skills:found:places")
def test_the_skills_and_commands_of_real_projects_are_read(shared_data: Path, tmp_path: Path) -> None:
    places = Places.at(tmp_path / ".reverie", tmp_path / ".claude")
    found = {
        project.name: list_skills(places=places, project=project)
        for project in sorted((shared_data / "claude_md").iterdir())
        if project.is_dir()
    }

    assert all(skills.problems == () for skills in found.values())
    assert names(found["claude-agent-sdk-python"]) == ["commit", "generate-changelog", "label-issue", "verify"]
    assert names(found["bookminder"]) == ["expert-council", "hi"]
    assert names(found["mcp-python-sdk"]) == ["review-pr", "test-quality"]
    commit = found["claude-agent-sdk-python"].find("commit")
    assert commit is not None
    assert commit.allowed_tools == ("Bash(git add:*)", "Bash(git status:*)", "Bash(git commit:*)")
