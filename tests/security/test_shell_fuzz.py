"""Commands that are judged to only read are run, beside everything that waits to be started, changed or seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Policy
from tests.requirements import requirement
from tests.security.fuzz_place import OUTSIDE, Place, no_repository, ordinary, place
from tests.security.hostile import Trap
from tests.security.hostile_git import HOSTILE, LEADING_ELSEWHERE
from tests.security.shell_fuzz import Commands

_BATCH = 50
_PLACES = (ordinary, no_repository, *HOSTILE, *LEADING_ELSEWHERE)


def is_allowed(command: str, there: Place) -> bool:
    project = there.made.project
    policy = Policy(project, there.home, roots=(project,))
    need = Need("Bash", Act.RUN, command=command, directory=there.directory)
    return decide(need, policy).verdict is PermissionVerdict.ALLOW


def harm(commands: Sequence[str], there: Place) -> Iterator[str]:
    """What commands did that reading does not do."""
    before = there.state()
    printed = [there.run(command) for command in commands]
    after = there.state()
    if any(OUTSIDE.encode() in each for each in printed):
        yield "saw what lies outside"
    if there.made.sprung:
        yield f"started {there.made.sprung}"
    elif before != after:
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        yield f"changed {sorted(changed)[:5]}"


def harmful(commands: Sequence[str], folder: Path, build: Callable[[Trap], Path]) -> tuple[int, list[str]]:
    """How many of these commands are allowed in a place, and which of them do harm there."""
    there = place(folder, build)
    allowed = [command for command in commands if is_allowed(command, there)]
    found: list[str] = []
    for start in range(0, len(allowed), _BATCH):
        batch = allowed[start : start + _BATCH]
        together = list(harm(batch, there))
        if together:
            # One after the other, each in a new place, to name it.
            named = [f"{one!r} {what}" for one in batch for what in harm([one], place(folder, build))]
            found += named or [f"{batch} {what}" for what in together]
            there = place(folder, build)
    return len(allowed), found


@requirement("permissions:shell:executed")
@pytest.mark.parametrize("build", [ordinary, no_repository], ids=lambda build: build.__name__)
def test_what_is_judged_to_only_read_only_reads(
    tmp_path: Path, build: Callable[[Trap], Path], *, thorough: bool
) -> None:
    rounds, count = (8, 4000) if thorough else (1, 300)
    for seed in range(rounds):
        made = Commands(seed)
        allowed, found = harmful([made.command() for _ in range(count)], tmp_path / "place", build)
        assert not found, f"seed {seed}:\n" + "\n".join(found)
        assert allowed > count // 20, "most commands are asked about, so the others show nothing"


@requirement("permissions:shell:executed", "security:repository:git-by-git")
@pytest.mark.parametrize("build", [*HOSTILE, *LEADING_ELSEWHERE], ids=lambda build: build.__name__)
def test_what_is_judged_to_only_read_only_reads_in_a_hostile_repository(
    tmp_path: Path, build: Callable[[Trap], Path], *, thorough: bool
) -> None:
    made = Commands(_PLACES.index(build), git_share=0.8)
    commands = [made.command() for _ in range(1000 if thorough else 25)]
    _, found = harmful(commands, tmp_path / "place", build)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "command",
    [
        "printf 'aaa%n' PATH",
        "sed -n 's/[]/]/g;/e;s/p;/a/p' a.txt",
        "git config --global --list",
        "cat link.txt",
        "ls > made.txt",
        "for PATH in bin; do ls; done",
        "bin/ls",
        "git -c alias.evil='!./evil' evil",
        "git branch made",
    ],
)
def test_harm_would_be_seen(tmp_path: Path, command: str) -> None:
    """The traps are some: each of these is asked about, and does harm when it is run all the same."""
    there = place(tmp_path / "place", ordinary)

    assert not is_allowed(command, there)
    assert list(harm([command], there))
