from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.errors import Damaged
from reverie.files.trust import TrustAnswers, TrustKind, TrustPart, read_trust, remove_answers, write_answers
from reverie.settings import load as config
from reverie.settings.load import parts_of_settings
from tests.requirements import requirement

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HOOKS = TrustPart(TrustKind.HOOKS, ".claude/settings.json:3", '{"Stop": []}')


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "home" / "trust.json"


@requirement("trust:first-use")
def test_nothing_is_trusted_before_it_was_asked(store: Path, tmp_path: Path) -> None:
    trust = read_trust(store, tmp_path)

    assert not trust.accepts(HOOKS)
    assert trust.waiting([HOOKS, HOOKS]) == (HOOKS,)


@requirement("trust:first-use", "trust:change")
def test_a_yes_holds_for_this_text_wherever_it_stands(store: Path, tmp_path: Path) -> None:
    write_answers(store, tmp_path, [HOOKS], accepted=True, now=NOW)

    trust = read_trust(store, tmp_path)

    assert trust.accepts(TrustPart(TrustKind.HOOKS, "elsewhere:9", HOOKS.text))
    assert not trust.accepts(TrustPart(TrustKind.HOOKS, HOOKS.place, HOOKS.text + " "))
    assert not trust.accepts(TrustPart(TrustKind.SERVER, HOOKS.place, HOOKS.text))
    assert trust.waiting([HOOKS]) == ()


@requirement("trust:refusal")
def test_a_no_is_not_asked_again_and_can_be_taken_back(store: Path, tmp_path: Path) -> None:
    write_answers(store, tmp_path, [HOOKS], accepted=False, now=NOW)
    trust = read_trust(store, tmp_path)
    assert (trust.accepts(HOOKS), trust.waiting([HOOKS])) == (False, ())

    write_answers(store, tmp_path, [HOOKS], accepted=True, now=NOW)
    assert read_trust(store, tmp_path).accepts(HOOKS)

    assert remove_answers(store, tmp_path, now=NOW)
    assert not remove_answers(store, tmp_path, now=NOW)
    assert read_trust(store, tmp_path) == TrustAnswers()


@requirement("trust:elsewhere")
def test_answers_belong_to_one_project_and_all_its_work_trees(store: Path, tmp_path: Path) -> None:
    main, tree, other = tmp_path / "main", tmp_path / "tree", tmp_path / "other"
    other.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.test", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)

    write_answers(store, main, [HOOKS], accepted=True, now=NOW)

    assert read_trust(store, tree).accepts(HOOKS)
    assert not read_trust(store, other).accepts(HOOKS)
    assert subprocess.run([*git, "status", "--short"], capture_output=True, check=True).stdout == b""


@requirement("trust:first-use")
def test_settings_of_the_project_that_wait_for_trust_are_parts(tmp_path: Path) -> None:
    def load(*, tracked: bool) -> tuple[TrustPart, ...]:
        loaded = config.load(
            config.SettingsFlags(),
            environ={},
            user_home=tmp_path,
            directory=tmp_path / "project",
            is_tracked=lambda _: tracked,
            trusted=True,
        )
        return parts_of_settings(loaded.origins)

    theirs = {"permissions": {"allow": ["Bash(make:*)"], "deny": ["Read"]}, "hooks": {"Stop": []}, "agents": {"a": {}}}
    mine = {"permissions": {"additionalDirectories": ["../x"]}}
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / ".claude" / "settings.json").write_text(json.dumps(theirs), encoding="utf-8")
    (tmp_path / "project" / ".claude" / "settings.local.json").write_text(json.dumps(mine), encoding="utf-8")

    expected = {TrustKind.ALLOW: '["Bash(make:*)"]', TrustKind.AGENTS: '{"a": {}}', TrustKind.DIRECTORIES: '["../x"]'}
    assert {part.kind: part.text for part in load(tracked=False)} == expected
    assert {part.kind: part.text for part in load(tracked=True)} == expected


@requirement("trust:damage")
@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 2, "projects": {}}', '{"version": 1, "projects": [1]}']
)
def test_a_damaged_store_trusts_nothing_and_is_kept(store: Path, tmp_path: Path, content: str) -> None:
    store.parent.mkdir()
    store.write_text(content, encoding="utf-8")

    trust = read_trust(store, tmp_path)

    assert not trust.accepts(HOOKS)
    assert str(store) in trust.problem
    with pytest.raises(Damaged):
        write_answers(store, tmp_path, [HOOKS], accepted=True, now=NOW)
    assert store.read_text(encoding="utf-8") == content


@requirement("trust:damage")
def test_a_kill_leaves_the_old_answers_or_the_new(store: Path, tmp_path: Path) -> None:
    write_answers(store, tmp_path, [HOOKS], accepted=True, now=NOW)
    code = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from reverie.files.trust import TrustPart, write_answers\n"
        "now, store, project = datetime(2026, 1, 1, tzinfo=UTC), Path(sys.argv[1]), Path(sys.argv[2])\n"
        "for n in range(10**6):\n"
        "    write_answers(store, project, [TrustPart('hooks', 'p', str(n))], accepted=True, now=now)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(store), str(tmp_path)])
    first = TrustPart(TrustKind.HOOKS, "p", "0")
    deadline = time.monotonic() + 30
    while not read_trust(store, tmp_path).accepts(first) and time.monotonic() < deadline:
        time.sleep(0.01)
    writer.send_signal(signal.SIGKILL)
    writer.wait()

    trust = read_trust(store, tmp_path)

    assert trust.problem == ""
    assert trust.accepts(HOOKS)
    assert trust.accepts(first)
