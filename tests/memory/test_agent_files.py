"""Memory files of other agents: imported into a memory, exported from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import Memory
from reverie.hosts.memory_files import find_stores
from reverie.hosts.memory_targets import TARGETS
from reverie.memory.agent_files import ImportedNotes, remove_export
from reverie.memory.topics.value import MemoryType, Trust
from tests.person import Person
from tests.requirements import requirement

RULES = "# App\n\nThe app counts tides.\n\n## Testing\n\nRun the tide tests first.\n"


@pytest.fixture
def project(person: Person, tmp_path: Path) -> Path:
    return person.repository(tmp_path / "app")


@pytest.fixture
def memory(person: Person, project: Path) -> Memory:
    return person.open(project)


def bring(memory: Memory, path: Path, **options: object) -> ImportedNotes:
    return memory.import_notes(find_stores(path), **options)  # type: ignore[arg-type]  # the test's own options


@requirement("hosts:import")
def test_notes_come_in_once_as_data_with_their_source_in_one_commit(memory: Memory, project: Path) -> None:
    file = project / "AGENTS.md"
    key = "AKIA" + "QWERTYUIOPASDFGH"
    file.write_text(f"{RULES}\n## Access\n\nThe key is {key}.\n", encoding="utf-8")

    preview = bring(memory, file, dry_run=True)
    assert ([note.name for note in preview.added], list(memory.topics())) == (["App", "Testing"], [])
    done = bring(memory, file)
    again = bring(memory, file)

    assert [note.name for note in done.added] == ["App", "Testing"]
    assert [(note.name, key in note.reason) for note in done.refused] == [("Access", False)]
    topic = memory.read("Testing")
    assert (topic.trust, topic.type) == (Trust.seen, MemoryType.project)
    assert topic.sources[0].message == "AGENTS.md#Testing"
    assert memory.log()[0].change.author == "import"
    assert done.commit == memory.log()[0].commit
    assert (again.added, again.updated, again.unchanged, again.commit) == ((), (), 2, None)


@requirement("hosts:import")
def test_a_changed_note_updates_its_memory_unless_that_was_edited_or_forgotten_here(
    memory: Memory, project: Path
) -> None:
    file = project / "AGENTS.md"
    file.write_text(f"{RULES}\n## Style\n\nTabs.\n", encoding="utf-8")
    bring(memory, file)
    memory.forget("App")
    edited = memory.directory / memory.path_of("Style")
    edited.write_text(edited.read_text(encoding="utf-8").replace("Tabs.", "My own words."), encoding="utf-8")

    file.write_text(
        file.read_text(encoding="utf-8").replace("first", "last").replace("Tabs", "Spaces"), encoding="utf-8"
    )
    done = bring(memory, file)

    assert [note.name for note in done.updated] == ["Testing"]
    assert done.added == ()
    assert memory.read("Testing").body == "Run the tide tests last."
    assert memory.read("Style").body == "My own words."
    assert sorted(topic.name for topic in memory.topics()) == ["Style", "Testing"]


@requirement("hosts:import")
def test_a_memory_of_the_same_name_is_not_touched_and_vouched_notes_keep_their_type(
    memory: Memory, project: Path, tmp_path: Path
) -> None:
    memory.save(name="Testing", description="mine", type="feedback", body="My rule.", trust="said")
    (project / "AGENTS.md").write_text(RULES, encoding="utf-8")
    bring(memory, project / "AGENTS.md")
    assert memory.read("Testing").body == "My rule."
    assert memory.read("Testing (AGENTS.md)").body == "Run the tide tests first."

    folder = tmp_path / "qwen"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("", encoding="utf-8")
    (folder / "tea.md").write_text("---\nname: Tea\ntype: user\n---\nLikes green tea.\n", encoding="utf-8")
    bring(memory, folder, trust="inferred")
    assert memory.read("Tea").type is MemoryType.user


@requirement("hosts:export")
def test_an_export_chooses_what_the_reader_of_the_file_may_see(memory: Memory, project: Path) -> None:
    file = project / "AGENTS.md"
    file.write_text(RULES, encoding="utf-8")
    bring(memory, file)
    memory.save(name="Tides", description="d", type="project", body="Tides are UTC.", trust="said")
    memory.save(name="Me", description="d", type="user", body="I am a sailor.", trust="said")
    memory.save(name="Page", description="d", type="reference", body="A page says so.", trust="seen")

    done = memory.export_notes(TARGETS["AGENTS.md"], file)
    again = memory.export_notes(TARGETS["AGENTS.md"], file)

    text = file.read_text(encoding="utf-8")
    assert "Tides are UTC." in text
    assert "sailor" not in text
    assert "A page" not in text
    assert text.count("tide tests") == 1
    assert done.exported == 1
    assert {each.name: each.reason.split(",")[0] for each in done.skipped} == {
        "App": "it came from there",
        "Testing": "it came from there",
        "Me": "it is about one person",
        "Page": "it was only seen in a file or a page",
    }
    assert again.plan.changes == ()
    assert bring(memory, file).added == ()
    remove_export(TARGETS["AGENTS.md"], file, dry_run=False)
    assert file.read_text(encoding="utf-8") == RULES
