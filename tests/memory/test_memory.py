from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import reverie
from reverie import Hit, Memory, Settings, Topic
from reverie.errors import Overloaded, Refused, UserMistake
from reverie.memory.topics.anchors import AnchorState, FileAnchor
from reverie.memory.topics.draft import draft_topic
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import MemoryType, Source
from reverie.models.ports import Event, Request, TextDelta
from reverie.settings import MemorySettings
from reverie.testing.scripted_model import ScriptedModel
from tests.person import Person, git
from tests.requirements import requirement

KIWI: dict[str, Any] = {
    "name": "Kiwi server",
    "description": "Where the kiwi server runs",
    "type": "project",
    "body": "It listens on port 8099 in Frankfurt.",
}
QUESTION = "where does the kiwi server run"


@pytest.fixture
def memory(person: Person, tmp_path: Path) -> Memory:
    return person.open(person.repository(tmp_path / "app"))


def paths(hits: list[Hit]) -> list[str]:
    return [hit.topic.path for hit in hits]


@requirement("memory:public-names")
def test_importing_the_package_loads_nothing_and_offers_the_public_names() -> None:
    code = "import sys, reverie; print([name for name in sys.modules if name.startswith('reverie')]); reverie.Memory"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "['reverie']\n"
    assert {"Hit", "Memory", "Settings", "Topic"} <= set(dir(reverie))
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = reverie.nothing_such


@requirement("memory:save:derives")
def test_saving_writes_one_commit_with_what_the_text_allows(memory: Memory, person: Person) -> None:
    assert memory.root is not None
    (memory.root / "src").mkdir()
    (memory.root / "src" / "importer.py").write_text("def load(): ...\n", encoding="utf-8")

    topic = memory.save(
        name="No database mocks",
        type="feedback",
        description="Integration tests use a real database",
        body="Never mock it in tests; see src/importer.py.",
        source=Source("session-1", "message-2", "don't mock the database"),
    )

    assert topic == memory.read("No database mocks")
    assert topic.path == "feedback_no_database_mocks.md"
    assert topic.observed == date(2026, 5, 1)
    assert topic.trust == "inferred"
    assert topic.when is not None
    assert "test" in topic.when.tasks
    assert [anchor.path for anchor in topic.anchors if isinstance(anchor, FileAnchor)] == ["src/importer.py"]
    (commit,) = memory.log()
    assert (commit.change.author, commit.paths) == ("agent", ("feedback_no_database_mocks.md",))
    assert commit.change.sources == topic.sources
    assert "No database mocks" in (memory.directory / "MEMORY.md").read_text(encoding="utf-8")


@requirement("memory:save:derives")
def test_what_the_user_said_is_the_users_commit(memory: Memory) -> None:
    topic = memory.save(**KIWI, trust="said")

    assert topic.trust == "said"
    assert memory.log()[0].change.author == "user"


@requirement("memory:erase:derived")
def test_an_erasure_elsewhere_is_seen_at_once_by_a_memory_that_is_open(memory: Memory, person: Person) -> None:
    assert memory.root is not None
    memory.save(**KIWI)
    memory.save(name="Mango", type="project", description="The mango queue", body="Drained nightly.")
    other = person.open(memory.root)
    assert paths(other.recall(QUESTION)) == ["project_kiwi_server.md"]

    memory.erase("Kiwi server")

    assert other.recall(QUESTION) == []
    assert paths(other.recall("mango queue")) == ["project_mango.md"]


@requirement("memory:save:updates")
def test_saving_a_name_again_updates_its_file(memory: Memory, person: Person) -> None:
    first = memory.save(**KIWI, source="it is in Frankfurt")
    memory.pin("Kiwi server")
    person.clock.forward(days=2)
    memory.save(**{**KIWI, "name": "kiwi SERVER", "body": "It moved to Dublin."}, source="it moved")

    (topic,) = memory.topics()

    assert topic.path == first.path
    assert topic.body == "It moved to Dublin."
    assert topic.pinned
    assert topic.observed == date(2026, 5, 3)
    assert [source.quote for source in topic.sources] == ["it is in Frankfurt", "it moved"]
    assert len(memory.log("Kiwi server")) == 3


@requirement("memory:save:updates")
@pytest.mark.parametrize("knows", ["everything", "no index", "nothing of the file"])
def test_an_update_keeps_what_only_the_old_one_has_whatever_the_index_knows(memory: Memory, knows: str) -> None:
    first = memory.save(**KIWI, source="it is in Frankfurt")
    file = memory.directory / first.path
    old = file.read_text(encoding="utf-8").replace("type:", "pinned: true\nowner: me\ntype:")
    if knows == "nothing of the file":
        memory.forget("Kiwi server")
    elif knows == "no index":
        memory.index.remove()
    file.write_text(old, encoding="utf-8")

    kept = memory.keep(replace(first, path="", body="It moved to Dublin.", sources=(Source(quote="it moved"),)))

    assert not kept.is_new
    assert kept.topic.pinned
    assert "owner: me" in file.read_text(encoding="utf-8")
    assert [source.quote for source in kept.topic.sources] == ["it is in Frankfurt", "it moved"]
    assert [source.quote for source in memory.log()[0].change.sources] == ["it moved"]
    assert [topic.body for topic in memory.topics()] == ["It moved to Dublin."]


@requirement("memory:save:updates")
@pytest.mark.parametrize("many", [False, True])
def test_an_update_keeps_situations_and_anchors_that_a_person_gave(memory: Memory, many: bool) -> None:
    assert memory.root is not None
    for name in ("own.py", "named.py", "new.py"):
        (memory.root / name).write_text("x\n", encoding="utf-8")
    rule = draft_topic("Rule", "Tests run first", "feedback", "As named.py does.", trust="said")
    rule = replace(rule, anchors=(FileAnchor("own.py"), FileAnchor("named.py")), when=When(files=("*.foo",)))
    memory.keep(rule)
    changed = replace(rule, body="As new.py does, before a commit.", when=None, anchors=())

    if many:
        memory.save_many([changed])
    else:
        memory.keep(changed)

    topic = memory.read("Rule")
    assert topic.body == changed.body
    assert topic.when == When(files=("*.foo",))
    assert sorted(a.path for a in topic.anchors if isinstance(a, FileAnchor)) == ["new.py", "own.py"]


@requirement("memory:save:updates")
def test_an_update_renews_what_was_derived_and_keeps_a_text_that_is_not_given(memory: Memory) -> None:
    memory.save(name="Rule", type="feedback", description="Tests run first", body="Run the tests.")
    memory.save(name="Rule", type="feedback", description="Commits are small", body="Small commits.")

    memory.save(name="Rule", type="feedback", description="Commits are tiny", body="")

    topic = memory.read("Rule")
    assert topic.when is not None
    assert topic.when.tasks == ("commit",)
    assert (topic.description, topic.body) == ("Commits are tiny", "Small commits.")


@requirement("recall:finds:whole-text")
def test_half_a_character_in_a_query_is_no_reason_to_fail(memory: Memory) -> None:
    memory.save(**KIWI)

    assert memory.build_query("caf\udce9", context="\ud800").text == "caf?"
    assert paths(memory.recall(f"{QUESTION} \udce9")) == ["project_kiwi_server.md"]


@requirement("memory:save:doubles")
def test_a_text_that_a_hand_has_removed_can_be_saved_under_another_name(memory: Memory) -> None:
    first = memory.save(**KIWI)
    (memory.directory / first.path).unlink()

    kept = memory.keep(replace(first, path="", name="Another name"))

    assert kept.is_new
    assert [topic.name for topic in memory.topics()] == ["Another name"]


@requirement("memory:save:doubles")
def test_the_same_text_is_not_saved_twice_and_nearly_the_same_is_named(memory: Memory) -> None:
    first = memory.save(**KIWI)

    again = memory.keep(replace(first, path="", name="Another name"))
    near = memory.keep(replace(first, path="", name="Kiwi host", body="It listens on port 8099 in Frankfurt now."))

    assert again.topic.path == first.path
    assert again.commit is None
    assert "exactly this already" in again.warnings[0]
    assert near.is_new
    assert any(first.path in warning for warning in near.warnings)
    assert len(list(memory.topics())) == 2


@requirement("memory:save:seen-is-no-instruction")
@pytest.mark.parametrize("kind", ["user", "feedback"])
def test_what_was_only_seen_does_not_become_an_instruction(memory: Memory, kind: str) -> None:
    with pytest.raises(Refused) as refused:
        memory.save(name="Rule", type=kind, description="Always run the installer", body="", trust="seen")

    assert refused.value.by == "trust"
    assert list(memory.topics()) == []
    memory.save(name="Page", type="reference", description="The installer page says so", body="", trust="seen")


@requirement("memory:save:secrets")
def test_a_secret_is_refused_and_the_refusal_noted(memory: Memory) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4

    with pytest.raises(Refused, match="secret"):
        memory.save(name="Token", type="reference", description="The token", body=f"It is {secret}")

    assert [refusal.name for refusal in memory.refusals()] == ["Token"]
    assert not any(secret.encode() in path.read_bytes() for path in memory.directory.rglob("*") if path.is_file())


@requirement("memory:save:derives")
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": " "}, "name"),
        ({"type": "todo"}, "todo"),
        ({"trust": "sure"}, "sure"),
        ({"description": "", "body": ""}, "is empty"),
    ],
)
def test_a_mistake_in_a_memory_is_named(memory: Memory, wrong: dict[str, str], says: str) -> None:
    with pytest.raises(UserMistake, match=says):
        memory.save(**{**KIWI, **wrong})


@requirement("recall:finds:whole-text")
def test_what_was_saved_is_recalled_at_once_and_many_in_one_commit(memory: Memory) -> None:
    memory.save(**KIWI)
    many = [Topic("", f"Fact {number}", f"Fact about topic {number}", MemoryType.project) for number in range(50)]

    assert memory.save_many(many) == 50
    hit = memory.recall(QUESTION)[0]

    assert hit.topic.name == "Kiwi server"
    assert "8099" in hit.text
    assert hit.path == str(memory.directory / hit.topic.path)
    assert len(memory.log()) == 2


@requirement("recall:edits-visible")
def test_a_hand_edit_is_visible_within_a_second_and_committed_as_somebodys(memory: Memory) -> None:
    memory.save(**KIWI)
    assert memory.recall("mango queue drained nightly") == []
    edited = memory.directory / "mango.md"
    edited.write_text("# Mango\n\nThe mango queue is drained nightly.\n", encoding="utf-8")

    assert paths(memory.recall("mango queue drained nightly", fresh=True)) == ["mango.md"]
    edited.write_text("# Mango\n\nThe papaya queue is drained hourly.\n", encoding="utf-8")
    time.sleep(1.05)
    assert paths(memory.recall("papaya queue drained hourly")) == ["mango.md"]
    noticed = memory.has_foreign_edits
    memory.sync()
    assert (noticed, memory.has_foreign_edits) == (True, False)
    assert memory.log("mango.md")[0].change.author == "unknown"


@requirement("recall:derived")
def test_a_directory_that_may_only_be_read_is_still_searched(memory: Memory, person: Person) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    memory.save(**KIWI)
    memory.close()
    memory.index.remove()
    places = [memory.directory, *(path for path in memory.directory.rglob("*") if path.is_dir())]
    for place in places:
        place.chmod(0o500)
    try:
        assert paths(Memory(memory.directory, settings=person.settings).recall(QUESTION)) == ["project_kiwi_server.md"]
    finally:
        for place in places:
            place.chmod(0o700)


@requirement("recall:excludes")
def test_memories_are_excluded_by_topic_by_name_of_file_and_by_whole_path(memory: Memory) -> None:
    topic = memory.save(**KIWI)

    for known in (topic, topic.path, memory.directory / topic.path):
        assert memory.recall(QUESTION, exclude=[known]) == []


@requirement("recall:anchors")
def test_recall_says_whether_the_files_of_a_memory_are_as_they_were(memory: Memory) -> None:
    assert memory.root is not None
    file = memory.root / "kiwi.py"
    file.write_text("PORT = 8099\n", encoding="utf-8")
    memory.save(**{**KIWI, "body": "The port stands in kiwi.py."})

    def state() -> list[AnchorState]:
        return [check.state for check in memory.recall(QUESTION)[0].anchors]

    assert state() == [AnchorState.fresh]
    file.write_text("PORT = 7077\n", encoding="utf-8")
    assert state() == [AnchorState.changed]
    file.unlink()
    assert state() == [AnchorState.broken]
    assert "No longer there: kiwi.py" in memory.recall(QUESTION)[0].header


@requirement("recall:noted")
def test_why_tells_sources_changes_and_recalls(memory: Memory) -> None:
    memory.save(**KIWI, source=Source("session-1", "message-2", "it is in Frankfurt"), trust="said")
    memory.recall(QUESTION, session="session-9")

    account = memory.why("Kiwi server")

    assert account.sources == (Source("session-1", "message-2", "it is in Frankfurt"),)
    assert account.trust == "said"
    assert [(use.query, use.session) for use in account.recalled] == [(QUESTION, "session-9")]
    assert len(account.changes) == 1


@requirement("memory:open:identity")
def test_a_moved_repository_finds_its_memory_and_worktrees_share_it(person: Person, tmp_path: Path) -> None:
    old = person.repository(tmp_path / "old")
    person.open(old).save(**KIWI)
    new = tmp_path / "elsewhere" / "new"
    new.parent.mkdir()
    old.rename(new)
    git(new, "worktree", "add", "--quiet", str(tmp_path / "tree"))

    assert paths(person.open(new).recall(QUESTION)) == ["project_kiwi_server.md"]
    assert paths(person.open(tmp_path / "tree").recall(QUESTION)) == ["project_kiwi_server.md"]
    other = person.repository(tmp_path / "other")
    assert person.open(other).recall(QUESTION) == []


@requirement("memory:open:in-place")
def test_the_hosts_memories_are_used_in_place_and_no_byte_changes(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "app")
    slug = str(project.resolve()).replace("/", "-").replace(".", "-").replace("_", "-")
    theirs = person.home / ".claude" / "projects" / slug / "memory"
    theirs.mkdir(parents=True)
    before = {"kiwi.md": "---\nname: Kiwi\nmetadata:\n  type: project\n---\nThe kiwi server runs in Frankfurt.\n"}
    before["MEMORY.md"] = "# Mine\n\n- [Kiwi](kiwi.md) — where it runs\n\nMy own words.\n"
    for name, text in before.items():
        (theirs / name).write_text(text, encoding="utf-8")

    memory = person.open(project)

    assert memory.directory == theirs
    assert paths(memory.recall(QUESTION)) == ["kiwi.md"]
    assert memory.log()[0].change.author == "import"
    assert {name: (theirs / name).read_text(encoding="utf-8") for name in before} == before
    memory.save(name="Mango", type="project", description="The mango queue", body="")
    assert "My own words." in (theirs / "MEMORY.md").read_text(encoding="utf-8")


@requirement("memory:open:off")
def test_memory_that_is_off_recalls_nothing_and_refuses_to_write(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "app")
    person.open(project).save(**KIWI)
    off = person.open(project, replace(person.settings, memory=MemorySettings(enabled=False)))

    assert off.recall(QUESTION) == []
    assert list(off.topics()) == []
    for write in (lambda: off.save(**KIWI), lambda: off.forget("Kiwi server"), lambda: off.pin("Kiwi server")):
        with pytest.raises(Refused, match=r"memory\.enabled is false"):
            write()


@requirement("memory:scopes:user")
def test_what_the_user_keeps_for_all_projects_is_found_in_each(person: Person, tmp_path: Path) -> None:
    memory = person.open(person.repository(tmp_path / "app"))
    memory.user.save(name="Kiwi taste", type="user", description="Prefers golden kiwi fruit", body="")
    other = person.open(person.repository(tmp_path / "other"))

    hit = other.recall("golden kiwi fruit")[0]

    assert (hit.scope, hit.topic.name) == ("user", "Kiwi taste")
    assert list(other.topics()) == []
    assert Memory(memory.directory, settings=person.settings).recall("golden kiwi fruit") == []


@requirement("memory:scopes:agents")
def test_a_mentioned_agents_memory_is_searched_beside_the_projects(person: Person, tmp_path: Path) -> None:
    project = person.repository(tmp_path / "app")
    memory = person.open(project)
    memory.save(**KIWI)
    place = project / ".claude" / "agent-memory" / "gardener"
    place.mkdir(parents=True)
    (place / "kiwi.md").write_text("The kiwi server wants water daily.\n", encoding="utf-8")

    assert [hit.scope for hit in memory.recall(QUESTION)] == ["project"]
    mentioned = memory.recall("@agent-gardener kiwi server water daily")
    assert "agent:gardener" in {hit.scope for hit in mentioned}
    assert not (place / ".git").exists()
    assert not (place / ".index").exists()


def _save(directory: Path, settings: Settings, number: int) -> None:
    memory = Memory(directory, settings=settings)
    for each in range(5):
        memory.save(name=f"Note {number} {each}", type="project", description=f"number{number}x{each} it is", body="")


@requirement("memory:two-processes")
def test_what_one_process_saves_another_recalls(memory: Memory, person: Person) -> None:
    memory.save(**KIWI)
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_save, args=(memory.directory, person.settings, number)) for number in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
        assert other.exitcode == 0

    assert len(list(memory.topics())) == 11
    for number in range(2):
        for each in range(5):
            assert memory.recall(f"number{number}x{each}", fresh=True)[0].topic.name == f"Note {number} {each}"


@requirement("memory:erase:derived")
def test_after_an_erasure_nothing_derived_holds_the_text(memory: Memory) -> None:
    memory.save(**KIWI)
    memory.save(name="Mango", type="project", description="The mango queue", body="Drained nightly.")
    memory.recall(QUESTION)
    memory.erase("Kiwi server")

    assert memory.recall(QUESTION, fresh=True) == []
    memory.close()
    held = [path for path in memory.directory.rglob("*") if path.is_file() and b"Frankfurt" in path.read_bytes()]
    assert held == []
    assert paths(memory.recall("mango queue")) == ["project_mango.md"]
    with pytest.raises(Refused):
        memory.save(**KIWI)
    memory.save(**KIWI, trust="said")


@requirement("memory:save:updates")
def test_a_change_can_be_looked_at_undone_and_seen_as_it_was(memory: Memory, person: Person) -> None:
    memory.save(**KIWI)
    person.clock.forward(days=1)
    memory.save(**{**KIWI, "body": "It moved to Dublin."})
    changed = memory.log()[0].commit

    assert "+It moved to Dublin." in memory.diff(changed)
    assert memory.read_at("Kiwi server", date(2026, 5, 1)).body == KIWI["body"]
    assert [topic.body for topic in memory.topics_at(date(2026, 5, 2))] == ["It moved to Dublin."]
    assert memory.undo(changed).conflicts == ()
    assert memory.read("Kiwi server").body == KIWI["body"]
    memory.forget("Kiwi server")
    with pytest.raises(UserMistake, match="Kiwi server"):
        memory.read("Kiwi server")
    assert len(memory.log("Kiwi server")) == 4


@requirement("store:archive:out-of-sight")
def test_a_memory_is_retired_and_restored_by_its_name(memory: Memory) -> None:
    memory.save(**KIWI)

    memory.archive("Kiwi server", reason="the server is gone")

    assert memory.recall(QUESTION) == []
    assert [topic.path for topic in memory.archived()] == ["project_kiwi_server.md"]
    assert memory.log()[0].change.reason == "the server is gone"
    assert memory.restore("kiwi server").path == "project_kiwi_server.md"
    assert memory.archived() == ()
    assert paths(memory.recall(QUESTION, fresh=True)) == ["project_kiwi_server.md"]


@requirement("memory:doctor")
@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes only text for a name")
def test_a_file_whose_name_is_no_text_is_named_and_hinders_nothing(memory: Memory) -> None:
    memory.save(**KIWI)
    odd = memory.directory / os.fsdecode(b"caf\xe9.md")
    odd.write_text("---\nname: Odd\ndescription: A mango\n---\nMango.\n", encoding="utf-8")

    assert paths(memory.recall(QUESTION, fresh=True)) == ["project_kiwi_server.md"]
    assert [topic.name for topic in memory.topics()] == ["Kiwi server"]
    memory.pin("Kiwi server")
    assert [(problem.path, problem.fix) for problem in memory.problems() if problem.kind == "damaged"] == [
        (str(odd), "rename the file")
    ]
    memory.erase("Odd")
    assert not odd.exists()


@requirement("memory:doctor")
def test_repairs_are_made_and_told(memory: Memory) -> None:
    memory.save(**KIWI)
    (memory.directory / "mango.md").write_text(
        "---\nname: Mango\ndescription: Queue\n---\nNightly.\n", encoding="utf-8"
    )
    (memory.directory / ".reverie-0123456789abcdef").write_text("draft", encoding="utf-8")
    assert [problem.kind for problem in memory.problems()] == ["leftover"]

    done = memory.repair()

    assert any("committed" in each for each in done)
    assert memory.problems() == ()
    assert paths(memory.recall(QUESTION))[:1] == ["project_kiwi_server.md"]


@requirement("recall:selector")
async def test_a_model_chooses_among_the_best_and_its_failure_changes_nothing(memory: Memory) -> None:
    memory.save(**KIWI)
    memory.save(name="Kiwi keys", type="project", description="Who holds the kiwi server keys", body="Ada.")
    embedded = memory.recall(QUESTION)

    def slow(_: Request) -> str:
        raise TimeoutError

    choice = '{"selected_memories": ["project_kiwi_keys.md"]}'
    model = ScriptedModel([choice, Overloaded("busy"), "no idea", '{"selected_memories": []}', slow])

    first = paths(embedded)[0]
    assert paths(await memory.recall_async(QUESTION, model=model)) == ["project_kiwi_keys.md", first]
    assert model.requests[0].max_tokens == 256
    assert model.requests[0].output_schema is not None
    assert paths(await memory.recall_async(QUESTION, model=model)) == paths(embedded)
    assert paths(await memory.recall_async(QUESTION, model=model)) == paths(embedded)
    assert paths(await memory.recall_async(QUESTION, model=model)) == [first], "the first by words is not vetoed"
    assert paths(await memory.recall_async(QUESTION, model=model)) == paths(embedded)
    assert paths(await memory.recall_async(QUESTION, model="offline")) == paths(embedded)
    assert paths(await memory.recall_async(QUESTION)) == paths(embedded)


class Endless:
    """A model that never answers."""

    name = "endless"

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        del request
        await asyncio.Event().wait()
        yield TextDelta("never")


@requirement("recall:selector")
async def test_a_model_that_is_too_slow_is_not_waited_for(person: Person, tmp_path: Path) -> None:
    quick = replace(person.settings, recall=replace(person.settings.recall, timeout_seconds=0.05))
    memory = person.open(person.repository(tmp_path / "app"), quick)
    memory.save(**KIWI)

    hits = await memory.recall_async(QUESTION, model=Endless())

    assert paths(hits) == ["project_kiwi_server.md"]


@requirement("recall:standing-instructions")
def test_files_and_tools_of_the_situation_bring_rules_back(memory: Memory) -> None:
    rule = Topic(
        "", "Capitals", "Keywords in capitals", MemoryType.feedback, when=When(files=("*.sql",), tools=("psql",))
    )
    memory.keep(rule)

    assert memory.recall("tidy the report please") == []
    assert paths(memory.recall("tidy the report please", files=["a/report.sql"])) == ["feedback_capitals.md"]
    assert paths(memory.recall("tidy the report please", tools=["psql"])) == ["feedback_capitals.md"]


@requirement("recall:standing-instructions")
def test_rules_of_a_situation_alone_are_named_in_lines_from_all_directories(person: Person, tmp_path: Path) -> None:
    memory = person.open(person.repository(tmp_path / "app"))
    for store, names in (
        (memory, ("Capitals", "Indents", "Commas", "Quotes")),
        (memory.user, ("Semicolons", "Aliases")),
    ):
        for name in names:
            store.keep(Topic("", name, f"{name} as agreed", MemoryType.feedback, when=When(files=("*.sql",))))

    hits = memory.recall("tidy the report please", files=["a/report.sql"])

    assert [hit.shown for hit in hits] == ["line"] * 5
    assert {hit.scope for hit in hits} == {"project", "user"}


@requirement("recall:age")
def test_a_memory_that_has_expired_counts_half(memory: Memory, person: Person) -> None:
    memory.save(**KIWI)
    (before,) = memory.recall(QUESTION)
    memory.keep(replace(memory.read("Kiwi server"), expires=date(2020, 1, 1)))
    (after,) = memory.recall(QUESTION)

    assert after.score == pytest.approx(before.score / 2, abs=0.01)


@requirement("store:disk:clear-error")
def test_a_full_disk_fails_no_save_for_its_index_and_no_question(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk; topics and commits are small, an index is not."""
    script = """
import resource, signal, sys
from pathlib import Path
from typing import Any
from reverie import Memory
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
memory = Memory(sys.argv[1])
kept = memory.save(name="Kiwi server", description="Where it runs", type="project", body="In Frankfurt.")
print(kept.path, memory.log()[0].commit is not None)
"""
    place = tmp_path / "memory"
    done = subprocess.run([sys.executable, "-c", script, str(place)], capture_output=True, text=True, check=True)

    assert done.stdout == "project_kiwi_server.md True\n"
    assert paths(Memory(place).recall(QUESTION)) == ["project_kiwi_server.md"]


@requirement("recall:derived")
@pytest.mark.parametrize("saves", [False, True])
def test_a_rebuilt_index_is_told_once(memory: Memory, saves: bool) -> None:
    memory.save(**KIWI)
    memory.close()
    index = memory.scope.folder.search_index
    for path in index.glob("index.db*"):
        path.unlink()
    (index / "index.db").write_bytes(b"this is no database" * 500)

    for told in (1, 0):
        with Memory(memory.directory) as again:
            if saves:
                again.save(**KIWI)
            assert paths(again.recall(QUESTION)) == ["project_kiwi_server.md"]
            assert sum("was rebuilt" in caution for caution in again.cautions()) == told


@requirement("store:disk:clear-error")
def test_an_index_that_fails_meanwhile_is_made_elsewhere(memory: Memory) -> None:
    memory.save(**KIWI)
    with closing(sqlite3.connect(memory.scope.folder.search_index / "index.db")) as other:
        other.execute("DROP TABLE topics")
    (memory.directory / "mango.md").write_text("# Mango queue\n\nThe mango queue is nightly.\n", encoding="utf-8")

    with memory:
        assert paths(memory.recall("when is the mango queue", fresh=True)) == ["mango.md"]
        assert paths(memory.recall(QUESTION)) == ["project_kiwi_server.md"]


@requirement("store:disk:clear-error")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_the_past_of_a_directory_that_may_only_be_read_can_be_read(memory: Memory) -> None:
    memory.save(**KIWI)
    state = memory.scope.folder.state
    state.chmod(0o500)
    (state / "writer.lock").chmod(0o400)
    try:
        assert len(memory.log()) == 1
        assert "Frankfurt" in memory.diff()
        assert memory.why("Kiwi server").path == "project_kiwi_server.md"
        assert len(memory.topics_at(date(2026, 5, 1))) == 1
    finally:
        (state / "writer.lock").chmod(0o600)
        state.chmod(0o700)


def named(person: Person, directory: Path) -> Memory:
    return Memory(directory, settings=person.settings, now=person.clock)


@requirement("store:git:aside")
def test_the_history_of_a_directory_in_a_work_tree_moves_with_the_repository(person: Person, tmp_path: Path) -> None:
    root = person.repository(tmp_path / "app")
    person.open(root).save(name="Anything", type="project", description="So that the project is known", body="x")
    inside = Path(".claude") / "agent-memory" / "tester"
    named(person, root / inside).save(name="Kiwi", type="project", description="Kiwi", body="Kiwi.")

    moved = root.rename(tmp_path / "renamed")
    memory = named(person, moved / inside)
    memory.save(name="Mango", type="project", description="Mango", body="Mango.")

    assert [commit.change.reason for commit in memory.log()] == ["save Mango", "save Kiwi"]
    git(memory.scope.folder.aside, "status")


@requirement("store:git:aside")
def test_two_directories_of_one_name_have_histories_of_their_own(person: Person, tmp_path: Path) -> None:
    memories = []
    for number, root in enumerate((tmp_path / "a-b", tmp_path / "a" / "b")):
        memories.append(named(person, person.repository(root) / ".claude" / "agent-memory" / "tester"))
        memories[-1].save(name=f"Topic {number}", type="project", description="d", body="b")

    again = [named(person, memory.directory) for memory in memories]

    assert [[commit.change.reason for commit in memory.log()] for memory in again] == [
        ["save Topic 0"],
        ["save Topic 1"],
    ]


@requirement("memory:bad-input")
@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.recall(None),
        lambda memory: memory.recall(b"bytes"),
        lambda memory: memory.recall("x", limit=0),
        lambda memory: memory.recall("x", limit="3"),
        lambda memory: memory.search(None),
        lambda memory: memory.read(None),
        lambda memory: memory.forget(7),
        lambda memory: memory.pin(None),
        lambda memory: memory.log(7),
        lambda memory: memory.why(None),
        lambda memory: memory.erase(None),
        lambda memory: memory.undo(None),
        lambda memory: memory.diff(7),
        lambda memory: memory.save(name=None, description="x", type="user"),
        lambda memory: memory.save(name="x", description=None, type="user"),
    ],
)
def test_what_is_no_text_is_refused_with_a_sentence(tmp_path: Path, ask: Callable[[Memory], object]) -> None:
    memory = Memory(tmp_path / "memory", project=tmp_path)
    memory.save(name="One", description="Something to look for", type="project")

    with pytest.raises(UserMistake):
        ask(memory)


ASKS = ("which box answers the mobile app", "restart the thing in the data centre")


@requirement("memory:asks", "memory:when:sorted")
def test_a_memory_is_saved_with_when_asks_and_day(memory: Memory) -> None:
    kept = memory.save(**KIWI, when=("*.sql", "deploy", "outage"), asks=ASKS, observed=date(2026, 1, 2))

    assert kept == memory.read("Kiwi server")
    assert kept.when == When(files=("*.sql",), tasks=("deploy",), words=("outage",))
    assert (kept.asks, kept.observed) == (ASKS, date(2026, 1, 2))

    again = memory.save(**KIWI | {"body": "It moved to Oslo."})
    assert (again.when, again.asks) == (kept.when, kept.asks)
    other = memory.save(**KIWI, when=When(tools=("ssh",)), asks="one alone")
    assert (other.when, other.asks) == (When(tools=("ssh",)), ("one alone",))
    (indexed,) = memory.topics()
    assert indexed == other


@requirement("memory:asks", "search:asks")
def test_a_memory_is_recalled_by_its_asks(memory: Memory) -> None:
    memory.save(**KIWI)
    assert memory.recall("which box answers the mobile app?") == []

    memory.save(**KIWI, asks=ASKS)

    (hit,) = memory.recall("which box answers the mobile app?")
    assert "asks" in hit.why
    assert hit.reasons.words["asks"] == ("box", "answers", "mobile", "app")


@requirement("memory:asks")
@pytest.mark.parametrize(
    "asks", ["asks:\n  - mobile app box\n  - 'b: c'\n", "asks:\n- mobile app box\n", "asks: [mobile app box,\n  c]\n"]
)
def test_asks_are_not_shown_with_what_is_recalled(memory: Memory, asks: str) -> None:
    rest = "---\nname: Kiwi\n{}type: project\n---\nasks: is a word of the text.\n"
    memory.directory.mkdir(parents=True, exist_ok=True)
    (memory.directory / "kiwi.md").write_text(rest.format(asks), encoding="utf-8")

    (hit,) = memory.recall("mobile app box", fresh=True)
    assert hit.text == rest.format("").rstrip()


@requirement("memory:asks")
@pytest.mark.parametrize(
    ("asks", "told"),
    [(tuple("abcdef"), "6 asks; a memory may have up to 5"), (("a" * 201,), "201 characters"), ((1,), "strings")],
)
def test_too_many_or_too_long_asks_are_refused(memory: Memory, asks: tuple[str, ...], told: str) -> None:
    with pytest.raises(UserMistake, match=told):
        memory.save(**KIWI, asks=asks)

    assert list(memory.topics()) == []
    assert memory.save(**KIWI, asks=("a" * 200, *"bcde")).asks[0] == "a" * 200


@requirement("memory:asks")
def test_asks_that_a_hand_wrote_are_kept_through_other_changes(memory: Memory) -> None:
    path = memory.directory / memory.save(**KIWI, asks=ASKS).path
    many = "".join(f"  - ask number {number}\n" for number in range(8))
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"asks:\n(?:  - .*\n)+", f"asks:\n{many}", text), encoding="utf-8")
    memory.sync()

    memory.pin("Kiwi server")
    assert len(memory.keep(replace(memory.read("Kiwi server"), about=("Ada",))).topic.asks) == 8
    assert len(memory.save(**KIWI | {"body": "It moved to Oslo."}).asks) == 8
    whole = path.read_text(encoding="utf-8").replace("Oslo", "Bergen")
    memory.write_files({path.name: whole}, author="agent", reason="edit", source=Source("s1"))
    assert len(memory.read("Kiwi server").asks) == 8
    assert many in path.read_text(encoding="utf-8")
    more = {path.name: whole.replace("asks:\n", "asks:\n  - one more\n")}
    with pytest.raises(UserMistake, match="9 asks"):
        memory.write_files(more, author="agent", reason="edit", source=Source("s1"))


@requirement("memory:asks")
def test_a_secret_in_an_ask_is_refused(memory: Memory) -> None:
    with pytest.raises(Refused):
        memory.save(**KIWI, asks=(f"call it with ghp_{'k3J9' * 9}",))

    assert list(memory.topics()) == []


@requirement("memory:asks", "store:erase:nowhere", "memory:erase:derived")
def test_an_erased_memory_leaves_no_ask_behind_and_undo_of_forgetting_brings_them_back(memory: Memory) -> None:
    memory.save(**KIWI, asks=ASKS)
    forgotten = memory.forget("Kiwi server")
    assert forgotten.commit is not None
    memory.undo(forgotten.commit)
    assert memory.read("Kiwi server").asks == ASKS

    memory.recall(ASKS[0])
    memory.erase("Kiwi server")
    memory.close()

    left = [path for path in memory.directory.rglob("*") if path.is_file() and b"data centre" in path.read_bytes()]
    assert left == []
    listing = ["git", "cat-file", "--batch-all-objects", "--batch"]
    objects = subprocess.run(listing, cwd=memory.directory, capture_output=True, check=True).stdout
    assert objects
    assert b"data centre" not in objects
