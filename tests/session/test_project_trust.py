""""""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.files.trust import TrustKind, read_trust, write_answers
from reverie.messages.blocks import Json
from reverie.models.offline import OfflineModel
from reverie.permissions.rules_file import RuleScope
from reverie.session.events import Notice
from reverie.session.options import SessionOptions
from reverie.session.project_trust import keep_rule, list_parts
from reverie.settings import InstructionsSettings, Settings
from reverie.settings.load import SettingsFlags, load, parts_of_settings
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, told

FINE: list[Json] = [{"then": "fine {request}"}]


@requirement("session:instructions:outside")
async def test_a_file_from_outside_is_asked_about_and_joins_once_it_is_allowed(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        outside = tmp_path / "house.md"
        outside.write_text("Tabs, never spaces. @further.md", encoding="utf-8")
        (tmp_path / "further.md").write_text("Say please.", encoding="utf-8")
        at.file("CLAUDE.md", "Be kind. @../house.md")
        async with at.start() as session:
            await told(session, "one")
            (waiting,) = session.waiting_for_trust
            session.answer_trust([waiting], accepted=True)
            await told(session, "two")
            (further,) = session.waiting_for_trust
            session.answer_trust([further], accepted=False)
            await told(session, "three")

            assert session.waiting_for_trust == ()
        assert (waiting.kind, waiting.text) == (TrustKind.INCLUDE, str(outside.resolve()))
        assert "Tabs, never spaces." not in json.dumps(at.bodies[0])
        assert json.dumps(at.bodies[-1]["messages"]).count("Tabs, never spaces.") == 1
        assert "Say please." not in json.dumps(at.bodies[-1])

        async with at.start() as again:
            await told(again, "four")

            assert again.waiting_for_trust == ()
        assert "Tabs, never spaces." in json.dumps(at.bodies[-1]["messages"][0])
        assert "Say please." not in json.dumps(at.bodies[-1])


@requirement("session:instructions:outside")
async def test_a_file_that_a_nested_one_wants_is_asked_about_when_it_is_found(tmp_path: Path) -> None:
    inner = str(tmp_path / "project" / "db" / "schema.sql")
    script: list[Json] = [
        {"when": {"last_user": "look", "has_tool_results": False}, "then": calls(("Read", {"file_path": inner}))},
        {"then": "seen"},
    ]
    with desk(tmp_path, script) as at:
        (tmp_path / "house.md").write_text("Never drop a column.", encoding="utf-8")
        at.file("db/schema.sql", "create table a;")
        at.file("db/CLAUDE.md", "Of the house: @../../house.md")
        async with at.start() as session:
            await told(session, "look at the schema")
            (waiting,) = session.waiting_for_trust
            session.answer_trust([waiting], accepted=True)
            await told(session, "and now?")

        assert json.dumps(at.bodies[-1]["messages"]).count("Never drop a column.") == 1


@requirement("session:instructions:outside")
@pytest.mark.parametrize("accepted", [True, False])
async def test_the_command_lists_files_from_outside_answered_or_not(tmp_path: Path, *, accepted: bool) -> None:
    with desk(tmp_path) as at:
        (tmp_path / "house.md").write_text("Tabs.", encoding="utf-8")
        at.file("CLAUDE.md", "@../house.md")
        before = list_parts(at.setup())
        write_answers(at.setup().places.trust, at.project, before, accepted=accepted, now=at.time)

        assert [part.kind for part in before] == [TrustKind.INCLUDE]
        assert list_parts(at.setup()) == before


@requirement("session:instructions:outside")
async def test_what_is_wrong_with_instruction_files_is_said_at_the_beginning(tmp_path: Path) -> None:
    with desk(tmp_path, FINE) as at:
        at.settings = replace(at.settings, instructions=InstructionsSettings(file_chars=10))
        at.file("CLAUDE.md", "More than ten characters.")
        async with at.start() as session:
            events = await told(session, "hello")

        assert any(isinstance(event, Notice) and "more than 10" in event.text for event in events)


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
