from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from reverie.files.trust import TrustKind, write_answers
from reverie.session.agreed_settings import Agreed, agreed
from reverie.settings.load import Configuration, SettingsFlags, load
from reverie.settings.process import places
from tests.requirements import requirement


def _load(tmp_path: Path, *, trusted: bool | None = None) -> Configuration:
    return load(
        SettingsFlags(),
        environ={},
        user_home=tmp_path / "home",
        directory=tmp_path / "project",
        managed=tmp_path / "managed",
        trusted=trusted,
    )


def _agreed(tmp_path: Path) -> Agreed:
    return agreed(_load(tmp_path), lambda: _load(tmp_path, trusted=True))


@requirement("extensions:trust:waiting", "extensions:trust:answers")
def test_guarded_settings_count_as_far_as_they_are_agreed_to_and_hooks_go_along(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude"
    folder.mkdir(parents=True)
    said = {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(rm:*)"], "additionalDirectories": ["../other"]},
        "enabledPlugins": {"crane@market": True},
    }
    (folder / "settings.json").write_text(json.dumps(said), encoding="utf-8")

    before = _agreed(tmp_path)
    assert before.configuration.settings.permissions.allow == ()
    assert before.configuration.settings.permissions.deny == ("Bash(rm:*)",)
    assert len(before.configuration.settings.hooks) == 1
    assert {part.kind for part in before.parts} == {TrustKind.ALLOW, TrustKind.DIRECTORIES, TrustKind.PLUGINS}
    assert not before.is_trusted

    store, project = places(before.configuration).trust, before.configuration.project
    now = datetime(2026, 1, 1, tzinfo=UTC)
    write_answers(store, project, before.parts[:1], accepted=True, now=now)
    partly = _agreed(tmp_path)
    assert partly.configuration.settings.permissions.allow == ("Bash(make:*)",)
    assert partly.configuration.settings.permissions.additional_directories == ()
    assert partly.parts == before.parts
    write_answers(store, project, before.parts, accepted=True, now=now)
    after = _agreed(tmp_path)
    assert after.configuration.settings.permissions.allow == ("Bash(make:*)",)
    assert after.configuration.settings.permissions.additional_directories == ("../other",)
    assert after.is_trusted


@requirement("extensions:trust:waiting")
def test_a_project_that_brings_nothing_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()

    def never() -> Configuration:
        raise AssertionError("read twice")

    found = agreed(_load(tmp_path), never)
    assert found.parts == ()
