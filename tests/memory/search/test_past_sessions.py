from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from reverie import Memory
from reverie.errors import UserMistake
from reverie.files.places import slug
from tests.person import Person
from tests.requirements import requirement


def say(person: Person, project: Path, text: str, *, day: int, role: str = "user") -> None:
    """Let something have been said in a session of the project."""
    record = {
        "type": role,
        "uuid": f"m{day}",
        "sessionId": "s1",
        "timestamp": f"2026-04-{day:02d}T08:00:00.000Z",
        "cwd": str(project),
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }
    path = Path(person.settings.config_home).expanduser() / "projects" / slug(project) / "s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


@requirement("past:finds", "past:incremental")
def test_search_finds_what_was_said_also_what_is_said_meanwhile(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "app")
    say(person, project, "the kiwi server listens in Frankfurt", day=1)

    with person.open(project) as memory:
        assert [hit.text for hit in memory.search("where is the kiwi server")] == [
            "the kiwi server listens in Frankfurt"
        ]

        say(person, project, "the kiwi server moved to Dublin", day=2, role="assistant")

        assert {hit.message for hit in memory.search("kiwi server", fresh=True)} == {"m1", "m2"}
        assert [hit.message for hit in memory.search("kiwi server", since=date(2026, 4, 2))] == ["m2"]
        assert [hit.message for hit in memory.search("kiwi server", role="user")] == ["m1"]
        assert memory.search("kiwi server", session="other") == []
        assert len(memory.search("kiwi server", limit=1)) == 1


@requirement("past:project")
def test_a_memory_without_a_project_has_no_past_sessions(person: Person, tmp_path: Path) -> None:
    with pytest.raises(UserMistake, match="belongs to no project"):
        Memory(tmp_path / "notes", settings=person.settings).search("kiwi")


@requirement("past:derived")
def test_the_index_lies_among_the_caches(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "app")
    say(person, project, "the kiwi server listens in Frankfurt", day=1)
    with person.open(project) as memory:
        memory.search("kiwi")

    assert list((Path(person.settings.home).expanduser() / "cache" / "passages").glob("*.db"))
