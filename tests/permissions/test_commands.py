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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="module")
def policy(project: Path) -> Policy:
    return make_policy(project)


@requirement("permissions:shell:read-only", "permissions:shell:hostile")
@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.command)
def test_a_command_is_known_to_only_read_or_not(row: Row, project: Path) -> None:
    if row.verdict == "deny":  # whether it reads is told in other rows
        return
    assert is_read_only(row.command, project) is row.reads


@requirement("permissions:rules:compound", "permissions:reasons")
@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.command)
def test_a_command_gets_its_verdict(row: Row, project: Path, policy: Policy) -> None:
    decision = decide(run(row.command, project), policy)
    assert decision.verdict == row.verdict, decision
    assert decision.reason.endswith("."), decision


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
