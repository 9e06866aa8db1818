from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.permissions.covers import covers_path
from reverie.permissions.policy import Mode, Policy, build_policy
from reverie.permissions.rule import RuleKind
from reverie.settings import PermissionsSettings, Settings
from reverie.settings.load import SettingsFlags, load
from tests.requirements import requirement


@requirement("permissions:policy")
def test_the_settings_become_a_policy_with_places(tmp_path: Path) -> None:
    project, user_home = tmp_path / "project", tmp_path / "me"
    (project / ".reverie").mkdir(parents=True)
    (user_home / ".reverie").mkdir(parents=True)
    (project / ".reverie/settings.local.toml").write_text(
        '[permissions]\nmode = "acceptEdits"\nallow = ["Edit(/src/**)"]\n'
        'additional_directories = ["../beside", "~/notes"]\n',
        encoding="utf-8",
    )
    (user_home / ".reverie/settings.toml").write_text(
        '[permissions]\nallow = ["Edit(/src/**)"]\ndeny = ["Bash(rm:*)"]\nask = ["Read(~/x)"]\n', encoding="utf-8"
    )
    loaded = load(
        SettingsFlags(project=project),
        environ={},
        user_home=user_home,
        directory=project,
        managed=tmp_path / "none",
        trusted=True,
    )
    policy = build_policy(
        loaded.settings,
        project=project,
        home=user_home,
        additional=(tmp_path / "scratch",),
        origins=loaded.origins,
        plan_file=tmp_path / "plan.md",
    )
    assert policy.mode is Mode.ACCEPT_EDITS
    assert policy.roots == (project, project / "../beside", user_home / "notes", tmp_path / "scratch")
    assert [str(rule) for rule in policy.deny] == [f"Bash(rm:*) ({user_home}/.reverie/settings.toml:3)"]
    users, projects = policy.allow
    assert covers_path(users, user_home / ".reverie/src/x", RuleKind.ALLOW)
    assert not covers_path(users, project / "src/x", RuleKind.ALLOW)
    assert covers_path(projects, project / "src/x", RuleKind.ALLOW)
    assert [rule.about for rule in policy.ask] == ["~/x"]
    assert policy.plan_file == tmp_path / "plan.md"


@requirement("permissions:policy", "permissions:rules:syntax")
def test_a_rule_that_cannot_be_read_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    settings = Settings(permissions=PermissionsSettings(deny=("Bash(",)))
    with pytest.raises(UserMistake, match=r"permissions\.deny.*'Bash\('"):
        build_policy(settings, project=tmp_path, home=tmp_path)


def test_a_policy_without_settings_asks(tmp_path: Path) -> None:
    policy = build_policy(Settings(), project=tmp_path, home=tmp_path)
    assert (policy.mode, policy.allow, policy.roots) == (Mode.DEFAULT, (), (tmp_path,))


def test_changing_a_policy_leaves_the_old_one_alone(tmp_path: Path) -> None:
    policy = Policy(tmp_path, tmp_path)
    changed = (
        policy.with_rule("Bash").with_rule("Read", RuleKind.DENY).with_rule("Edit", RuleKind.ASK).with_mode("plan")
    )
    changed = changed.with_roots(tmp_path / "a").with_plan_file(tmp_path / "p")
    assert policy == Policy(tmp_path, tmp_path)
    assert [len(changed.rules(kind)) for kind in RuleKind] == [1, 1, 1]
    assert (changed.mode, changed.roots, changed.plan_file) == (Mode.PLAN, (tmp_path / "a",), tmp_path / "p")


def test_real_settings_of_users_are_read(shared_data: Path, tmp_path: Path) -> None:
    read = 0
    for file in sorted((shared_data / "claude_md").glob("*/.claude/settings.json")):
        said = json.loads(file.read_text(encoding="utf-8")).get("permissions", {})
        allow, ask, deny = (tuple(said.get(kind.value, ())) for kind in RuleKind)
        rules = PermissionsSettings(allow=allow, ask=ask, deny=deny)
        policy = build_policy(Settings(permissions=rules), project=tmp_path, home=tmp_path)
        read += sum(len(policy.rules(kind)) for kind in RuleKind)
    assert read >= 20
