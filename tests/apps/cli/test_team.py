"""`reverie team` by two people with a home each, over a bare repository."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement
from tests.team_server import running_server

SAVE = ("save", "--team", "--type", "project", "--name", "Database tests", "--json")
SAVE_TEXT = ("--description", "Integration tests need the compose database", "--body", "We start it with compose.")


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    path = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    return path


def hire(tmp_path: Path, name: str) -> Terminal:
    home, project = tmp_path / name / "home", tmp_path / name / "project"
    home.mkdir(parents=True)
    project.mkdir()
    (home / ".gitconfig").write_text(f"[user]\n\tname = {name}\n\temail = {name}@example.org\n", encoding="utf-8")
    return Terminal(home, project)


@requirement("team:sync:two-people", "team:consent", "team:attribution")
def test_from_nothing_to_sharing(tmp_path: Path, remote: Path) -> None:
    ada, bob = hire(tmp_path, "Ada"), hire(tmp_path, "Bob")
    joined = ada.run("team", "join", str(remote), "--json")
    assert joined.document == {
        "pulled": [], "pushed": [], "deleted": [], "conflicts": [], "refused": [], "remote": str(remote), "repo": None,
        "name": "Ada",
    }  # fmt: skip
    saved = ada.run(*SAVE, *SAVE_TEXT).document
    assert saved["warnings"] == ["not shared yet: run `reverie team status`, then `reverie team push`"]
    status = ada.run("team", "status", "--json").document
    assert status["outgoing"] == [
        {
            "path": "project_database_tests.md",
            "change": "new",
            "name": "Database tests",
            "author": "Ada",
            "trust": "said",
        }
    ]
    refused = ada.run("team", "push")
    assert (refused.code, "team push --yes" in refused.err) == (1, True)
    assert ada.run("team", "push", "--yes", "--json").document["pushed"] == ["project_database_tests.md"]

    assert bob.run("team", "join", str(remote), "--json").document["pulled"] == ["project_database_tests.md"]
    (hit,) = bob.run("recall", "which database do integration tests need", "--json").document["hits"]
    assert hit["trust"] == "said by Ada (team)"
    assert "said by Ada (team)" in bob.run("list").out
    assert "said by Ada (team)" in bob.run("show", "Database tests").out
    assert bob.run("why", "Database tests", "--json").document["trust"] == "said by Ada (team)"
    assert ada.run("show", "Database tests", "--json").document["trust"] == "said"

    # Once agreed, `save --team` sends at once, and a removal travels too.
    assert ada.run("save", "--team", "We deploy on Mondays.", "--json").document["warnings"] == []
    assert len(bob.run("team", "pull", "--json").document["pulled"]) == 1
    assert ada.run("forget", "Database tests").code == 0
    assert ada.run("team", "push").out == "deleted   project_database_tests.md\n"
    assert bob.run("team", "pull", "--json").document["deleted"] == ["project_database_tests.md"]
    assert bob.run("team", "pull").out == "up to date\n"
    assert bob.run("team", "leave").code == 0
    assert bob.run("team", "pull").code == 2


@requirement("team:scope", "team:commands")
def test_refusals_name_the_next_step(tmp_path: Path, remote: Path) -> None:
    ada = hire(tmp_path, "Ada")
    about_me = ada.run("save", "--team", "--type", "user", "--name", "Me", "--description", "Writes Go")
    assert (about_me.code, "save it without --team" in about_me.err) == (2, True)
    assert "not shared yet: run `reverie team join REMOTE`" in ada.run(*SAVE[:-1], *SAVE_TEXT).err
    for command in ("pull", "push", "watch"):
        ran = ada.run("team", command)
        assert (ran.code, "reverie team join REMOTE" in ran.err) == (2, True), command
    assert ada.run("team", "status", "--json").document["remote"] is None
    (ada.home / ".gitconfig").unlink()
    nameless = ada.run("team", "join", str(remote))
    assert (nameless.code, "git config --global user.name" in nameless.err) == (2, True)
    assert ada.run("team", "join", str(remote), "--name", "Ada", "--user").code == 2
    assert ada.run("team", "join", str(remote), "--name", "Ada").code == 0
    other = ada.run("team", "join", str(ada.project))
    assert (other.code, "reverie team leave" in other.err) == (2, True)
    remote.rename(remote.with_name("away.git"))
    away = ada.run("team", "pull")
    assert (away.code, f"git ls-remote {remote}" in away.err) == (1, True)
    assert ada.run("recall", "compose database", "--json").document["hits"]


@requirement("team:consent")
def test_the_first_push_asks_once_in_a_terminal(tmp_path: Path, remote: Path) -> None:
    ada = hire(tmp_path, "Ada")
    ada.run("team", "join", str(remote))
    ada.run(*SAVE, *SAVE_TEXT)
    environment = {"PATH": os.environ["PATH"], "HOME": str(ada.home), "NO_COLOR": "1"}

    def push(answer: bytes) -> tuple[int, str]:
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "reverie", "team", "push"]
        with subprocess.Popen(
            command, cwd=ada.project, env=environment, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            os.write(master, answer)
            out, _ = process.communicate(timeout=60)
        os.close(master)
        os.close(slave)
        return process.returncode, out.decode()

    code, out = push(b"n\n")
    assert (code, "Share these" in out, "Database tests" in out) == (1, True, True)
    assert push(b"y\n")[0] == 0
    code, out = push(b"")
    assert (code, "Share these" in out) == (0, False)


@requirement("team:sync:killed")
def test_a_push_that_is_killed_loses_nothing(tmp_path: Path, remote: Path, *, thorough: bool) -> None:
    ada, bob = hire(tmp_path, "Ada"), hire(tmp_path, "Bob")
    ada.run("team", "join", str(remote))
    ada.run(*SAVE, *SAVE_TEXT)
    ada.run("team", "push", "--yes")
    bob.run("team", "join", str(remote))
    environment = {"PATH": os.environ["PATH"], "HOME": str(ada.home)}
    names = []
    for number in range(60 if thorough else 6):
        names.append(f"Rule {number}")
        ada.run("save", "--type", "project", "--name", f"Rule {number}", "--description", f"number {number}")
        private = next((ada.home / ".reverie").rglob(f"project_rule_{number}.md"))
        private.rename(private.parent / "team" / private.name)
        command = [sys.executable, "-m", "reverie", "team", "push"]
        with subprocess.Popen(
            command, cwd=ada.project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(0.25 + 0.07 * (number % 12))
            process.send_signal(signal.SIGKILL)
    assert ada.run("team", "push").code == 0
    bob.run("team", "pull")

    assert {row["name"] for row in bob.run("list", "--json").document} == {"Database tests", *names}
    assert ada.run("team", "status", "--json").document["outgoing"] == []
    assert not list((ada.home / ".reverie").rglob("*.conflict"))


@requirement("team:watch")
def test_watch_runs_until_it_is_interrupted(tmp_path: Path, remote: Path) -> None:
    ada = hire(tmp_path, "Ada")
    ada.run("team", "join", str(remote))
    environment = {"PATH": os.environ["PATH"], "HOME": str(ada.home)}
    with subprocess.Popen(
        [sys.executable, "-m", "reverie", "team", "watch"], cwd=ada.project, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("reverie: watching ")
        assert "team push" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        # Seen once as -2, Python ending by the signal itself, perhaps interrupted in an import; a shell calls both 130.
        assert process.wait(30) in {130, -signal.SIGINT}


@requirement("team:http:join", "team:http:token", "team:sync:two-people")
def test_two_people_share_over_a_server(tmp_path: Path) -> None:
    ada, bob = hire(tmp_path, "Ada"), hire(tmp_path, "Bob")
    with running_server(tmp_path / "server") as server:
        token = tmp_path / "token"
        token.write_text(f"{server.token('Ada L.')}\n", encoding="utf-8")
        joined = ada.run(
            "team", "join", server.url, "--repo", "acme/app", "--token-file", str(token), "--json"
        ).document
        assert (joined["remote"], joined["repo"], joined["name"]) == (server.url, "acme/app", "Ada L.")
        ada.run(*SAVE, *SAVE_TEXT)
        assert ada.run("team", "push", "--yes").out == "pushed    project_database_tests.md\n"
        pulled = bob.run("team", "join", server.url, "--repo", "acme/app", "--json", REVERIE_TEAM_TOKEN=server.token())
        assert pulled.document["pulled"] == ["project_database_tests.md"]
        assert "said by Ada L. (team)" in bob.run("list").out
        both = ada.run("team", "join", server.url, "--token", "x", "--token-file", str(token))
        assert (both.code, "give one" in both.err) == (2, True)
    away = ada.run("team", "pull")
    assert (away.code, "cannot reach" in away.err) == (1, True)
    shown = ada.run("team", "status", "--json").document["problems"]
    assert [problem["cause"] for problem in shown] == ["unreachable"]
    assert "not in sync since" in ada.run("team", "status").err
    assert ada.run("team", "leave").code == 0
    assert not any((ada.home / ".reverie" / "team-tokens").iterdir())
