from __future__ import annotations

from pathlib import Path

import pytest

from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Mode, Policy
from reverie.permissions.rule import RuleKind
from reverie.permissions.suggestions import suggestions
from tests.permissions.table import make_policy, make_project, rows, run
from tests.requirements import requirement

_ASKED = [row.command for row in rows() if row.verdict == "ask"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("suggesting"))


@pytest.fixture
def policy(project: Path) -> Policy:
    return Policy(project=project, home=project.parent / "home", roots=(project,))


@requirement("permissions:suggestions")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make", ("Bash(make)",)),
        ("make test", ("Bash(make test)", "Bash(make test:*)")),
        ("cargo build --release", ("Bash(cargo build --release)", "Bash(cargo build:*)")),
        ("npm run build -- -x", ("Bash(npm run build -- -x)", "Bash(npm run build:*)")),
        ("touch x", ("Bash(touch x)", "Bash(touch:*)")),
        ("ls && touch x", ("Bash(ls && touch x)", "Bash(touch:*)")),
        ("touch *.py", ("Bash(touch \\*.py)", "Bash(touch:*)")),
        ("python x.py", ("Bash(python x.py)", "Bash(python x.py:*)")),
        ("python -m pytest -q", ("Bash(python -m pytest -q)", "Bash(python -m pytest:*)")),
        ("pytest -q tests/a.py", ("Bash(pytest -q tests/a.py)", "Bash(pytest:*)")),
        ("cd src && npx tsc --noEmit", ("Bash(cd src && npx tsc --noEmit)", "Bash(npx tsc:*)")),
        ("node -e x", ("Bash(node -e x)",)),
        ("python -c x", ("Bash(python -c x)",)),
        ("python", ("Bash(python)",)),
        ("sudo ls", ("Bash(sudo ls)",)),
        ("touch x; mkdir y", ("Bash(touch x; mkdir y)",)),
        ("touch 'x", ()),
        ("ls > .git/config", ()),
        ("PATH=. touch x", ("Bash(PATH=. touch x)",)),
        ("$X", ("Bash($X)",)),
    ],
)
def test_commands_get_the_narrowest_rule_first(
    policy: Policy, project: Path, command: str, expected: tuple[str, ...]
) -> None:
    assert suggestions(run(command, project), policy) == expected


@requirement("permissions:suggestions")
@pytest.mark.parametrize(
    "command", ["rm -rf x", "bash -c x", "python3 -c x", "xargs x", "env x", "curl http://a", "find . -delete"]
)
def test_programs_that_can_do_anything_are_never_allowed_by_prefix(policy: Policy, project: Path, command: str) -> None:
    assert suggestions(run(command, project), policy) == (f"Bash({command})",)


@requirement("permissions:suggestions")
def test_what_is_suggested_settles_this_question(project: Path) -> None:
    policy = make_policy(project)
    wrong = []
    for command in _ASKED:
        for text in suggestions(run(command, project), policy):
            allowing = policy.with_rule(text)
            here = decide(run(command, project), allowing).verdict
            beside = decide(run(f"{command}\nworse", project), allowing).verdict
            if here is not PermissionVerdict.ALLOW or beside is PermissionVerdict.ALLOW:
                wrong.append((command, text, here, beside))
    assert wrong == []


@requirement("permissions:suggestions")
def test_files_are_named_from_the_project_from_home_or_from_the_root(policy: Policy, project: Path) -> None:
    inside = Need("Write", Act.EDIT, paths=(project / "src/a[1].py",))
    assert suggestions(inside, policy) == ("Edit(/src/a\\[1\\].py)", "Edit(/src/**)")
    at_home = Need("Read", Act.READ, paths=(policy.home / "notes/x",))
    assert suggestions(at_home, policy) == ("Read(~/notes/x)", "Read(~/notes/**)")
    other = (project.parent / "other").resolve()
    through_link = Need("Read", Act.READ, paths=(project / "out/passwd",))
    assert suggestions(through_link, policy) == (f"Read(/{other}/passwd)", f"Read(/{other}/**)")
    assert suggestions(Need("Edit", Act.EDIT, paths=(project / ".git/config",)), policy) == ()


@requirement("permissions:suggestions")
def test_other_tools_are_named_with_what_they_would_touch(policy: Policy) -> None:
    assert suggestions(Need("WebFetch", Act.FETCH, url="https://a.example/x"), policy) == (
        "WebFetch(domain:a.example)",
    )
    assert suggestions(Need("WebFetch", Act.FETCH, url="nonsense"), policy) == ()
    assert suggestions(Need("mcp__my_server__do_it", Act.OTHER), policy) == ("mcp__my_server__do_it", "mcp__my_server")
    assert suggestions(Need("Agent", Act.OTHER, subject="Explore"), policy) == ("Agent(Explore)", "Agent")


def test_where_no_rule_helps_none_is_offered(policy: Policy, project: Path) -> None:
    assert suggestions(run("make", project), policy.with_rule("Bash", RuleKind.ASK)) == ()
    assert suggestions(run("make", project), policy.with_mode(Mode.PLAN)) == ()
