"""Whoever writes a memory comes through one door: every kind of writer, with secrets and broken front matter.

Afterwards every object of every history is looked at, reachable or not.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reverie.apps.tui.changes import remember
from reverie.errors import Error, Refused, UserMistake
from reverie.files.places import Places
from reverie.files.secret_scan import scan
from reverie.memory.dream.apply import apply_steps
from reverie.memory.dream.proposal import DreamStep, StepKind
from reverie.memory.memory import Memory
from reverie.memory.store import timeline
from reverie.memory.store.change import Change
from reverie.memory.store.topic_store import Store
from reverie.memory.store.writer import Writer
from reverie.memory.topics.draft import draft_topic
from reverie.memory.topics.topic import MemoryType, Source, Topic, render_topic
from reverie.messages.blocks import Json
from reverie.messages.entries import UserEntry
from reverie.messages.message import user
from reverie.session.events import Notice
from reverie.session.memory_writes import MemoryWrites, WatchedShell
from reverie.tools.bash import Bash
from reverie.tools.desk import Desk
from reverie.tools.edit import Edit
from reverie.tools.memory_files import MemoryFiles
from reverie.tools.read import Read
from reverie.tools.remember import SaveMemory
from reverie.tools.shells import Shells
from reverie.tools.tool import ToolMistake
from reverie.tools.write import Write
from tests.files.secret_scan.fresh import fresh
from tests.memory.stores import open_store
from tests.requirements import requirement
from tests.session.session_desk import calls, desk, results
from tests.session.sessions import hold
from tests.session.subagents.definitions.roles import write_role
from tests.tools.kit import call, desk_at, give_memory, told

KINDS = (
    r"ghp_[A-Za-z0-9]{36}",
    r"sk-ant-api03-[A-Za-z0-9]{60}",
    r"AKIA[A-Z2-7]{16}",
    r"xoxb-[0-9]{11}-[A-Za-z0-9]{24}",
    r"glpat-[A-Za-z0-9]{20}",
    r"npm_[A-Za-z0-9]{36}",
    r"hf_[A-Za-z]{34}",
    r"SG\.[A-Za-z0-9]{22}\.[A-Za-z0-9]{43}",
)


@dataclass
class World:
    """A project with its memory, and the tools of an agent at work in it."""

    root: Path
    memory: Memory
    desk: Desk

    @property
    def directory(self) -> Path:
        return self.memory.directory

    def file(self, path: str, text: str) -> Path:
        place = self.directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    desk = desk_at(tmp_path)
    places = Places.at(tmp_path / "home" / ".reverie", tmp_path / "home" / ".claude")
    subprocess.run(["git", "init", "-q", str(desk.project)], check=True)
    with Memory.at(places, desk.settings, desk.project, now=desk.now) as memory:
        memory.directory.mkdir(parents=True, exist_ok=True)
        give_memory(desk, memory)
        yield World(tmp_path, memory, desk)


Attempt = Callable[[World, str], Awaitable[object]]


def topic_text(text: str) -> str:
    return f"---\nname: Where it is\ndescription: A place of its own\ntype: reference\n---\n{text}\n"


async def by_hand(world: World, text: str) -> object:
    return world.memory.keep(draft_topic("Mine", "My own words", "feedback", text, trust="said"))


async def by_prompt(world: World, text: str) -> object:
    return remember(world.memory, text, session="s")


async def by_description(world: World, text: str) -> object:
    return world.memory.keep(draft_topic("Mine", text, "feedback", "", trust="said"))


async def by_reason(world: World, text: str) -> object:
    return world.memory.keep(draft_topic("Mine", "Words", "feedback", "", trust="said"), reason=text)


async def by_quote(world: World, text: str) -> object:
    source = Source("s", "m", text)
    return world.memory.keep(draft_topic("Mine", "Words", "feedback", "", trust="said", source=source))


async def by_save_tool(world: World, text: str) -> object:
    return await call(SaveMemory(), world.desk, name="N", description="What it is", type="reference", body=text)


async def by_write(world: World, text: str, folder: Path | None = None) -> object:
    path = (folder or world.directory) / "reference_it.md"
    return await call(Write(), world.desk, file_path=str(path), content=topic_text(text))


async def by_write_to_team(world: World, text: str) -> object:
    return await by_write(world, text, world.directory / "team")


async def by_write_to_user(world: World, text: str) -> object:
    return await by_write(world, text, world.memory.user.directory)


async def by_write_to_agent(world: World, text: str) -> object:
    return await by_write(world, text, world.desk.project / ".claude" / "agent-memory" / "critic")


async def by_write_to_local_agent(world: World, text: str) -> object:
    return await by_write(world, text, world.desk.project / ".claude" / "agent-memory-local" / "critic")


async def by_write_to_users_agent(world: World, text: str) -> object:
    return await by_write(world, text, world.root / "home" / ".claude" / "agent-memory" / "critic")


async def by_write_to_index(world: World, text: str) -> object:
    return await call(Write(), world.desk, file_path=str(world.directory / "MEMORY.md"), content=f"{text}\n")


async def by_write_through_a_link(world: World, text: str) -> object:
    link = world.desk.project / "notes"
    link.symlink_to(world.directory)
    return await by_write(world, text, link)


async def by_edit(world: World, text: str) -> object:
    await by_write(world, "The old text.")
    path = str(world.directory / "reference_it.md")
    await call(Read(), world.desk, file_path=path)
    return await call(Edit(), world.desk, file_path=path, old_string="The old text.", new_string=text)


async def by_memory_tool(world: World, text: str) -> object:
    answer = await call(
        MemoryFiles(world.memory.store), world.desk, command="create", path="/memories/a.md", file_text=text
    )
    if answer.is_error:
        raise ToolMistake(told(answer))
    return answer


async def by_insert_of_memory_tool(world: World, text: str) -> object:
    tool = MemoryFiles(world.memory.store)
    await call(tool, world.desk, command="create", path="/memories/a.md", file_text="one\n")
    answer = await call(tool, world.desk, command="insert", path="/memories/a.md", insert_line=1, insert_text=text)
    if answer.is_error:
        raise ToolMistake(told(answer))
    return answer


async def by_extraction(world: World, text: str) -> object:
    assert isinstance(world.desk.memories, MemoryWrites)
    world.desk.memories = replace(world.desk.memories, author="extraction")
    return await by_write(world, text)


async def by_learning(world: World, text: str) -> object:
    transcript = hold(world.root / "held" / "s1.jsonl", f"Always remember this for deployments: {text}")
    await world.memory.learn([transcript])
    raise ToolMistake("learning names what it refuses")


async def by_many(world: World, text: str) -> object:
    return world.memory.save_many([Topic("", "One", "Words", MemoryType.project, text)])


async def by_bundle(world: World, text: str) -> object:
    """A history that others made, in which an older version holds the text."""
    other = open_store(world.root / "other")
    other.save(Topic("", "Theirs", "Words", MemoryType.project, "Old."))
    unguarded = replace_admission(other)
    with unguarded.writer.writing():
        unguarded.writer.commit({"theirs.md": text.encode()}, Change("user", "old"))
        unguarded.writer.commit({"theirs.md": b"Clean again.\n"}, Change("user", "new"))
    bundle = timeline.write_bundle(unguarded, world.root / "bundle.zip")
    return world.memory.import_from(bundle)


def replace_admission(store: Store) -> Store:
    """A store of a program that looks at nothing."""
    store.writer = Writer(store.folder, store.history, now=store.now)
    return store


async def by_dream(world: World, text: str) -> object:
    step = DreamStep(next(iter(StepKind)), "put in order", {"new.md": None}, {"new.md": topic_text(text)})
    return apply_steps(world.memory.store, [step])


async def by_file_name(world: World, text: str) -> object:
    return await call(
        Write(), world.desk, file_path=str(world.directory / f"{text}.md"), content=topic_text("Nothing.")
    )


async def by_name(world: World, text: str) -> object:
    return await call(SaveMemory(), world.desk, name=text, description="What it is", type="reference", body="Nothing.")


async def by_front_matter(world: World, text: str) -> object:
    content = f"---\nname: N\ndescription: D\ntype: reference\nkept: {json.dumps(text)}\n---\nNothing.\n"
    return await call(Write(), world.desk, file_path=str(world.directory / "matter.md"), content=content)


async def by_situation(world: World, text: str) -> object:
    content = f"---\nname: N\ndescription: D\ntype: reference\nwhen: [{json.dumps(text)}]\n---\nNothing.\n"
    return await call(Write(), world.desk, file_path=str(world.directory / "situation.md"), content=content)


async def by_write_deep_inside(world: World, text: str) -> object:
    return await by_write(world, text, world.directory / "a" / "b" / "c")


async def by_write_of_another_kind(world: World, text: str) -> object:
    for name in ("keys.txt", "keys.md.bak", ".keys.md", "keys", "archive/keys.md"):
        with pytest.raises(ToolMistake):
            await call(Write(), world.desk, file_path=str(world.directory / name), content=text)
        assert not (world.directory / name).exists()
    raise ToolMistake("none of them")


async def by_two_edits(world: World, text: str) -> object:
    """The first half is no secret, and the second completes it."""
    half = len(text) // 2
    path = str(world.directory / "reference_it.md")
    await by_write(world, f"{text[:half]}REST")
    await call(Read(), world.desk, file_path=path)
    return await call(Edit(), world.desk, file_path=path, old_string="REST", new_string=text[half:])


async def by_replacement_of_memory_tool(world: World, text: str) -> object:
    tool = MemoryFiles(world.memory.store)
    await call(tool, world.desk, command="create", path="/memories/b.md", file_text="one\n")
    answer = await call(tool, world.desk, command="str_replace", path="/memories/b.md", old_str="one", new_str=text)
    if answer.is_error:
        raise ToolMistake(told(answer))
    return answer


REFUSING: tuple[Attempt, ...] = (
    by_name,
    by_front_matter,
    by_situation,
    by_write_deep_inside,
    by_write_of_another_kind,
    by_two_edits,
    by_replacement_of_memory_tool,
    by_hand,
    by_prompt,
    by_description,
    by_reason,
    by_quote,
    by_save_tool,
    by_write,
    by_write_to_team,
    by_write_to_user,
    by_write_to_agent,
    by_write_to_local_agent,
    by_write_to_users_agent,
    by_write_to_index,
    by_write_through_a_link,
    by_edit,
    by_memory_tool,
    by_insert_of_memory_tool,
    by_extraction,
    by_learning,
    by_many,
    by_bundle,
    by_dream,
    by_file_name,
)


ONCE = (
    by_bundle,
    by_write_through_a_link,
    by_edit,
    by_insert_of_memory_tool,
    by_extraction,
    by_two_edits,
    by_replacement_of_memory_tool,
)
"""Writers that make something first, which is there the second time."""


async def from_outside(world: World, text: str) -> object:
    await by_hand(world, "A first memory.")
    world.file("outside.md", text)
    return world.memory.sync()


async def into_a_known_topic(world: World, text: str) -> object:
    await by_hand(world, "A first memory.")
    path = world.directory / "feedback_mine.md"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    await by_save_tool(world, "Another thing that is worth keeping.")
    return world.memory.sync()


async def into_the_index(world: World, text: str) -> object:
    await by_hand(world, "A first memory.")
    index = world.directory / "MEMORY.md"
    index.write_text(f"{index.read_text(encoding='utf-8')}\n{text}\n", encoding="utf-8")
    return await by_save_tool(world, "Another thing that is worth keeping.")


async def before_the_first(world: World, text: str) -> object:
    world.file("outside.md", text)
    return await by_hand(world, "A first memory.")


async def by_shell(world: World, text: str) -> object:
    assert isinstance(world.desk.memories, MemoryWrites)
    shells = Shells()
    try:
        tool = WatchedShell(Bash(shells), world.desk.memories, lambda _event: None)
        command = f"printf '%s' '{text}' > {world.directory}/shell.md"
        return await call(tool, world.desk, command=command, description="write")
    finally:
        await shells.close()


async def by_taken_over_directory(world: World, text: str) -> object:
    """The memory of another machine or program, copied into place before there is a history."""
    other = world.root / "theirs"
    other.joinpath("deep").mkdir(parents=True)
    other.joinpath("reference_door.md").write_text(topic_text("The door is green."), encoding="utf-8")
    other.joinpath("copied.md").write_text(topic_text(text), encoding="utf-8")
    other.joinpath("deep", "reference_gate.md").write_text(topic_text("The gate is red."), encoding="utf-8")
    other.joinpath("MEMORY.md").write_text("- [Door](reference_door.md) - green\n", encoding="utf-8")
    shutil.copytree(other, world.directory, dirs_exist_ok=True)
    shutil.rmtree(other)
    world.memory.sync()
    return await by_save_tool(world, "Another thing that is worth keeping.")


OUTSIDE: tuple[Attempt, ...] = (
    from_outside,
    into_a_known_topic,
    into_the_index,
    before_the_first,
    by_taken_over_directory,
    by_shell,
)


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=Other", "-c", "user.email=other@example.org", "-c", "pull.rebase=false")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


async def pull(world: World, text: str, *, is_clone: bool) -> None:
    """Bring a topic that git committed on another machine into this memory, by `git pull`.

    A clone keeps its repository for git alone, and ours beside it; in a copy both are one.
    """
    other = world.root / "machine"
    if is_clone:
        git(world.root, "init", "-q", "-b", "main", str(other))
        other.joinpath("reference_first.md").write_text(topic_text("A first memory."), encoding="utf-8")
        git(other, "add", "reference_first.md")
        git(other, "commit", "-qm", "begin")
        git(world.root, "clone", "-q", str(other), str(world.directory))
    else:
        await by_hand(world, "A first memory.")
        shutil.copytree(world.directory, other)
    other.joinpath("pulled.md").write_text(topic_text(text), encoding="utf-8")
    git(other, "add", "pulled.md")
    git(other, "commit", "-qm", "from the other machine")
    await by_save_tool(world, "Another thing that is worth keeping.")
    git(world.directory, "pull", "-q", "--no-edit", str(other), "main")
    shutil.rmtree(other)


async def by_pull(world: World, text: str) -> object:
    await pull(world, text, is_clone=False)
    return world.memory.sync()


async def by_pull_into_a_clone(world: World, text: str) -> object:
    await pull(world, text, is_clone=True)
    return world.memory.sync()


def objects_of(root: Path) -> bytes:
    """Everything that any history below a folder holds, and the name of every object's file."""
    held = b""
    for git in sorted({*root.rglob("*.git"), *root.rglob(".git")}):
        if not (git / "objects").is_dir():
            continue
        listed = _git(git, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        held += _git(git, "cat-file", "--batch", stdin=listed)
    return held


def _git(git: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    environment = {**os.environ, "GIT_DIR": str(git)}
    return subprocess.run(["git", *arguments], input=stdin, capture_output=True, env=environment, check=True).stdout


def derived_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.rglob("*") if ".index" in path.parts and path.is_file())


def secrets_for(thorough: bool) -> list[str]:
    chance = random.Random(None if thorough else 12)
    made = [fresh(kind, chance) for kind in KINDS]
    made = [each for each in made if scan(each)]
    return made if thorough else made[:2]


@requirement("memory:door:secrets")
@pytest.mark.parametrize("writer", REFUSING, ids=lambda writer: writer.__name__)
async def test_no_writer_brings_a_secret_into_a_file_or_a_history(
    world: World, writer: Attempt, thorough: bool
) -> None:
    for number, secret in enumerate(secrets_for(thorough)):
        text = secret if writer is by_file_name else f"The key is {secret} and stays so."
        if number and writer in ONCE:
            break
        with pytest.raises((Error, ToolMistake)) as refused:
            await writer(world, text)
        assert secret not in str(refused.value)
        for path in world.root.rglob("*.md"):
            assert secret not in path.read_text(encoding="utf-8"), path
            assert secret not in path.name
        for git in (world.directory, world.root / "home", world.desk.project):
            assert secret.encode() not in objects_of(git)
        assert secret.encode() not in derived_of(world.root)


@requirement("memory:door:secrets", "store:foreign:secrets")
@pytest.mark.parametrize("writer", OUTSIDE, ids=lambda writer: writer.__name__)
async def test_a_secret_from_outside_stays_in_its_file_alone(world: World, writer: Attempt) -> None:
    secret = fresh(KINDS[0], random.Random(5))
    await writer(world, f"The key is {secret}.")
    holding = [path.name for path in world.directory.glob("*.md") if secret in path.read_text(encoding="utf-8")]
    assert len(holding) == 1
    assert secret.encode() not in objects_of(world.root)
    assert secret.encode() not in derived_of(world.root)
    assert any(holding[0] in caution for caution in world.memory.cautions())
    assert [problem for problem in world.memory.problems() if problem.kind == "secret" and holding[0] in problem.path]
    hits = world.memory.recall("what is the key?", fresh=True)
    assert not any(secret in hit.text for hit in hits)


@requirement("memory:door:secrets", "store:foreign:secrets")
@pytest.mark.parametrize("writer", [by_pull, by_pull_into_a_clone], ids=lambda writer: writer.__name__)
async def test_a_secret_that_git_pulled_is_named_and_goes_no_further(world: World, writer: Attempt) -> None:
    secret = fresh(KINDS[0], random.Random(5))
    await writer(world, f"The key is {secret}.")
    memory = world.memory
    assert not any(secret in hit.text for hit in memory.recall("what is the key?", fresh=True))
    assert any("pulled.md" in caution for caution in memory.cautions())
    assert [problem for problem in memory.problems() if problem.kind == "secret" and "pulled.md" in problem.path]
    assert secret.encode() not in derived_of(world.root)
    assert "pulled.md" not in (world.directory / "MEMORY.md").read_text(encoding="utf-8")
    if writer is by_pull:
        with pytest.raises(Refused, match=r"pulled\.md .*reverie erase"):
            memory.export(world.root / "copy.zip")
        memory.erase("pulled.md")
    memory.export(world.root / "copy.zip")
    with Memory(world.root / "another", settings=memory.settings) as another:
        another.import_from(world.root / "copy.zip")
        assert secret.encode() not in objects_of(another.directory)


async def test_a_directory_is_no_bundle(world: World) -> None:
    with pytest.raises(UserMistake, match="reverie export"):
        world.memory.import_from(world.desk.project)


@requirement("memory:door:front-matter")
@pytest.mark.sampled
@pytest.mark.parametrize("writer", [by_write, by_write_to_team, by_write_to_agent, by_extraction, by_memory_tool])
@pytest.mark.parametrize("broken", ["name: [unclosed", 'description: "no end', "- a\nb: c", "a: b: c\n  d"])
async def test_broken_front_matter_is_refused_with_its_line(world: World, writer: Attempt, broken: str) -> None:
    text = f"---\n{broken}\n---\nBody.\n"
    if writer is not by_memory_tool:
        folder = "team" if writer is by_write_to_team else ""
        path = world.directory / folder / "broken.md"
        if writer is by_write_to_agent:
            path = world.desk.project / ".claude" / "agent-memory" / "critic" / "broken.md"
        with pytest.raises(ToolMistake):
            await call(Write(), world.desk, file_path=str(path), content=text)
    else:
        with pytest.raises(ToolMistake):
            await by_memory_tool(world, text)
    assert not list(world.root.rglob("broken.md"))
    assert b"Body." not in objects_of(world.root)


FROM_OTHERS = (by_taken_over_directory, by_pull, by_pull_into_a_clone)
"""Their files stay as they are."""


@requirement("memory:door:complete")
@pytest.mark.parametrize(
    ("writer", "author"),
    [
        (by_hand, "user"),
        (by_prompt, "user"),
        (by_save_tool, "agent"),
        (by_write, "agent"),
        (by_write_to_user, "agent"),
        (by_write_to_agent, "agent"),
        (by_write_through_a_link, "agent"),
        (by_edit, "agent"),
        (by_memory_tool, "agent"),
        (by_extraction, "extraction"),
        (by_many, "import"),
        (by_shell, "agent"),
        (by_taken_over_directory, "import"),
        (by_pull, "unknown"),
        (by_pull_into_a_clone, "unknown"),
    ],
)
async def test_what_passes_is_committed_indexed_and_tells_where_it_is_from(
    world: World, writer: Attempt, author: str
) -> None:
    await writer(world, "The tide tables hang beside the door of the harbour office.")
    memory = world.memory
    if writer is by_write_to_user:
        memory = world.memory.user
    elif writer is by_write_to_agent:
        found = world.memory.holding(world.desk.project / ".claude" / "agent-memory" / "critic" / "reference_it.md")
        assert found is not None
        memory = found[0]
    (topic,) = [topic for topic in memory.topics() if "tide tables" in topic.body]
    latest = memory.log()[0]
    if writer not in FROM_OTHERS:
        assert latest.change.author == author
    assert topic.path in (memory.directory / "MEMORY.md").read_text(encoding="utf-8")
    assert memory.sync() == ()
    assert await asyncio.to_thread(memory.cautions) == ()
    if author in ("agent", "extraction"):
        assert latest.change.session == "session-1"
    if writer not in (by_memory_tool, by_shell, *FROM_OTHERS):
        assert topic.observed is not None
        assert topic.trust is not None
    assert memory.why(topic.path).changes[0].change.author == author


@requirement("memory:door:secrets", "memory:door:front-matter", "memory:door:complete")
@pytest.mark.parametrize("scope", ["project", "local", "user"])
async def test_a_role_writes_its_own_memory_through_the_same_door(tmp_path: Path, scope: str) -> None:
    folder = {
        "project": tmp_path / "project" / ".claude" / "agent-memory" / "critic",
        "local": tmp_path / "project" / ".claude" / "agent-memory-local" / "critic",
        "user": tmp_path / "home" / ".claude" / "agent-memory" / "critic",
    }[scope]
    secret = fresh(KINDS[0], random.Random(7))

    def write(name: str, content: str) -> tuple[str, dict[str, Json]]:
        return ("Write", {"file_path": str(folder / name), "content": content})

    shell = ("Bash", {"command": f"printf 'The key is {secret}' > {folder}/shell.md", "description": "write"})
    script: list[Json] = [
        {
            "when": {"system": "You judge", "has_tool_results": False},
            "then": calls(
                write("good.md", topic_text("The tide tables hang beside the door.")),
                write("secret.md", topic_text(f"The key is {secret}.")),
                write("broken.md", "---\nname: [unclosed\n---\nBody.\n"),
                shell,
            ),
        },
        {"when": {"system": "You judge"}, "then": "judged"},
        {
            "when": {"last_user": "kick-off"},
            "times": 1,
            "then": calls(("Agent", {"description": "judge", "prompt": "judge", "subagent_type": "critic"})),
        },
        {"then": "fine"},
    ]
    with desk(tmp_path, script) as at:
        write_role(at.home / ".claude", "critic", f"tools: Bash\nmemory: {scope}", "You judge.")
        async with at.start() as session:
            events = [event async for event in session.send("kick-off")]
            (last,) = [body for body in at.bodies if "You judge" in str(body["system"]) and results(body)]
            assert [failed for failed, _ in results(last)] == [False, True, True, False]
            found = session.memory.holding(folder / "good.md")
            assert found is not None
            own = found[0]
            assert [topic.path for topic in own.topics()] == ["good.md"]
            assert own.log("good.md")[0].change.author == "agent"
            assert own.log("good.md")[0].change.session
            assert "(good.md)" in (folder / "MEMORY.md").read_text(encoding="utf-8")
            assert not any(secret in hit.text for hit in own.recall("what is the key?", fresh=True))
        assert any("shell.md" in event.text for event in events if isinstance(event, Notice))
    assert sorted(path.name for path in folder.glob("*.md")) == ["MEMORY.md", "good.md", "shell.md"]
    assert secret.encode() not in objects_of(tmp_path)
    assert secret.encode() not in derived_of(tmp_path)


DISTORTED = (
    (
        "Reviews are required for hotfixes on the payments service.",
        "Reviews are optional for hotfixes on the payments service.",
    ),
    ("Uploads time out after 30 s on the staging gateway.", "Uploads time out after 30 ms on the staging gateway."),
    ("Never deploy the gateway without a second reviewer.", "Never deploy the gateway with a second reviewer."),
    ("I prefer tabs to spaces in the firmware sources.", "I prefer spaces to tabs in the firmware sources."),
    ("Nur Sabine darf Schemaänderungen freigeben.", "Sabine darf Schemaänderungen freigeben."),
    ("提交之前必须先问我，除了文档改动", "提交之后必须先问我，除了文档改动"),
    ("Pregúntame antes de borrar tablas del almacén.", "Pregúntame después de borrar tablas del almacén."),
    ("Réponds en français sauf dans le code source.", "Réponds en français dans le code source."),
    ("木曜日に本番へデプロイする", "金曜日に本番へデプロイする"),
)
Distort = Callable[[World, Topic, Topic], Awaitable[object]]


async def worded_by_write(world: World, _good: Topic, bad: Topic) -> object:
    return await call(Write(), world.desk, file_path=str(world.directory / "new.md"), content=render_topic(bad))


async def worded_by_extraction(world: World, good: Topic, bad: Topic) -> object:
    assert isinstance(world.desk.memories, MemoryWrites)
    world.desk.memories = replace(world.desk.memories, author="extraction")
    return await worded_by_write(world, good, bad)


async def worded_by_edit(world: World, good: Topic, bad: Topic) -> object:
    path = str(world.directory / "new.md")
    await call(Write(), world.desk, file_path=path, content=render_topic(good))
    await call(Read(), world.desk, file_path=path)
    return await call(Edit(), world.desk, file_path=path, old_string=good.body, new_string=bad.body, replace_all=True)


async def worded_by_memory_tool(world: World, _good: Topic, bad: Topic) -> object:
    tool = MemoryFiles(world.memory.store)
    return await call(tool, world.desk, command="create", path="/memories/new.md", file_text=render_topic(bad))


async def worded_by_many(world: World, _good: Topic, bad: Topic) -> object:
    return world.memory.save_many([bad])


async def worded_by_update(world: World, good: Topic, bad: Topic) -> object:
    saved = world.memory.store.save(good, author="extraction")
    return world.memory.store.edit(saved.path, lambda _old: replace(bad, path=saved.path), author="extraction")


async def worded_by_dream(world: World, good: Topic, bad: Topic) -> object:
    saved = world.memory.store.save(good, author="extraction")
    before = (world.directory / saved.path).read_text(encoding="utf-8")
    step = DreamStep(StepKind.edit, "clearer", {saved.path: before}, {saved.path: render_topic(bad, before)})
    return apply_steps(world.memory.store, [step])


@requirement("memory:polarity:door")
@pytest.mark.parametrize(
    "writer",
    [
        worded_by_write,
        worded_by_extraction,
        worded_by_edit,
        worded_by_memory_tool,
        worded_by_many,
        worded_by_update,
        worded_by_dream,
    ],
    ids=lambda writer: writer.__name__,
)
async def test_no_writer_words_a_memory_otherwise_than_what_it_quotes(
    world: World, writer: Distort, thorough: bool
) -> None:
    cases = list(DISTORTED) if thorough else random.Random(writer.__name__).sample(DISTORTED, 2)
    for said, wrong in cases:
        quote = (Source("session-1", "m", said),)
        good = Topic("", said, said, MemoryType.feedback, said, sources=quote)
        bad = Topic("", wrong, wrong, MemoryType.feedback, wrong, sources=quote)
        with suppress(Error, ToolMistake):
            await writer(world, good, bad)
        for topic in world.memory.topics():
            stored = f"{topic.name}\n{topic.description}\n{topic.body}".splitlines()
            assert wrong.strip(".") not in [line.strip(". ") for line in stored]
        for path in world.directory.glob("*.md"):
            path.unlink()
        world.memory.sync()


@requirement("memory:polarity:door")
async def test_what_the_user_typed_is_not_turned_round_by_a_memory_that_quotes_nothing(world: World) -> None:
    log = give_memory(world.desk, world.memory)
    said, wrong = DISTORTED[0]
    log.append(UserEntry(log.envelope(), user(said), source="typed"))
    with pytest.raises(ToolMistake, match="keep that sentence"):
        await call(SaveMemory(), world.desk, name="Reviews", description=wrong, type="feedback", body=wrong)
    await call(SaveMemory(), world.desk, name="Reviews", description=said, type="feedback", body=said)


@requirement("memory:door:secrets")
def test_the_secrets_of_these_tests_are_secrets() -> None:
    assert all(scan(fresh(kind, random.Random(1))) for kind in KINDS)
