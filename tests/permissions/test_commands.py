from __future__ import annotations

from pathlib import Path

import pytest

from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.policy import Policy
from reverie.permissions.shell.parse import parse
from reverie.permissions.shell.read_only import is_read_only
from tests.permissions.table import Row, make_policy, make_project, rows, run
from tests.requirements import requirement

_ROWS = rows()
_SECTIONS = sorted({row.section for row in _ROWS})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="module")
def policy(project: Path) -> Policy:
    return make_policy(project)


def _in_section(section: str) -> list[Row]:
    return [row for row in _ROWS if row.section == section]


@requirement("permissions:shell:read-only", "permissions:shell:hostile")
@pytest.mark.parametrize("section", _SECTIONS)
def test_a_command_is_known_to_only_read_or_not(section: str, project: Path) -> None:
    judged = [row for row in _in_section(section) if row.verdict != "deny"]  # whether those read is told in other rows
    assert [row.command for row in judged if is_read_only(row.command, project) is not row.reads] == []


@requirement("permissions:rules:compound", "permissions:reasons")
@pytest.mark.parametrize("section", _SECTIONS)
def test_a_command_gets_its_verdict(section: str, project: Path, policy: Policy) -> None:
    decisions = [(row, decide(run(row.command, project), policy)) for row in _in_section(section)]
    assert [(row.command, decision) for row, decision in decisions if decision.verdict != row.verdict] == []
    assert [decision for _, decision in decisions if not decision.reason.endswith(".")] == []


@requirement("permissions:shell:hostile")
def test_what_cannot_be_parsed_is_never_allowed(project: Path, policy: Policy) -> None:
    broken = [row.command for row in _ROWS if parse(row.command).is_broken]
    assert len(broken) >= 10
    everything = policy.with_rule("Bash")
    assert all(decide(run(command, project), everything).verdict is not PermissionVerdict.ALLOW for command in broken)


@requirement("permissions:shell:hostile")
@pytest.mark.parametrize(
    "command",
    [
        "find . " + "-name x -o " * 1700 + "-name y",
        "cd a; " * 3000,
        "xargs " + "echo " * 3000,
        "bash -c '" + "bash -c x; " * 1500 + "'",
        "$(" * 3000,
        "'" * 20_001,
        "ls " + "*" * 19_000,
        "a" * 1_000_000,
    ],
    ids=lambda command: command[:20],
)
@pytest.mark.timeout(30)
def test_no_command_keeps_the_judge_busy(command: str, project: Path, policy: Policy) -> None:
    assert decide(run(command, project), policy).verdict is not PermissionVerdict.DENY


def test_the_table_is_large_and_hostile_enough() -> None:
    assert len({row.command for row in _ROWS}) >= 300
    assert sum(row.section.startswith("hostile") for row in _ROWS) >= 120
