from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import Memory
from reverie.errors import Damaged
from reverie.files.places import MemoryFolder, Places
from reverie.memory.store.attribution import Attribution, RecordedWrite
from reverie.memory.store.timeline import log
from tests.memory.stores import open_store, topic
from tests.person import Person
from tests.requirements import requirement

SESSION = "0b1c2d3e-0000-4000-8000-000000000001"


@pytest.fixture
def project(person: Person, tmp_path: Path) -> Path:
    return person.repository(tmp_path / "app")


@pytest.fixture
def memory(person: Person, project: Path) -> Memory:
    opened = person.open(project)
    opened.save(name="Kiwi server", description="Where it runs", type="project", body="In Frankfurt.")
    return opened


def record(person: Person, project: Path, *calls: dict[str, Any], home: str = ".claude", minute: int = 0) -> Path:
    """A transcript of a session in the project, in which a model called tools."""
    places = Places.at(person.home / ".reverie", person.home / ".claude")
    folder = (person.home / home) / "projects" / places.slug(project)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {
            "type": "assistant",
            "uuid": f"00000000-0000-4000-8000-{minute:06}{number:06}",
            "parentUuid": None,
            "sessionId": SESSION,
            "timestamp": f"2026-05-01T12:{minute:02}:{number:02}.000Z",
            "cwd": str(project),
            "message": {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"call{number}", "name": call.pop("tool"), "input": call}],
            },
        }
        for number, call in enumerate(calls)
    ]
    path = folder / f"{SESSION}.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def author_of_last(memory: Memory) -> tuple[str, str | None]:
    memory.sync()
    change = memory.log()[0].change
    return change.author, change.session


@requirement("store:foreign:attributed")
@pytest.mark.parametrize("home", [".claude", ".reverie"])
def test_a_file_that_a_session_wrote_is_that_sessions(memory: Memory, person: Person, project: Path, home: str) -> None:
    file, text = memory.directory / "user_role.md", "---\ntype: user\n---\nWrites Go.\n"
    record(person, project, {"tool": "Write", "file_path": str(file), "content": text}, home=home)
    file.write_text(text, encoding="utf-8")

    assert author_of_last(memory) == ("agent", SESSION)
    assert memory.why("user_role.md").sources[0].session == SESSION


@requirement("store:foreign:attributed")
def test_edits_are_recognised_through_the_stamp_that_a_host_adds(memory: Memory, person: Person, project: Path) -> None:
    file = memory.directory / memory.path_of("Kiwi server")
    edits = [{"tool": "Edit", "file_path": str(file), "old_string": "Frankfurt", "new_string": "Berlin"}]
    edits += [{"tool": "Edit", "file_path": str(file), "old_string": "Berlin", "new_string": "Paris, since May"}]
    record(person, project, *edits)
    text = file.read_text(encoding="utf-8").replace("Frankfurt", "Paris, since May")
    file.write_text(text.replace("\n---\n", "\nmodified: 2026-05-01T12:00:00Z\n---\n", 1), encoding="utf-8")

    assert author_of_last(memory) == ("agent", SESSION)


@requirement("store:foreign:attributed")
def test_only_one_line_passes_for_the_stamp_of_a_host(memory: Memory, person: Person, project: Path) -> None:
    file = memory.directory / "user_role.md"
    wrote = "---\nname: Role\nmodified: yesterday\n---\nWrites Go.\nmodified: the schema\n"
    record(person, project, {"tool": "Write", "file_path": str(file), "content": wrote})
    file.write_text(wrote.replace("the schema", "nothing at all"), encoding="utf-8")

    assert author_of_last(memory) == ("unknown", None)


@requirement("store:foreign:attributed")
def test_an_edit_on_top_of_what_a_session_wrote_is_nobodys(memory: Memory, person: Person, project: Path) -> None:
    file = memory.directory / "user_role.md"
    record(person, project, {"tool": "Write", "file_path": str(file), "content": "Writes Go.\n"})
    file.write_text("Writes Go.\n", encoding="utf-8")
    assert author_of_last(memory) == ("agent", SESSION)

    file.write_text("Writes Go. And some Rust, by hand.\n", encoding="utf-8")
    assert author_of_last(memory) == ("unknown", None)


@requirement("store:foreign:attributed")
@pytest.mark.parametrize("what", ["another file", "another text", "only read", "long before"])
def test_a_session_that_does_not_explain_an_edit_is_not_named(
    memory: Memory, person: Person, project: Path, what: str
) -> None:
    file = memory.directory / "user_role.md"
    named = memory.directory / "other" / "user_role.md" if what == "another file" else file
    call: dict[str, Any] = {"tool": "Write", "file_path": str(named), "content": "Writes Go.\n"}
    if what == "another text":
        call["content"] = "Writes C.\n"
    if what == "only read":
        call = {"tool": "Read", "file_path": str(file)}
    transcript = record(person, project, call)
    file.write_text("Writes Go.\n", encoding="utf-8")
    if what == "long before":
        os.utime(transcript, (1, 1))

    assert author_of_last(memory) == ("unknown", None)


@requirement("store:foreign:attributed")
@given(st.text(max_size=20), st.text(min_size=1, max_size=3), st.text(max_size=3), st.booleans())
def test_a_recorded_edit_fits_only_where_its_old_text_stands(text: str, old: str, new: str, everywhere: bool) -> None:
    after = RecordedWrite("f", "s", "m", "t", None, ((old, new, everywhere),)).apply(text)

    assert (after is None) == (old not in text)
    if after is not None:
        assert after == (text.replace(old, new) if everywhere else text.replace(old, new, 1))


@requirement("store:foreign:attributed")
def test_an_edit_is_kept_where_the_transcripts_cannot_be_read(tmp_path: Path) -> None:
    def unreadable() -> tuple[Path, ...]:
        raise Damaged("identity.json does not say which project this is", path=tmp_path)

    store = open_store(tmp_path, attribute=Attribution(MemoryFolder(tmp_path, tmp_path), unreadable))
    store.save(topic("First"))
    (tmp_path / "by_hand.md").write_text("By hand.\n", encoding="utf-8")

    assert len(store.sync()) == 1
    assert log(store)[0].change.author == "unknown"


@requirement("memory:erase:moved")
def test_transcripts_of_where_a_repository_was_before_belong_to_it(
    memory: Memory, person: Person, project: Path, tmp_path: Path
) -> None:
    transcript = record(person, project, {"tool": "Read", "file_path": "x"})
    project.rename(tmp_path / "moved")

    moved = person.open(tmp_path / "moved")

    assert moved.path_of("Kiwi server")
    assert transcript in moved.transcripts()
