"""The browser of memories."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from reverie.apps.tui.memory_screen import MemoryScreen
from reverie.errors import UserMistake
from reverie.memory.memory import Memory
from tests.apps.tui.conftest import MakeTable
from tests.apps.tui.driving import Seat, at
from tests.apps.tui.scripted import Table
from tests.requirements import requirement


def remember(memory: Memory) -> None:
    for name, body in (("Deploy days", "Never on **Fridays**."), ("No database mocks", "They hid a broken migration.")):
        memory.save(name=name, description=f"About {name}", type="feedback", body=body, trust="said")


async def browse(seat: Seat) -> None:
    await seat.enter("/memory")
    await seat.until(lambda: isinstance(seat.app.screen, MemoryScreen))
    await seat.until(lambda: seat.app.screen.query_one(OptionList).option_count > 0)


@pytest.fixture
def table(sit: MakeTable) -> Table:
    made: Table = sit()
    remember(made.conversation.memory)
    return made


@requirement("tui:memory:browser")
@pytest.mark.parametrize("width", [60, 80, 120])
async def test_memories_are_listed_and_read(table: Table, width: int) -> None:
    async with at(table, size=(width, 24)) as seat:
        await browse(seat)
        assert "2 memories" in seat.screen()
        assert "Never on Fridays." in seat.screen()
        await seat.press("down")
        assert "They hid a broken migration." in seat.screen()
        await seat.press("escape")
        await seat.until(lambda: not isinstance(seat.app.screen, MemoryScreen))


@requirement("tui:memory:browser")
async def test_a_word_narrows_the_list(table: Table) -> None:
    async with at(table) as seat:
        await browse(seat)
        await seat.press("slash")
        await seat.type("migration")
        assert "1 memory" in seat.screen()
        assert "Deploy days" not in seat.screen()


@requirement("tui:memory:browser")
async def test_a_memory_is_pinned_forgotten_and_brought_back(table: Table) -> None:
    memory = table.conversation.memory
    async with at(table) as seat:
        await browse(seat)
        await seat.press("p")
        assert memory.read("Deploy days").pinned
        assert "◆" in seat.screen()

        await seat.press("f")
        with pytest.raises(UserMistake):
            memory.read("Deploy days")
        assert "1 memory" in seat.screen()

        await seat.press("u")
        assert memory.read("Deploy days").pinned
        assert "2 memories" in seat.screen()


@requirement("tui:memory:browser")
async def test_an_edit_is_the_users_own_change(table: Table) -> None:
    memory = table.conversation.memory
    table.edit = lambda text: text.replace("Fridays", "Mondays")
    async with at(table) as seat:
        await browse(seat)
        await seat.press("e")
        assert "Never on Mondays." in seat.screen()
    assert memory.read("Deploy days").body == "Never on **Mondays**."
    assert memory.log(limit=1)[0].change.author == "user"


@requirement("tui:memory:browser")
async def test_a_broken_edit_is_refused_and_changes_nothing(table: Table) -> None:
    table.edit = lambda _: "---\nname: [\n---\nbroken"
    async with at(table) as seat:
        await browse(seat)
        await seat.press("e")
        assert "Deploy days" in seat.screen()
    assert table.conversation.memory.read("Deploy days").body == "Never on **Fridays**."


@requirement("tui:memory:browser")
async def test_why_says_where_a_memory_comes_from(table: Table) -> None:
    async with at(table) as seat:
        await browse(seat)
        await seat.press("w")
        assert "trust: said" in seat.screen()
        assert "user:" in seat.screen()


@requirement("tui:memory:browser")
async def test_an_empty_memory_says_how_to_begin(sit: MakeTable) -> None:
    async with at(sit()) as seat:
        await seat.enter("/memory")
        await seat.until(lambda: "No memories yet" in seat.screen())
