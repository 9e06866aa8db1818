from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.permissions.rules_file import RuleScope, with_allow_rule, write_rule
from tests.requirements import requirement

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_RULE = "Bash(git diff:*)"


def places(tmp_path: Path) -> Places:
    return Places.at(tmp_path / "home/.reverie", tmp_path / "home/.claude")


@requirement("permissions:granted-rules")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[permissions]\nallow = ["Bash(git diff:*)"]\n'),
        ("# mine\n", '# mine\n\n[permissions]\nallow = ["Bash(git diff:*)"]\n'),
        ("[ui]\nmeter = true", '[ui]\nmeter = true\n\n[permissions]\nallow = ["Bash(git diff:*)"]\n'),
        (
            '[permissions] # rules\nmode = "plan"\n[ui]\n',
            '[permissions] # rules\nallow = ["Bash(git diff:*)"]\nmode = "plan"\n[ui]\n',
        ),
        ("[permissions]\nallow = []\n", '[permissions]\nallow = ["Bash(git diff:*)"]\n'),
        ('[permissions]\nallow = ["Read"]  # x\n', '[permissions]\nallow = ["Read", "Bash(git diff:*)"]  # x\n'),
        ('[permissions]\nallow = ["a[1]", ]\n', '[permissions]\nallow = ["a[1]", "Bash(git diff:*)"]\n'),
        (
            '[permissions]\nallow = [\n    "Read", # why\n    "Edit", # ]\n]\ndeny = []\n',
            '[permissions]\nallow = [\n    "Read", # why\n    "Edit", # ]\n    "Bash(git diff:*)",\n]\ndeny = []\n',
        ),
        (
            '[permissions]\nallow = [\n  "Read",\n  "Edit" # last\n]\n',
            '[permissions]\nallow = [\n  "Read",\n  "Edit", # last\n  "Bash(git diff:*)",\n]\n',
        ),
        ('permissions.allow = ["Read"]\n', 'permissions.allow = ["Read", "Bash(git diff:*)"]\n'),
        ('permissions.mode = "plan"\n', 'permissions.allow = ["Bash(git diff:*)"]\npermissions.mode = "plan"\n'),
        ('permissions = { allow = ["Read"] }\n', 'permissions = { allow = ["Read", "Bash(git diff:*)"] }\n'),
        ('permissions = { mode = "plan" }\n', 'permissions = { allow = ["Bash(git diff:*)"], mode = "plan" }\n'),
        ('[other]\nallow = ["x"]\n', '[other]\nallow = ["x"]\n\n[permissions]\nallow = ["Bash(git diff:*)"]\n'),
        ("[permissions]\r\nallow = []\r\n", '[permissions]\r\nallow = ["Bash(git diff:*)"]\r\n'),
    ],
)
def test_a_rule_finds_its_place_and_nothing_else_moves(before: str, after: str) -> None:
    added = with_allow_rule(before, _RULE, name="settings.toml")
    assert added == after
    assert with_allow_rule(added, _RULE, name="settings.toml") == added


@requirement("permissions:granted-rules")
@given(st.lists(st.text(max_size=12), max_size=4), st.text(min_size=1, max_size=20))
def test_any_rule_is_added_to_any_list(rules: list[str], rule: str) -> None:
    if any("\x7f" in text or "\ud800" <= text <= "\udfff" for text in (*rules, rule)):
        return
    before = f"# top\n[permissions]\nallow = {json.dumps(rules, ensure_ascii=True)} # end\ndeny = ['x']\n"
    try:
        tomllib.loads(before)
    except tomllib.TOMLDecodeError:  # JSON writes some characters as pairs, which TOML does not know
        return
    after = with_allow_rule(before, rule, name="settings.toml")
    expected = rules if rule in rules else [*rules, rule]
    assert tomllib.loads(after)["permissions"] == {"allow": expected, "deny": ["x"]}
    assert after.startswith("# top\n[permissions]\n")
    assert after.endswith(" # end\ndeny = ['x']\n")


@requirement("permissions:granted-rules")
def test_rules_are_kept_privately(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    local = write_rule(_RULE, RuleScope.LOCAL, places=places(tmp_path), project=project, now=_NOW)
    user = write_rule("Read(~/notes/**)", RuleScope.USER, places=places(tmp_path), project=project, now=_NOW)
    assert local == project / ".reverie/settings.local.toml"
    assert tomllib.loads(local.read_text(encoding="utf-8")) == {"permissions": {"allow": [_RULE]}}
    assert user == tmp_path / "home/.reverie/settings.toml"
    assert not (project / ".reverie/settings.toml").exists()
    assert [path.name for path in (project / ".reverie").iterdir()] == ["settings.local.toml"]


@requirement("permissions:granted-rules")
def test_nothing_is_written_to_what_others_get(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with pytest.raises(UserMistake, match="shared with others"):
        write_rule(
            _RULE, RuleScope.LOCAL, places=places(tmp_path), project=project, now=_NOW, is_tracked=lambda _: True
        )
    (tmp_path / "elsewhere").mkdir()
    (project / ".reverie").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserMistake, match="shared with others"):
        write_rule(_RULE, RuleScope.LOCAL, places=places(tmp_path), project=project, now=_NOW)
    assert not any((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("text", ["[permissions\n", "permissions = 3\n", "[permissions]\nallow = 'x'\n"])
def test_a_file_that_cannot_be_added_to_stays_as_it_is(tmp_path: Path, text: str) -> None:
    project = tmp_path / "project"
    file = project / ".reverie/settings.local.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserMistake, match=r"settings\.local\.toml"):
        write_rule(_RULE, RuleScope.LOCAL, places=places(tmp_path), project=project, now=_NOW)
    assert file.read_text(encoding="utf-8") == text


def test_a_rule_that_cannot_be_read_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(UserMistake):
        write_rule("Bash(", RuleScope.USER, places=places(tmp_path), project=tmp_path, now=_NOW)
    assert not (tmp_path / "home").exists()


@requirement("permissions:granted-rules")
def test_several_processes_lose_no_rule(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(_grant, [(tmp_path, f"Bash(command-{number})") for number in range(12)])
    text = (tmp_path / "home/.reverie/settings.toml").read_text(encoding="utf-8")
    assert sorted(tomllib.loads(text)["permissions"]["allow"]) == sorted(
        f"Bash(command-{number})" for number in range(12)
    )


def _grant(tmp_path: Path, rule: str) -> None:
    write_rule(rule, RuleScope.USER, places=places(tmp_path), project=tmp_path, now=_NOW)


@requirement("permissions:granted-rules")
def test_a_kill_leaves_a_file_that_can_be_read(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from tests.permissions.test_rules_file import _grant\n"
        "for number in range(100000):\n"
        "    _grant(Path(sys.argv[1]), f'Bash(command-{number})')\n"
        "    print(number, flush=True)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    for turn in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), root], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(5 + turn):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        text = (tmp_path / "home/.reverie/settings.toml").read_text(encoding="utf-8")
        assert len(tomllib.loads(text)["permissions"]["allow"]) >= 5
