from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reverie.extensions.mcp.connection import MAX_LOG_BYTES, ConnectionContext
from reverie.extensions.mcp.servers import Server, Transport
from reverie.messages.blocks import Image, Text
from reverie.messages.reminder import forges_reminder
from reverie.tools.desk import Desk
from reverie.tools.mcp.connections import MAX_INSTRUCTIONS_CHARS, MAX_TOOLS, Connections
from reverie.tools.mcp.content import MAX_CHARS
from reverie.tools.tool import ToolAnswer
from tests.requirements import requirement
from tests.tools.kit import desk_at

SERVER = Path(__file__).with_name("hostile_server.py")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return desk_at(tmp_path)


@asynccontextmanager
async def connected(
    folder: Path, mode: str, *, timeout_seconds: float = 20.0, tell: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Connections]:
    server = Server(
        "evil",
        "user",
        "mcp.json",
        Transport.STDIO,
        command=sys.executable,
        args=(str(SERVER), mode),
        timeout_seconds=timeout_seconds,
    )
    found = Connections(ConnectionContext(dict(os.environ), folder, folder / "logs"), tell)
    found.start([server])
    await found.wait_until_settled(30)
    try:
        yield found
    finally:
        await found.close()


async def answer(found: Connections, desk: Desk) -> ToolAnswer:
    return await found.tools[0].run({}, desk)


def is_mere_text(text: str) -> bool:
    return not forges_reminder(text) and not {"\u200b", "\u202e"} & set(text)


@requirement("security:server:any-output")
@pytest.mark.parametrize("mode", ["plain", "chatter", "stranger", "words", "names"])
async def test_words_of_a_server_are_data_and_noise_is_passed_over(
    tmp_path: Path, desk: Desk, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("mcp").propagate = False
    try:
        async with connected(tmp_path, mode) as found:
            said = await answer(found, desk)
            prompt = await found.prompt("mcp__evil__say", [])
            told = json.dumps([[tool.spec.name, tool.spec.description, tool.spec.input_schema] for tool in found.tools])
            names = [tool.spec.name for tool in found.tools]
            summary = found.tools[0].need({}, desk).summary
            listed = str(found.prompts)
            assert all(len(text) <= MAX_INSTRUCTIONS_CHARS for _, text in found.instructions)
    finally:
        logging.getLogger("mcp").propagate = True

    assert not said.is_error
    assert prompt
    assert all(map(is_mere_text, [str(said.content), prompt, json.loads(json.dumps(told)), summary, listed]))
    assert len(told) < 100_000
    assert all(name.startswith("mcp__evil__") and name.replace("-", "_").isidentifier() for name in names)
    assert all(len(name) <= 64 for name in names)
    assert capfd.readouterr().err == "", "no complaint of the SDK with words of the server"


@requirement("security:server:any-output")
@pytest.mark.parametrize(("mode", "word"), [("shape", "valid list"), ("silent", "within 1 s"), ("deep", "within 1 s")])
async def test_a_call_without_a_proper_answer_ends(tmp_path: Path, desk: Desk, mode: str, word: str) -> None:
    async with connected(tmp_path, mode, timeout_seconds=1.0) as found:
        said = await answer(found, desk)

    assert said.is_error
    assert word in str(said.content)


@requirement("security:server:any-output")
async def test_a_prompt_that_never_comes_is_given_up(tmp_path: Path) -> None:
    async with connected(tmp_path, "silent", timeout_seconds=0.5) as found:
        with pytest.raises(Exception, match="no answer within"):
            await found.prompt("mcp__evil__say", [])


@requirement("security:server:bounded")
async def test_a_huge_result_is_cut(tmp_path: Path, desk: Desk) -> None:
    async with connected(tmp_path, "huge") as found:
        said = await answer(found, desk)

    assert isinstance(said.content, str)
    assert MAX_CHARS < len(said.content) < MAX_CHARS + 200
    assert "left out" in said.content[-200:]
    assert said.details == {}


@requirement("security:server:bounded")
async def test_a_result_of_many_pieces_and_a_huge_picture_is_cut(tmp_path: Path, desk: Desk) -> None:
    async with connected(tmp_path, "pieces") as found:
        said = await answer(found, desk)

    assert isinstance(said.content, str) or not any(isinstance(block, Image) for block in said.content)
    texts = (
        said.content if isinstance(said.content, str) else "".join(b.text for b in said.content if isinstance(b, Text))
    )
    assert "cannot be shown" in texts
    assert "2,001 pieces" in texts


@requirement("security:server:bounded")
async def test_a_server_offers_no_more_tools_than_anybody_needs(tmp_path: Path) -> None:
    told: list[str] = []
    async with connected(tmp_path, "many", tell=told.append) as found:
        assert len(found.tools) == MAX_TOOLS
    assert "left out" in told[0]


@requirement("security:server:bounded")
async def test_a_server_that_changes_its_tools_all_the_time_is_asked_ever_more_seldom(tmp_path: Path) -> None:
    async with connected(tmp_path, "flips") as found:
        await asyncio.sleep(1.0)
        assert 2 <= found.version <= 6


@requirement("security:server:bounded")
async def test_what_a_server_prints_on_the_side_does_not_fill_the_disk(tmp_path: Path, desk: Desk) -> None:
    async with connected(tmp_path, "floods") as found:
        await answer(found, desk)
        (log,) = (tmp_path / "logs").iterdir()
        for _ in range(100):
            if log.stat().st_size <= MAX_LOG_BYTES:
                break
            await asyncio.sleep(0.05)
        assert log.stat().st_size <= MAX_LOG_BYTES


@requirement("security:server:any-output")
async def test_a_server_that_dies_in_the_middle_of_a_word_costs_one_call(tmp_path: Path, desk: Desk) -> None:
    async with connected(tmp_path, "dies") as found:
        first = await answer(found, desk)
        second = await answer(found, desk)

    assert "was lost" in str(first.content)
    assert "was lost" in str(second.content), "it was connected again, and died again"
