from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.files.trust import read_trust, write_answers
from reverie.models.offline import OfflineModel
from reverie.permissions.rules_file import RuleScope
from reverie.session.granted_rules import keep_rule
from reverie.session.options import SessionOptions
from reverie.settings import Settings
from reverie.settings.load import SettingsFlags, load
from reverie.settings.trust_parts import parts_of_settings
from tests.requirements import requirement

NOW = datetime(2026, 11, 16, tzinfo=UTC)
RULE, OTHER = "Bash(make:*)", "Bash(ls:*)"


@pytest.fixture
def setup(tmp_path: Path) -> SessionOptions:
    project = tmp_path / "project"
    project.mkdir()
    return SessionOptions(
        settings=Settings(),
        places=Places.at(tmp_path / "home" / ".reverie", tmp_path / "home" / ".claude"),
        directory=project,
        project=project,
        model="offline",
        make_model=lambda _name: OfflineModel(),
        now=lambda: NOW,
        new_id=lambda: "id",
        user_home=tmp_path / "home",
    )


def local(setup: SessionOptions) -> Path:
    return setup.places.settings_files(setup.project).local


def counted(setup: SessionOptions) -> tuple[str, ...]:
    """The rules of the next session."""
    found = load(SettingsFlags(), environ={}, user_home=setup.user_home, directory=setup.project)
    return found.settings.permissions.allow


def brought(setup: SessionOptions, text: str) -> None:
    local(setup).parent.mkdir(exist_ok=True)
    local(setup).write_text(text, encoding="utf-8")


@requirement("permissions:kept:agreed")
def test_a_rule_that_the_user_granted_counts_next_time_without_a_question(setup: SessionOptions) -> None:
    keep_rule(RULE, RuleScope.LOCAL, setup)
    keep_rule(OTHER, RuleScope.LOCAL, setup)
    keep_rule(RULE, RuleScope.LOCAL, setup)

    assert counted(setup) == (RULE, OTHER)


@requirement("permissions:kept:agreed")
def test_a_granted_rule_does_not_lift_rules_that_were_there(setup: SessionOptions) -> None:
    brought(setup, '[permissions]\nallow = ["Bash"]\n')

    with pytest.raises(UserMistake, match="reverie trust"):
        keep_rule(RULE, RuleScope.LOCAL, setup)

    assert RULE not in local(setup).read_text(encoding="utf-8")
    assert counted(setup) == ()


@requirement("permissions:kept:agreed")
def test_a_rule_joins_those_that_the_user_agreed_to(setup: SessionOptions) -> None:
    brought(setup, '# mine\nrecall.max_files = 3\n[permissions]\nallow = ["Read"]\ndeny = ["Write"]\n')
    whole = load(SettingsFlags(), environ={}, user_home=setup.user_home, directory=setup.project, trusted=True)
    write_answers(setup.places.trust, setup.project, parts_of_settings(whole.origins), accepted=True, now=NOW)

    keep_rule(RULE, RuleScope.LOCAL, setup)

    assert counted(setup) == ("Read", RULE)
    assert local(setup).read_text(encoding="utf-8").startswith("# mine\n")


@requirement("permissions:kept:agreed")
def test_other_guarded_values_of_the_file_still_wait_after_a_rule_was_granted(setup: SessionOptions) -> None:
    brought(setup, '[memory]\ndirectory = "/data/elsewhere"\n')

    keep_rule(RULE, RuleScope.LOCAL, setup)

    found = load(SettingsFlags(), environ={}, user_home=setup.user_home, directory=setup.project)
    assert found.settings.permissions.allow == (RULE,)
    assert found.settings.memory.directory is None
    assert [caution.key for caution in found.cautions if caution.waits_for_trust] == ["memory.directory"]


@requirement("permissions:kept:agreed")
def test_a_rule_that_somebody_adds_later_is_asked_about(setup: SessionOptions) -> None:
    keep_rule(RULE, RuleScope.LOCAL, setup)
    text = local(setup).read_text(encoding="utf-8")
    local(setup).write_text(text.replace(RULE, "Bash"), encoding="utf-8")

    assert counted(setup) == ()
    with pytest.raises(UserMistake):
        keep_rule(OTHER, RuleScope.LOCAL, setup)


@requirement("permissions:kept:agreed")
def test_the_users_own_file_needs_no_answer(setup: SessionOptions) -> None:
    brought(setup, '[permissions]\nallow = ["Bash"]\n')

    keep_rule(RULE, RuleScope.USER, setup)

    assert counted(setup) == (RULE,)
    assert read_trust(setup.places.trust, setup.project).accepted == frozenset()


@requirement("permissions:kept:agreed")
@pytest.mark.parametrize("text", ["not toml [", 'permissions = "all"\n', '[permissions]\nallow = "Bash"\n'])
def test_a_file_of_another_shape_is_left_as_it_is(setup: SessionOptions, text: str) -> None:
    brought(setup, text)

    with pytest.raises(UserMistake):
        keep_rule(RULE, RuleScope.LOCAL, setup)

    assert local(setup).read_text(encoding="utf-8") == text
    assert read_trust(setup.places.trust, setup.project).accepted == frozenset()


@requirement("permissions:kept:agreed")
def test_a_local_file_that_git_holds_gets_no_rule(setup: SessionOptions) -> None:
    with pytest.raises(UserMistake, match="shared with others"):
        keep_rule(RULE, RuleScope.LOCAL, replace(setup, is_tracked=lambda _path: True))

    assert not local(setup).exists()
