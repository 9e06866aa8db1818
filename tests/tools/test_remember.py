"""SaveMemory and RecallMemory over the real memory."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.memory.memory import Memory
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import MemoryType
from reverie.messages.blocks import Json
from reverie.tools.desk import Desk
from reverie.tools.remember import TYPES, RecallMemory, SaveMemory
from reverie.tools.tool import ToolMistake
from tests.requirements import requirement
from tests.tools.kit import call, give_memory, told


@pytest.fixture
def memory(desk: Desk, tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", project=desk.project, settings=desk.settings, now=desk.now) as opened:
        give_memory(desk, opened)
        yield opened


@requirement("tools:memory:inferred")
async def test_what_is_saved_is_inferred_and_found_again(desk: Desk, memory: Memory) -> None:
    saved = await call(
        SaveMemory(),
        desk,
        name="Deploy window",
        description="When the payments service may be deployed",
        type="project",
        body="Deploys of the payments service happen on Tuesdays before noon.",
    )
    found = told(await call(RecallMemory(memory), desk, query="when can the payments service be deployed?"))

    topic = memory.read(str(saved.details["path"]))
    assert (topic.trust, topic.type) == ("inferred", "project")
    assert "Tuesdays before noon" in found
    assert memory.log()[0].change.author == "agent"


@requirement("tools:memory:inferred")
async def test_a_secret_or_a_strange_type_is_a_mistake(desk: Desk, memory: Memory) -> None:
    token = "ghp_" + secrets.token_hex(18)
    given = {"name": "token", "description": "the token", "type": "reference", "body": f"It is {token}"}

    with pytest.raises(ToolMistake, match="secret"):
        await call(SaveMemory(), desk, **given)
    with pytest.raises(ToolMistake, match="'type' must be one of 'user', 'feedback', 'project', 'reference'"):
        await call(SaveMemory(), desk, **{**given, "type": "gossip"})
    assert list(memory.topics()) == []


@requirement("tools:memory:when-and-asks")
async def test_the_model_says_when_a_memory_matters(desk: Desk, memory: Memory) -> None:
    given = {
        "name": "Deploy window",
        "description": "When the payments service may be deployed",
        "type": "project",
        "body": "On Tuesdays before noon.",
    }
    asks: list[Json] = ["roll the new checkout out to everybody"]
    saved = await call(SaveMemory(), desk, **given, when=["deploy", "kubectl", "*.tf"], asks=asks)

    topic = memory.read(str(saved.details["path"]))
    assert topic.when == When(files=("*.tf",), tools=("kubectl",), tasks=("deploy",))
    assert topic.asks == tuple(asks)
    found = told(await call(RecallMemory(memory), desk, query="roll out the new checkout to everybody"))
    assert "Tuesdays before noon" in found
    with pytest.raises(ToolMistake, match="up to 5"):
        await call(SaveMemory(), desk, **given, asks=list("abcdef"))
    with pytest.raises(ToolMistake, match="'asks' must be a list"):
        await call(SaveMemory(), desk, **given, asks="a")


@requirement("tools:memory:inferred")
async def test_nothing_found_says_so_in_both_places(desk: Desk, memory: Memory) -> None:
    assert told(await call(RecallMemory(memory), desk, query="quantum zebra")).startswith("Nothing that was kept fits")
    past = await call(RecallMemory(memory), desk, query="quantum zebra", where="past")
    assert told(past).startswith("Nothing that was kept fits")


@requirement("tools:memory:inferred")
def test_the_types_are_those_of_memories() -> None:
    assert list(MemoryType) == list(TYPES)
