from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.apps.cli.conftest import Terminal
from tests.apps.cli.test_program import imported_by
from tests.requirements import requirement
from tests.session.sessions import hold

SAVE = ("save", "--type", "project", "--name", "Kiwi server", "--description", "Where the kiwi server runs")
BODY = "It listens on port 8099 in Frankfurt."


def save(terminal: Terminal, *more: str) -> Any:
    ran = terminal.run(*SAVE, "--body", BODY, "--json", *more)
    assert ran.code == 0, ran.err
    return ran.document


@requirement("cli:memory:json")
def test_save_prints_path_name_and_commit(terminal: Terminal) -> None:
    document = save(terminal)

    assert document.keys() >= {"path", "name", "commit"}
    assert document["name"] == "Kiwi server"
    assert BODY in Path(document["path"]).read_text(encoding="utf-8")
    assert terminal.run("log", "--json").document[0]["commit"] == document["commit"]


@requirement("cli:memory:json")
def test_the_body_may_be_piped_and_may_be_missing(terminal: Terminal) -> None:
    piped = terminal.run(*SAVE, "--json", stdin="From a pipe.\n").document
    assert "From a pipe." in Path(piped["path"]).read_text(encoding="utf-8")

    empty = terminal.run("save", "--type", "user", "--name", "Me", "--description", "Writes Go", "--json").document
    assert terminal.run("show", "Me", "--json").document["body"] == ""
    assert empty["commit"]


@requirement("cli:memory:json")
def test_save_takes_situations_anchors_and_dates(terminal: Terminal) -> None:
    (terminal.project / "kiwi.py").write_text("PORT = 1\n", encoding="utf-8")
    flags = ["--when", "*.sql", "--when", "tool:psql", "--when", "task:test", "--when", "word:kiwi"]
    flags += ["--when", "release notes", "--when", "git", "--asks", "which box answers", "--asks", "restart it"]
    flags += ["--anchor", "kiwi.py", "--anchor", "https://kiwi.example", "--about", "Ada"]
    flags += [
        "--observed",
        "2026-03-01",
        "--expires",
        "2030-01-01",
        "--quote",
        "it is there",
        "--session",
        "s1",
        "--pin",
    ]
    save(terminal, *flags)

    shown = terminal.run("show", "Kiwi server", "--json").document

    when = {"files": ["*.sql"], "tools": ["psql", "git"], "tasks": ["test"], "words": ["kiwi", "release notes"]}
    assert shown["when"] == {"always": False} | when
    assert shown["asks"] == ["which box answers", "restart it"]
    assert "asks: restart it" in terminal.run("show", "Kiwi server").out
    assert shown["anchors"] == ["kiwi.py", "https://kiwi.example"]
    assert (shown["observed"], shown["expires"], shown["about"]) == ("2026-03-01", "2030-01-01", ["Ada"])
    assert shown["sources"] == [{"session": "s1", "message": None, "quote": "it is there"}]
    assert shown["pinned"]
    assert shown["trust"] == "said"


@requirement("memory:asks")
def test_too_many_asks_are_a_usage_error(terminal: Terminal) -> None:
    ran = terminal.run(*SAVE, "--body", BODY, *(f"--asks=ask {number}" for number in range(6)))

    assert (ran.code, "up to 5" in ran.err) == (2, True)


@requirement("cli:memory:json")
def test_recall_prints_hits_with_everything_that_is_promised(terminal: Terminal) -> None:
    path = save(terminal)["path"]

    document = terminal.run("recall", "where does the kiwi server run", "--json").document

    assert document.keys() >= {"hits", "took_ms", "searched"}
    assert document["searched"] == 1
    (hit,) = document["hits"]
    promised = {"path", "name", "type", "description", "score", "why", "age_days", "trust", "anchors", "shown", "text"}
    assert hit.keys() >= promised
    assert hit["shown"] == "whole"
    assert (hit["path"], hit["type"], hit["age_days"], hit["trust"]) == (path, "project", 0, "said")
    assert BODY in hit["text"]
    assert "kiwi" in hit["why"]
    nothing = terminal.run("recall", "translate this poem into Latin", "--json")
    assert (nothing.code, nothing.document["hits"]) == (0, [])


@requirement("recall:edits-visible")
def test_a_hand_edit_is_recalled_by_the_next_command_and_committed(terminal: Terminal) -> None:
    directory = Path(save(terminal)["path"]).parent
    (directory / "mango.md").write_text("# Mango\n\nThe mango queue is drained nightly.\n", encoding="utf-8")

    hits = terminal.run("recall", "mango queue drained nightly", "--fresh", "--json").document["hits"]

    assert [Path(hit["path"]).name for hit in hits] == ["mango.md"]
    git_log = subprocess.run(
        ["git", "log", "--format=%an %s"], cwd=directory, capture_output=True, text=True, check=True
    )
    assert git_log.stdout.splitlines()[0] == "unknown edited outside Reverie"
    assert terminal.run("log", "mango.md", "--json").document[0]["author"] == "unknown"


@requirement("cli:memory:json")
def test_list_and_show_print_the_contracts_keys_and_filters_work(terminal: Terminal) -> None:
    save(terminal)
    terminal.run("save", "--type", "feedback", "--name", "Terse", "--description", "Short answers", "--pin")
    terminal.run("save", "--type", "user", "--name", "Me", "--description", "Writes Go", "--user")
    keys = {"path", "name", "type", "description", "observed", "trust", "pinned"}

    rows = terminal.run("list", "--json").document

    assert all(row.keys() >= keys for row in rows)
    assert [(row["name"], row["scope"]) for row in rows] == [
        ("Terse", "project"),
        ("Kiwi server", "project"),
        ("Me", "user"),
    ]
    assert [row["name"] for row in terminal.run("list", "--pinned", "--json").document] == ["Terse"]
    assert [row["name"] for row in terminal.run("list", "--type", "project", "--json").document] == ["Kiwi server"]
    assert [row["name"] for row in terminal.run("list", "--user", "--json").document] == ["Me"]
    shown = terminal.run("show", rows[1]["path"], "--json").document
    assert shown.keys() >= keys | {"body", "sources"}
    assert shown["body"] == BODY
    assert terminal.run("show", "Me", "--json").document["scope"] == "user"
    assert terminal.run("why", "Me", "--json").document["trust"] == "said"
    assert len(terminal.run("log", "Me", "--json").document) == 1
    assert "Kiwi server" in terminal.run("list").out
    assert BODY in terminal.run("show", "Kiwi").out


@requirement("cli:memory:json")
def test_forget_pin_log_diff_why_and_undo_tell_one_story(terminal: Terminal) -> None:
    path = save(terminal, "--reason", "asked twice")["path"]
    terminal.run("recall", "where does the kiwi server run")
    pinned = terminal.run("pin", "Kiwi server", "--json").document
    forgotten = terminal.run("forget", "Kiwi server", "--reason", "moved", "--json").document

    assert pinned.keys() >= {"path", "commit"}
    assert forgotten == {"path": path, "commit": forgotten["commit"]}
    assert not Path(path).exists()
    rows = terminal.run("log", "Kiwi server", "--json").document
    assert all(row.keys() >= {"commit", "when", "author", "session", "reason", "paths"} for row in rows)
    assert [row["reason"] for row in rows] == ["moved", "pin project_kiwi_server.md", "asked twice"]
    assert {row["author"] for row in rows} == {"user"}
    assert f"-{BODY}" in terminal.run("diff", forgotten["commit"], "--json").document["diff"]
    why = terminal.run("why", "Kiwi server", "--json").document
    assert why.keys() >= {"sources", "trust", "recalled"}
    assert why["recalled"][0]["query"] == "where does the kiwi server run"

    undone = terminal.run("undo", forgotten["commit"], "--json")
    assert undone.code == 0
    assert undone.document.keys() >= {"commit", "paths", "conflicts"}
    assert undone.document["paths"] == ["project_kiwi_server.md"]
    assert BODY in Path(path).read_text(encoding="utf-8")


@requirement("cli:memory:json")
def test_an_undo_that_overlaps_fails_and_writes_nothing(terminal: Terminal) -> None:
    first = save(terminal)
    second = terminal.run(*SAVE, "--body", "It moved to Dublin.", "--json").document
    terminal.run(*SAVE, "--body", "It moved to Oslo.")
    before = Path(first["path"]).read_bytes()

    ran = terminal.run("undo", second["commit"], "--json")

    assert ran.code == 1
    assert ran.document["conflicts"] == ["project_kiwi_server.md"]
    assert Path(first["path"]).read_bytes() == before


@requirement("cli:memory:json")
def test_at_shows_memory_as_it_was(terminal: Terminal) -> None:
    save(terminal)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 1))
    today = moment[:10]

    assert terminal.run("at", "2020-01-01", "--json").document == []
    rows = terminal.run("at", today, "--json").document
    assert [row["name"] for row in rows] == ["Kiwi server"]
    assert terminal.run("at", moment, "Kiwi server", "--json").document["body"] == BODY
    assert terminal.run("show", "Kiwi server", "--at", today, "--json").document["body"] == BODY
    assert terminal.run("at", "2020-01-01", "Kiwi server").code == 2
    assert terminal.run("at", "yesterday", "--json").document == []
    assert terminal.run("at", "sometime").code == 2
    when = terminal.run("log", "--json").document[0]["when"]
    assert terminal.run("at", when, "Kiwi server", "--json").document["body"] == BODY
    assert terminal.run("show", "Kiwi server", "--at", when.replace("+00:00", "Z"), "--json").code == 0
    assert terminal.run("at", f"{today}T00:00:00", "--json").document == []


@requirement("cli:memory:json")
def test_erase_needs_a_yes_where_nobody_can_answer_and_takes_transcripts_along(terminal: Terminal) -> None:
    path = Path(save(terminal)["path"])
    transcript = path.parent.parent / "0d3b2f9e-0000-4000-8000-000000000000.jsonl"
    record = {"type": "user", "cwd": str(terminal.project), "message": {"role": "user", "content": f"Note: {BODY}"}}
    transcript.write_text(json.dumps(record) + "\n", encoding="utf-8")

    asked = terminal.run("erase", "Kiwi server")
    assert (asked.code, path.exists()) == (2, True)
    assert "--yes" in asked.err

    ran = terminal.run("erase", "Kiwi server", "--transcripts", "--yes", "--json")

    assert ran.code == 0
    assert ran.document.keys() >= {"commit", "paths", "conflicts"}
    assert ran.document["paths"] == ["project_kiwi_server.md"]
    assert "Frankfurt" not in transcript.read_text(encoding="utf-8")
    assert terminal.run("recall", "where does the kiwi server run", "--json").document["hits"] == []


@requirement("store:erase:redacts")
@pytest.mark.parametrize("flags", [(), ("--transcripts",)])
def test_erase_always_takes_spilled_results_along_and_notes_with_the_transcripts(
    terminal: Terminal, flags: tuple[str, ...]
) -> None:
    saved = save(terminal)
    session = Path(saved["path"]).parents[1] / "s1"
    said = {"type": "user", "uuid": "u1", "cwd": str(terminal.project), "message": {"content": BODY}}
    files = {"spill": session / "tool-results" / "t.txt", "notes": session / "session-memory" / "summary.md"}
    for file in files.values():
        file.parent.mkdir(parents=True)
        file.write_text(f"It said: {BODY}\n", encoding="utf-8")
    session.with_suffix(".jsonl").write_text(json.dumps(said) + "\n", encoding="utf-8")

    terminal.run("erase", "Kiwi server", "--yes", *flags)

    assert BODY not in files["spill"].read_text(encoding="utf-8")
    assert (BODY in files["notes"].read_text(encoding="utf-8")) is (not flags)
    assert (BODY in session.with_suffix(".jsonl").read_text(encoding="utf-8")) is (not flags)


@requirement("store:archive:out-of-sight")
def test_a_memory_is_retired_listed_and_brought_back(terminal: Terminal) -> None:
    save(terminal)

    retired = terminal.run("forget", "Kiwi server", "--archive", "--json").document

    assert BODY in Path(retired["path"]).read_text(encoding="utf-8")
    assert terminal.run("list", "--json").document == []
    assert [row["path"] for row in terminal.run("list", "--archived", "--json").document] == [retired["path"]]
    assert terminal.run("undo", retired["commit"]).code == 0
    assert terminal.run("show", "Kiwi server", "--json").document["body"] == BODY


@requirement("cli:memory:json")
def test_json_is_utf_8_whatever_the_locale_says(terminal: Terminal) -> None:
    said = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": "C"}
    terminal.run("save", "--type", "user", "--name", "Café", "--description", "Trinkt Tee 🍵", "--body", "…")

    (row,) = terminal.run("list", "--json", **said).document

    assert (row["name"], row["description"]) == ("Café", "Trinkt Tee 🍵")
    assert terminal.run("list", **said).code == 0


@requirement("places:identity:first-commit-suggests")
def test_an_empty_memory_names_those_of_repositories_that_began_alike(terminal: Terminal) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=terminal.project, check=True)
    there = Path(save(terminal)["path"]).parent
    fork = terminal.project.with_name("fork")
    subprocess.run(["git", "clone", "-q", str(terminal.project), str(fork)], check=True)
    subprocess.run(["git", "remote", "remove", "origin"], cwd=fork, check=True)

    ran = Terminal(terminal.home, fork).run("list")

    assert ran.out == ""
    assert str(there) in ran.err


@requirement("cli:memory:told")
def test_list_says_that_files_are_left_out(terminal: Terminal) -> None:
    directory = Path(save(terminal)["path"]).parent
    (directory / "bad.md").write_text("---\nname: [unclosed\n---\n", encoding="utf-8")

    ran = terminal.run("list", "--json")

    assert [row["name"] for row in ran.document] == ["Kiwi server"]
    assert "bad.md" in ran.err
    assert "reverie doctor" in ran.err


@requirement("memory:doctor", "cli:memory:json")
def test_doctor_lists_problems_and_fixes_what_is_safe(terminal: Terminal) -> None:
    directory = Path(save(terminal)["path"]).parent
    (directory / "bad.md").write_text("---\nname: [unclosed\n---\n", encoding="utf-8")
    (directory / ".reverie-0123456789abcdef").write_text("draft", encoding="utf-8")

    problems = terminal.run("doctor", "--json").document["problems"]

    assert all(problem.keys() >= {"kind", "path", "detail", "fix"} for problem in problems)
    assert {(problem["kind"], Path(problem["path"]).name) for problem in problems} == {
        ("damaged", "bad.md"),
        ("leftover", ".reverie-0123456789abcdef"),
    }
    left = terminal.run("doctor", "--fix", "--json").document["problems"]
    assert [problem["kind"] for problem in left] == ["damaged"]
    assert (directory / "bad.md").exists()


@requirement("cli:memory:json")
def test_a_memory_travels_with_its_history(terminal: Terminal) -> None:
    save(terminal)
    bundle = terminal.project / "memory.zip"
    assert terminal.run("export", str(bundle), "--json").document["path"] == str(bundle)

    other = str(terminal.home / "other" / "memory")
    brought = terminal.run("import", str(bundle), "--memory-dir", other, "--json")

    assert brought.code == 0
    assert "project_kiwi_server.md" in brought.document["paths"]
    hits = terminal.run("recall", "kiwi server", "--memory-dir", other, "--json").document["hits"]
    assert [hit["path"] for hit in hits] == [f"{other}/project_kiwi_server.md"]
    assert terminal.run("import", str(terminal.project), "--memory-dir", other).code in (1, 2)


@requirement("cli:memory:json")
def test_models_are_listed(terminal: Terminal) -> None:
    (model,) = terminal.run("models", "--json").document

    assert model.keys() >= {"name", "installed", "size"}
    assert model["installed"] is False


@requirement("cli:memory:errors")
@pytest.mark.parametrize("arguments", [("show",), ("forget",), ("pin",), ("why",), ("log",), ("erase", "--yes")])
def test_a_name_that_is_not_there_is_answered_with_those_that_are_near(
    terminal: Terminal, arguments: tuple[str, ...]
) -> None:
    save(terminal)

    ran = terminal.run(*arguments, "Kiwi servre")

    assert ran.code == 2
    assert "Kiwi server" in ran.err
    assert ran.out == ""


@requirement("cli:memory:errors", "memory:save:secrets")
def test_a_secret_is_refused_by_rule_and_the_refusal_is_logged(terminal: Terminal) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4

    ran = terminal.run("save", "--type", "reference", "--name", "Token", "--description", "It", "--body", secret)

    assert ran.code == 1
    assert "secret" in ran.err
    assert secret not in ran.err
    (refusal,) = terminal.run("log", "--refused", "--json").document
    assert refusal["name"] == "Token"
    assert refusal["rules"]


@requirement("cli:memory:errors")
@pytest.mark.parametrize(
    "arguments",
    [
        ("save", "--type", "todo", "--name", "a", "--description", "b"),
        ("save", "--type", "user", "--name", "a"),
        ("save", "--type", "user", "--name", "a", "--description", "b", "--team"),
        ("save", "--type", "project", "--name", "a", "--description", "b", "--anchor", ""),
        ("undo", "nonsense"),
        ("undo", "0123abcd"),
        ("recall",),
        ("recall", "kiwi", "--limit", "0"),
        ("import", "no-such-file.zip"),
        ("import", "."),
        ("export", "no-such-folder/memory.zip"),
        ("export", "."),
        ("list", "--memory-dir", "/"),
        ("list", "--memory-dir", "~"),
        ("list", "--memory-dir", "/usr"),
        ("list", "--memory-dir", "file.txt"),
        ("show", "bad", "--memory-dir", "damaged"),
        ("search", "kiwi", "--since", "soon"),
        ("list", "--project", "no-such-directory"),
        ("completion", "tcsh"),
    ],
)
def test_mistakes_exit_with_2(terminal: Terminal, arguments: tuple[str, ...]) -> None:
    (terminal.project / "file.txt").write_text("no directory", encoding="utf-8")
    (terminal.project / "damaged").mkdir()
    (terminal.project / "damaged" / "bad.md").write_text("---\nname: [unclosed\n---\n", encoding="utf-8")
    if arguments[0] == "export":
        save(terminal)

    ran = terminal.run(*arguments)

    assert ran.code == 2
    assert ran.err
    assert ran.out == ""
    if Path(named := arguments[-1]).name in {"memory.zip", "file.txt", "damaged", "no-such-file.zip"}:
        assert str(terminal.project / named) in ran.err


@requirement("memory:open:off")
def test_memory_that_is_off_says_so(terminal: Terminal) -> None:
    save(terminal)

    recalled = terminal.run("--bare", "recall", "kiwi server", "--json")
    assert recalled.document["hits"] == []
    refused = terminal.run(*SAVE, REVERIE_DISABLE_AUTO_MEMORY="1")
    assert refused.code == 1
    assert "disabled" in refused.err


@requirement("memory:open:hostile-settings")
def test_a_repository_cannot_send_memory_elsewhere(terminal: Terminal) -> None:
    elsewhere = terminal.home / "trap" / "memory"
    settings = terminal.project / ".reverie" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text(f'[memory]\ndirectory = "{elsewhere}"\n', encoding="utf-8")

    ran = terminal.run(*SAVE, "--json")

    assert str(terminal.home / ".reverie" / "projects") in ran.document["path"]
    assert not elsewhere.exists()
    assert "memory.directory" in ran.err
    own = terminal.run(*SAVE, "--json", REVERIE_MEMORY_PATH_OVERRIDE=str(elsewhere))
    assert own.document["path"].startswith(str(elsewhere))


@requirement("store:erase:redacts", "memory:scopes:user")
def test_erasing_a_memory_of_the_user_takes_its_words_out_of_all_projects_and_of_what_was_typed(
    terminal: Terminal,
) -> None:
    save(terminal)
    body = "The user is allergic to every kind of nut."
    terminal.run("save", "--user", "--type", "user", "--name", "Me", "--description", "Health", "--body", body)
    home = terminal.home / ".reverie"
    said = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": body}}
    files = [home / "projects" / "-other" / "s.jsonl", home / "projects" / "-other" / "s" / "tool-results" / "t.txt"]
    files.append(home / "input.jsonl")
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(said) + "\n", encoding="utf-8")

    ran = terminal.run("erase", "Me", "--transcripts", "--yes", "--json")

    assert set(ran.document["redacted"]) == set(map(str, files))
    assert all("allergic" not in file.read_text(encoding="utf-8") for file in files)


@requirement("memory:scopes:user")
def test_what_was_done_to_a_memory_of_the_user_is_shown_and_undone_from_any_project(terminal: Terminal) -> None:
    save(terminal)
    terminal.run("save", "--user", "--type", "user", "--name", "Me", "--description", "Writes Go", "--body", "Go.")

    forgotten = terminal.run("forget", "Me").out
    hint = forgotten.split("`")[1].split()
    commit = terminal.run("log", "Me", "--json").document[0]["commit"]

    assert commit.startswith(hint[2])
    assert terminal.run("diff", commit).out.count("-Go.") == 1
    assert terminal.run("why", "Me", "--json").document["changes"][0]["commit"] == commit
    assert terminal.run(*hint[1:]).code == 0
    assert terminal.run("show", "Me", "--json").document["body"] == "Go."
    today = time.strftime("%Y-%m-%d")
    assert {row["name"] for row in terminal.run("at", today, "--json").document} == {"Kiwi server", "Me"}
    assert terminal.run("at", today, "Me", "--json").document["body"] == "Go."
    assert terminal.run("erase", "Me", "--yes").code == 0
    assert terminal.run("show", "Me").code == 2


@requirement("memory:scopes:user")
def test_team_and_user_memories_have_their_own_places(terminal: Terminal) -> None:
    team = save(terminal, "--team")
    mine = terminal.run("save", "--type", "user", "--name", "Me", "--description", "Writes Go", "--user", "--json")

    assert Path(team["path"]).parent.name == "team"
    assert Path(mine.document["path"]).parent == terminal.home / ".reverie" / "memory"
    assert terminal.run("recall", "kiwi server", "--json").document["hits"][0]["path"] == team["path"]


@requirement("cli:memory:told")
def test_what_was_erased_in_the_other_copy_is_named_by_import(terminal: Terminal) -> None:
    other = str(terminal.home / "other" / "memory")
    save(terminal)
    terminal.run("export", "one.zip")
    assert terminal.run("import", "one.zip", "--memory-dir", other, "--json").document["erased"] == []
    terminal.run("save", "--type", "user", "--name", "Me", "--description", "Writes Go")
    terminal.run("erase", "Kiwi server", "--yes")
    terminal.run("export", "two.zip")

    brought = terminal.run("import", "two.zip", "--memory-dir", other)

    assert "project_kiwi_server.md was erased in the other copy" in brought.err
    assert terminal.run("recall", "kiwi server", "--memory-dir", other, "--json").document["hits"] == []


@requirement("cli:memory:told")
@pytest.mark.parametrize("command", [("log",), ("recall", "where", "does", "the", "kiwi", "server", "run")])
def test_a_secret_that_a_hand_wrote_into_a_file_is_told_and_not_shown(
    terminal: Terminal, command: tuple[str, ...]
) -> None:
    directory = Path(save(terminal)["path"]).parent
    token = "ghp_" + "a1B2c3D4e5" * 4
    (directory / "by_hand.md").write_text(f"# Kiwi token\n\nThe kiwi server takes {token}\n", encoding="utf-8")

    told = terminal.run(*command)

    assert "by_hand.md holds what looks like a secret (github-token in line 3)" in told.err
    assert token not in told.out + told.err


@requirement("cli:recall:light")
def test_recall_loads_nothing_heavy(terminal: Terminal) -> None:
    directory = Path(save(terminal)["path"]).parent
    heavy = {"yaml", "rich", "numpy", "msgspec", "asyncio", "ssl", "anthropic", "openai", "starlette"}

    loaded = imported_by("recall", "kiwi", "server", "--memory-dir", str(directory))

    assert "reverie.memory.search.recall" in loaded
    assert loaded.isdisjoint(heavy)


@requirement("cli:completion")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_commands(terminal: Terminal, shell: str) -> None:
    script = terminal.run("completion", shell)
    assert "_REVERIE_COMPLETE" in script.out

    asked = terminal.run(_REVERIE_COMPLETE="bash_complete", COMP_WORDS="reverie rec", COMP_CWORD="1")
    assert "plain,recall" in asked.out


@requirement("cli:completion")
def test_shells_can_complete_memories_and_changes(terminal: Terminal) -> None:
    commit = save(terminal)["commit"]

    def offered(*words: str) -> list[str]:
        asked = {"COMP_WORDS": " ".join(["reverie", *words]), "COMP_CWORD": str(len(words))}
        ran = terminal.run(_REVERIE_COMPLETE="bash_complete", **asked)
        assert ran.err == ""
        return ran.out.split()

    assert offered("show", "project_k") == ["plain,project_kiwi_server.md"]
    assert offered("forget", "kiwi") == ["plain,project_kiwi_server.md"]
    assert offered("why", "nothing") == []
    assert offered("undo", commit[:4]) == [f"plain,{commit[:8]}"]
    assert offered("show", "--memory-dir", "/", "x") == []


@requirement("cli:memory:json")
def test_people_get_readable_output(terminal: Terminal) -> None:
    save(terminal)

    shown = terminal.run("recall", "where", "does", "the", "kiwi", "server", "run")

    assert shown.out.startswith("Kiwi server  ")
    assert "why:" in shown.out
    assert "1 of 1 memories" in shown.err
    assert "saved" in terminal.run("save", "--type", "user", "--name", "Me", "--description", "Writes Go").out
    assert "Kiwi server" in terminal.run("log").out
    assert "user: save Kiwi server" in terminal.run("why", "Kiwi server").out
    assert "no problems found" in terminal.run("doctor").out


@requirement("cli:memory:errors")
@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("y\n", 0)])
def test_on_a_terminal_erase_asks_first(terminal: Terminal, answer: str, code: int) -> None:
    path = Path(save(terminal)["path"])
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())

    ran = subprocess.run(
        [sys.executable, "-m", "reverie", "erase", "Kiwi server"],
        stdin=theirs,
        capture_output=True,
        text=True,
        cwd=terminal.project,
        env={"PATH": os.environ["PATH"], "HOME": str(terminal.home)},
        timeout=60,
        check=False,
    )
    os.close(ours)
    os.close(theirs)

    assert ran.returncode == code, ran.stderr
    assert "whole history" in ran.stderr
    assert path.exists() is (code == 1)


@requirement("docs:true", "cli:memory:json")
def test_documents_have_the_keys_that_the_page_on_memory_promises(terminal: Terminal) -> None:
    page = (Path(__file__).parents[3] / "docs" / "memory.md").read_text(encoding="utf-8")
    table = page.partition("with `--json`\n")[2].partition("\n\n`author`")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][2:]
    promised = {name: set(re.findall(r"`(\w+)`", keys)) for names, keys in rows for name in names.strip().split(", ")}
    first, second = save(terminal), terminal.run(*SAVE, "--body", "It moved to Dublin.", "--json").document
    said = {"type": "user", "uuid": "u1", "timestamp": "2026-04-02T08:00:00Z", "cwd": str(terminal.project)}
    transcript = Path(first["path"]).parents[1] / "s1.jsonl"
    transcript.write_text(json.dumps(said | {"message": {"role": "user", "content": BODY}}) + "\n", encoding="utf-8")
    (Path(first["path"]).parent / "bad.md").write_text("---\nname: [\n---\n", encoding="utf-8")
    commands = {
        "recall": ("kiwi", "server"),
        "list": (),
        "at": (time.strftime("%Y-%m-%d"),),
        "show": ("Kiwi server",),
        "pin": ("Kiwi server",),
        "log": (),
        "diff": (),
        "why": ("Kiwi server",),
        "search": ("Frankfurt",),
        "doctor": (),
        "models": (),
        "export": ("memory.zip",),
        "import": ("memory.zip",),
        "undo": (second["commit"],),
        "forget": ("Kiwi server",),
        "erase": ("Kiwi server", "--yes"),
    }
    documents: dict[str, Any] = {
        f"`{name}`": terminal.run(name, *words, "--json").document for name, words in commands.items()
    }
    documents |= {
        "`export --to`": terminal.run("export", "--to", "AGENTS.md", "--json").document,
        "`save`": first,
        "a hit of `recall`": documents["`recall`"]["hits"],
        "a hit of `search`": documents["`search`"]["hits"],
        "a problem": documents["`doctor`"]["problems"],
    }
    documents["`show`"] = {key: value for key, value in documents["`show`"].items() if key not in promised["`list`"]}

    assert documents.keys() == promised.keys()
    for name, document in documents.items():
        one = document[0] if isinstance(document, list) else document
        assert promised[name] <= one.keys() if name != "`show`" else promised[name] == one.keys(), name


@requirement("cli:undo:newest")
def test_undo_takes_back_one_change_after_another_and_a_learn_as_a_whole(terminal: Terminal) -> None:
    save(terminal)
    hold(terminal.project / "said" / "s1.jsonl", "please never mock the database in tests", cwd=str(terminal.project))
    hold(terminal.project / "said" / "s2.jsonl", "always sign commits, the CI checks it", cwd=str(terminal.project))
    assert terminal.run("learn", "said", "--json").document["saved"] == 2

    whole = terminal.run("undo", "--json").document
    again = terminal.run("undo", "--json").document
    nothing = terminal.run("undo")

    assert len(whole["undone"]) == len(whole["paths"]) == 2
    assert again["paths"] == ["project_kiwi_server.md"]
    assert terminal.run("list", "--json").document == []
    assert nothing.code == 2
    terminal.run("undo", again["commit"])
    assert [row["name"] for row in terminal.run("list", "--json").document] == ["Kiwi server"]
    assert terminal.run("undo", "--json").document["paths"] == ["project_kiwi_server.md"]


@requirement("cli:undo:newest")
def test_undo_finds_the_newest_change_in_the_memory_of_the_user_too(terminal: Terminal) -> None:
    terminal.run("save", "Use tabs", "--user")

    assert "save Use tabs" in terminal.run("undo").out
    assert terminal.run("list", "--json").document == []


@requirement("cli:undo:newest")
def test_undo_learn_takes_back_a_run_that_others_came_after(terminal: Terminal) -> None:
    hold(terminal.project / "said" / "s1.jsonl", "please never mock the database in tests", cwd=str(terminal.project))
    terminal.run("learn", "said")
    save(terminal)

    assert terminal.run("undo", "--learn").code == 0
    assert [row["name"] for row in terminal.run("list", "--json").document] == ["Kiwi server"]
    assert terminal.run("undo", "--learn").code == 2


@requirement("cli:save:text")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("No emojis in commit messages.", "feedback"),
        ("My name is Ada and I work on billing", "user"),
        ("Dashboards live at https://grafana.example/x", "reference"),
        ("We freeze the release on Thursday", "project"),
    ],
)
def test_a_text_names_and_types_itself_and_is_kept_as_it_is(terminal: Terminal, text: str, kind: str) -> None:
    document = terminal.run("save", text, "--json").document

    shown = terminal.run("show", document["name"], "--json").document
    assert (shown["type"], shown["body"], shown["trust"]) == (kind, text, "said")
    assert document["name"] == text.rstrip(".")


@requirement("cli:save:text")
def test_texts_that_begin_alike_do_not_overwrite_each_other(terminal: Terminal) -> None:
    for text in ("Deploys are slow. Start early.", "Deploys are slow. Ask Ada.", "Deploys are slow. Start early."):
        assert terminal.run("save", stdin=text).code == 0

    bodies = [
        terminal.run("show", row["path"], "--json").document["body"] for row in terminal.run("list", "--json").document
    ]
    assert sorted(bodies) == ["Deploys are slow. Ask Ada.", "Deploys are slow. Start early."]


@requirement("cli:tables:whole")
def test_a_pipe_gets_whole_cells_and_a_narrow_terminal_whole_types(terminal: Terminal) -> None:
    long = "a rather long description " * 12
    terminal.run("save", "--type", "reference", "--name", "Name " * 12, "--description", long.strip())

    assert long.strip() in terminal.run("list").out
    drawn = on_terminal(terminal, 60, "list")
    assert "reference" in drawn
    assert "…" in drawn


def on_terminal(terminal: Terminal, columns: int, *arguments: str) -> str:
    """What a command draws on a terminal of this width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": str(terminal.home), "NO_COLOR": "1", "TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-m", "reverie", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=terminal.project,
        env=environment,
    ):
        os.close(follower)
        drawn = b""
        with suppress(OSError):
            while piece := os.read(leader, 4096):
                drawn += piece
    os.close(leader)
    return drawn.decode()


@requirement("cli:doctor:exit")
def test_doctor_exits_with_1_when_something_is_wrong(terminal: Terminal) -> None:
    path = Path(save(terminal)["path"])
    assert terminal.run("doctor").code == 0

    (path.parent / "bad.md").write_bytes(b"\xff\xfe")

    assert terminal.run("doctor").code == 1
    found = terminal.run("doctor", "--json")
    assert found.code == 1
    assert "1 problem\n" in terminal.run("doctor").out
    assert found.document["problems"]


@requirement("cli:list:off")
def test_list_with_memory_switched_off_says_so(terminal: Terminal) -> None:
    for flags in (("--bare",), ("--set", "memory.enabled=false")):
        ran = terminal.run(*flags, "list")
        assert (ran.code, "memory is off" in ran.err, "No memories" in ran.err) == (0, True, False), ran.err
