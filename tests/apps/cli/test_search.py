from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.files.places import slug
from tests.apps.cli.conftest import Terminal
from tests.apps.cli.test_program import imported_by
from tests.requirements import requirement

SESSION = "3c1a7f52-8d0e-4b6a-9f2d-51c0ffee0001"


def record(session: str, number: int, text: str, cwd: Path, role: str = "user") -> str:
    return json.dumps(
        {
            "type": role,
            "uuid": f"{session[:4]}-{number}",
            "sessionId": session,
            "timestamp": f"2026-04-0{number}T08:00:00.000Z",
            "cwd": str(cwd),
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
    )


def hold(terminal: Terminal, session: str, *texts: str, cwd: Path | None = None, home: str = ".claude") -> Path:
    """Let a session have been held in a working directory of somebody's home."""
    where = cwd or terminal.project
    folder = terminal.home / home / "projects" / slug(where)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    roles = ("user", "assistant")
    lines = [record(session, number, text, where, roles[(number + 1) % 2]) for number, text in enumerate(texts, 1)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@requirement("past:cli", "past:place")
def test_search_prints_the_promised_document(terminal: Terminal) -> None:
    path = hold(terminal, SESSION, "Why is the importer slow?", "It reads the kiwi table twice.", "Then mend it.")

    ran = terminal.run("search", "importer kiwi table", "--limit", "1", "--json")

    assert ran.code == 0, ran.err
    assert ran.document["sessions"] == 1
    [hit] = ran.document["hits"]
    assert {"session", "message", "when", "role", "text", "score"} <= hit.keys()
    assert (hit["session"], hit["message"], hit["role"]) == (SESSION, "3c1a-2", "assistant")
    assert hit["when"] == "2026-04-02T08:00:00.000Z"
    assert hit["path"] == str(path)
    assert (hit["before"], hit["after"]) == ("Why is the importer slow?", "Then mend it.")
    assert {"kiwi", "tabl"} <= set(hit["why"]["words"])


@requirement("past:cli")
def test_people_see_the_title_the_passage_and_how_to_open_it(terminal: Terminal) -> None:
    hold(terminal, SESSION, "Why is the importer slow?", "\n".join(f"line {n}" for n in range(40)) + "\nthe kiwi table")

    ran = terminal.run("search", "kiwi", "table")

    assert "Why is the importer slow?  2026-04-02 08:00  assistant" in ran.out
    assert "the kiwi table" in ran.out
    assert "line 3\n" not in ran.out
    assert "reverie context 3c1a7f52" in ran.out
    assert "1 session" in ran.err
    assert terminal.run("context", "3c1a7f52").code == 0


@requirement("past:cli")
def test_what_stands_around_a_passage_is_told_apart_from_it(terminal: Terminal) -> None:
    hold(terminal, SESSION, "Why is the importer slow?", "Because of the kiwi table.", "Thanks, I see.")

    shown = terminal.run("search", "kiwi", "table", "--full").out

    before, found, after = (shown.index(words) for words in ("before:\n", "found:\n", "after:\n"))
    assert before < shown.index("    Why is the importer slow?") < found < shown.index("kiwi table") < after


@requirement("past:cli", "past:says-nothing")
def test_nothing_found_says_in_how_much_was_looked(terminal: Terminal) -> None:
    hold(terminal, SESSION, "Why is the importer slow?")

    ran = terminal.run("search", "xylophone")

    assert (ran.code, ran.out) == (0, "")
    assert "(1 passage in 1 session searched)" in ran.err


@requirement("past:project")
def test_all_folders_of_the_project_are_searched_and_no_others(terminal: Terminal, tmp_path: Path) -> None:
    below = terminal.project / "web"
    below.mkdir()
    neighbour = tmp_path / "project-two"
    neighbour.mkdir()
    hold(terminal, "a" * 8, "kiwi in the host's home")
    hold(terminal, "b" * 8, "kiwi in our home", home=".reverie")
    hold(terminal, "c" * 8, "kiwi in a folder below", cwd=below)
    hold(terminal, "d" * 8, "kiwi of a neighbour whose name begins alike", cwd=neighbour)
    agents = terminal.home / ".claude" / "projects" / slug(terminal.project) / ("a" * 8) / "subagents"
    agents.mkdir(parents=True)
    agent = record("a" * 8, 5, "kiwi of a sub-agent", terminal.project)
    (agents / "agent-1.jsonl").write_text(f"{agent}\n", encoding="utf-8")

    hits = terminal.run("search", "kiwi", "--json").document["hits"]

    assert sorted((hit["session"][0], hit["text"]) for hit in hits) == [
        ("a", "kiwi in the host's home"),
        ("a", "kiwi of a sub-agent"),
        ("b", "kiwi in our home"),
        ("c", "kiwi in a folder below"),
    ]


@requirement("past:cli")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--session", "aaaa"), ["kiwi one", "kiwi two"]),
        (("--since", "2026-04-02"), ["kiwi two"]),
        (("--role", "assistant"), ["kiwi two"]),
        (("--fresh", "--session", "bbbb"), ["kiwi other"]),
    ],
)
def test_flags_narrow_the_search(terminal: Terminal, flags: tuple[str, ...], expected: list[str]) -> None:
    hold(terminal, "a" * 8, "kiwi one", "kiwi two")
    hold(terminal, "b" * 8, "kiwi other")

    hits = terminal.run("search", "kiwi", "--json", *flags).document["hits"]

    assert sorted(hit["text"] for hit in hits) == expected


@requirement("past:rewritten")
def test_a_memory_erased_with_its_transcripts_leaves_the_index_at_once(terminal: Terminal) -> None:
    path = hold(terminal, SESSION, "Remember: the vault code is guava seven.", "Done.")
    said = ("--description", "The vault code is guava seven.", "--body", "The vault code is guava seven.")
    assert terminal.run("save", "--type", "project", "--name", "Vault", *said).code == 0
    assert terminal.run("search", "vault guava", "--json").document["hits"]

    ran = terminal.run("erase", "Vault", "--transcripts", "--yes")

    assert ran.code == 0, ran.err
    assert "guava" not in path.read_text(encoding="utf-8")
    cached = b"".join(each.read_bytes() for each in (terminal.home / ".reverie" / "cache").rglob("*") if each.is_file())
    assert b"guava" not in cached


@requirement("past:cli")
def test_what_a_transcript_holds_does_not_steer_the_terminal(terminal: Terminal) -> None:
    hold(terminal, SESSION, "kiwi \x1b[2J\x1b]0;owned\x07 table")

    ran = terminal.run("search", "kiwi", "--full")

    assert "kiwi" in ran.out
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out


def test_help_and_mistakes_are_cheap_and_clear(terminal: Terminal) -> None:
    assert "reverie search" in terminal.run("search", "--help").out
    assert terminal.run("search").code == 2
    assert terminal.run("search", "x", "--role", "nobody").code == 2
    assert "reverie.memory.search.passages" not in imported_by("--help")
