from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reverie.errors import Unavailable
from reverie.extensions.mcp.connection import Connection, ConnectionState
from reverie.extensions.mcp.servers import Server, Transport
from reverie.tools.mcp.connections import Connections
from tests.requirements import requirement
from tests.tools.mcp.servers import WITH_SDK, around, is_alive, over_stdio

pytest.importorskip("mcp")


def _unheard(_: object) -> None:
    return


@requirement("mcp:connect:transports")
async def test_servers_are_reached_over_stdio_and_tell_what_changes(tmp_path: Path) -> None:
    """One server is made with the SDK; the other stands for it in tests of everything else, so it must be like it."""
    connections = Connections(around(tmp_path), _unheard)
    connections.start([over_stdio("--resources", program=WITH_SDK), over_stdio("--resources", name="quick")])
    await connections.wait_until_settled(30)

    names = [tool.spec.name for tool in connections.tools if tool.spec.name.startswith("mcp__example__")]
    assert names[:2] == ["mcp__example__add", "mcp__example__picture"]
    assert dict(connections.instructions) == dict.fromkeys(("example", "quick"), "Add numbers with add.")
    assert await _answers(connections, "quick") == await _answers(connections, "example")
    result = await connections.call("example", "add", {"a": 2, "b": 3})
    assert isinstance(result["content"], list)
    assert result["content"][0] == {"type": "text", "text": "5"}

    for name in ("example", "quick"):
        await connections.call(name, "grow", {})
    async with asyncio.timeout(120):
        while sum(tool.spec.name.endswith("__branch") for tool in connections.tools) < 2:  # noqa: ASYNC110 - they tell it when they like
            await asyncio.sleep(0.01)
    await connections.close()


async def _answers(connections: Connections, server: str) -> list[object]:
    """What the tools, prompts and resources of the example server are and answer, without its name."""
    prefix = f"mcp__{server}__"
    (connection,) = [each for each in connections.with_resources if each.server.name == server]
    specs = {tool.spec.name.removeprefix(prefix): tool.spec for tool in connections.tools}
    found: list[object] = [
        (name, specs[name].description, specs[name].input_schema)
        for name in ("add", "picture", "broken", "leave", "variable", "grow")
    ]
    for tool, given in (("add", {"a": 2, "b": 3}), ("picture", {}), ("broken", {}), ("nowhere", {})):
        result = await connections.call(server, tool, dict(given))
        found.append((tool, result["content"], result["isError"]))
    found.append([prompt[1:] for prompt in connections.prompts if prompt[0].startswith(prefix)])
    found.append(
        [await connections.prompt(prefix + name, given) for name, given in (("greet", ["Ada"]), ("quote", []))]
    )
    found.append(await connection.resources())
    found.extend([await connection.read_resource(f"doc://handbook/{path}") for path in ("1", "2/note")])
    with pytest.raises(Unavailable) as refused:
        await connection.read_resource("doc://nowhere")
    return [*found, str(refused.value)]


@requirement("mcp:connect:transports")
@pytest.mark.program
async def test_a_server_is_reached_over_sse(tmp_path: Path) -> None:
    port = _free_port()
    connections = Connections(around(tmp_path), _unheard)
    async with _web_process("sse", port):
        connections.start([Server("web", "user", "mcp.json", Transport.SSE, url=f"http://127.0.0.1:{port}/sse")])
        await connections.wait_until_settled(30)

        assert "mcp__web__add" in [tool.spec.name for tool in connections.tools]
        result = await connections.call("web", "add", {"a": 20, "b": 3})
        assert isinstance(result["content"], list)
        assert result["content"][0] == {"type": "text", "text": "23"}
        await connections.close()


@requirement("mcp:connect:failure")
@pytest.mark.parametrize(
    "server",
    [
        Server("gone", "user", "f", Transport.STDIO, command="no-such-program-at-all"),
        Server("quits", "user", "f", Transport.STDIO, command=sys.executable, args=("-c", "pass")),
        Server("closed", "user", "f", Transport.HTTP, url="http://127.0.0.1:9/mcp"),
        Server("old", "user", "f", Transport.SSE, url="http://127.0.0.1:9/sse"),
    ],
    ids=lambda server: server.name,
)
async def test_a_server_that_is_not_there_costs_a_sentence(tmp_path: Path, server: Server) -> None:
    told: list[str] = []
    connections = Connections(around(tmp_path, connect_seconds=10), told.append)
    connections.start([server])
    await connections.wait_until_settled(20)

    assert len(told) == 1
    assert server.name in told[0]
    with pytest.raises(Unavailable, match=server.name):
        await connections.call(server.name, "add", {})
    await connections.close()


@requirement("mcp:connect:failure")
async def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    silent = Server("silent", "user", "f", Transport.STDIO, command="sleep", args=("60",))
    told: list[str] = []
    connections = Connections(around(tmp_path, connect_seconds=0.3), told.append)
    connections.start([silent])
    await connections.wait_until_settled(20)

    assert "within 0.3 s" in told[0]
    await connections.close()


@requirement("mcp:connect:again")
async def test_a_lost_server_is_connected_again_for_the_next_call(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    states: list[ConnectionState] = []
    connection = Connection(over_stdio("--pid", str(pids)), around(tmp_path), lambda one: states.append(one.state))
    connection.start()
    with pytest.raises(Unavailable, match="was lost"):
        await connection.call("leave", {})
    assert states[0] == ConnectionState.CONNECTED
    assert ConnectionState.LOST in states

    result = await connection.call("add", {"a": 1, "b": 1})
    assert result["isError"] is False
    assert len(pids.read_text().split()) == 2
    await connection.close()


@requirement("mcp:connect:again")
async def test_a_server_that_died_between_two_calls_is_connected_again_and_the_call_succeeds(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    lost = asyncio.Event()
    connection = Connection(
        over_stdio("--pid", str(pids)),
        around(tmp_path),
        lambda one: lost.set() if one.state in (ConnectionState.FAILED, ConnectionState.LOST) else None,
    )
    connection.start()
    await connection.wait_until_settled()
    os.kill(int(pids.read_text()), signal.SIGKILL)
    await asyncio.wait_for(lost.wait(), 30)

    result = await connection.call("add", {"a": 1, "b": 1})
    assert result["isError"] is False
    assert len(pids.read_text().split()) == 2
    await connection.close()


@requirement("mcp:connect:transports", "mcp:connect:again")
@pytest.mark.program
async def test_a_server_is_reached_over_http_and_a_request_that_was_never_sent_is_sent_again(tmp_path: Path) -> None:
    """A web server that was started anew does not know the session any more and says so without acting."""
    port = _free_port()
    server = Server("web", "user", "mcp.json", Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
    connection = Connection(server, around(tmp_path), _unheard)
    async with _web_process("http", port):
        connection.start()
        await connection.wait_until_settled()
        assert "add" in [tool.name for tool in connection.offer.tools]
        result = await connection.call("add", {"a": 20, "b": 3})
        assert isinstance(result["content"], list)
        assert result["content"][0] == {"type": "text", "text": "23"}
    async with _web_process("http", port):
        assert (await connection.call("add", {"a": 1, "b": 1}))["isError"] is False
        await connection.close()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@asynccontextmanager
async def _web_process(transport: str, port: int) -> AsyncIterator[None]:
    """The example server behind an address, started and ended while everything else goes on."""
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(WITH_SDK), transport, str(port), stdout=quiet, stderr=quiet
    )
    try:
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            await asyncio.sleep(0.05)
        yield
    finally:
        process.kill()
        await asyncio.wait_for(process.wait(), 30)


@requirement("mcp:connect:failure")
async def test_a_server_that_is_still_connecting_is_named(tmp_path: Path) -> None:
    told: list[str] = []
    connections = Connections(around(tmp_path), told.append)
    connections.start([Server("sluggish", "user", "f", Transport.STDIO, command="sleep", args=("60",))])
    await connections.wait_until_settled(0.05)

    assert len(told) == 1
    assert "still connecting to 'sluggish'" in told[0]
    assert "tools.server_wait_seconds" in told[0]
    await connections.close()


@requirement("mcp:resources:read")
async def test_resources_are_listed_and_read(tmp_path: Path) -> None:
    connections = Connections(around(tmp_path), _unheard)
    connections.start([over_stdio("--resources"), over_stdio(name="bare")])
    await connections.wait_until_settled(30)

    assert [each.server.name for each in connections.with_resources] == ["example"]
    found = await connections.with_resources[0].resources()
    assert [(one.uri, one.is_template) for one in found] == [
        ("doc://handbook/1", False),
        ("doc://handbook/{chapter}/note", True),
    ]
    contents = await connections.with_resources[0].read_resource("doc://handbook/2/note")
    assert contents[0]["text"] == "note on 2"
    with pytest.raises(Unavailable):
        await connections.with_resources[0].read_resource("doc://nowhere")
    await connections.close()


@requirement("mcp:prompt:commands")
async def test_a_resource_in_a_prompt_is_part_of_its_text(tmp_path: Path) -> None:
    connections = Connections(around(tmp_path), _unheard)
    connections.start([over_stdio("--resources")])
    await connections.wait_until_settled(30)

    assert await connections.prompt("mcp__example__quote", []) == "[resource doc://handbook/1]\nChapter one"
    await connections.close()


@requirement("mcp:connect:close")
async def test_closing_ends_the_process_also_in_the_middle_of_a_call(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    connection = Connection(over_stdio("--pid", str(pids)), around(tmp_path), _unheard)
    connection.start()
    await connection.wait_until_settled()
    call = asyncio.create_task(connection.call("wait", {"seconds": 60}))
    await asyncio.sleep(0.1)
    process = int(pids.read_text())
    assert is_alive(process)

    await connection.close()

    assert not is_alive(process)
    with pytest.raises(Unavailable):
        await call


@requirement("mcp:call:limits")
async def test_a_call_ends_after_its_time(tmp_path: Path) -> None:
    connection = Connection(over_stdio(timeout_seconds=0.3), around(tmp_path), _unheard)
    connection.start()
    with pytest.raises(Unavailable, match=r"within 0\.3 s"):
        await connection.call("wait", {"seconds": 60})
    await connection.close()


@requirement("mcp:call:limits")
async def test_the_server_hears_that_a_call_was_cancelled(tmp_path: Path) -> None:
    connection = Connection(over_stdio(), around(tmp_path), _unheard)
    connection.start()
    await connection.wait_until_settled()
    note = tmp_path / "note"
    call = asyncio.create_task(connection.call("wait", {"seconds": 60, "note": str(note)}))
    await asyncio.sleep(0.2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    async with asyncio.timeout(120):
        while not note.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
    result = await connection.call("add", {"a": 1, "b": 1})
    assert result["isError"] is False
    await connection.close()


@requirement("mcp:prompt:commands")
async def test_a_prompt_takes_its_arguments_in_order_and_the_last_takes_the_rest(tmp_path: Path) -> None:
    connections = Connections(around(tmp_path), _unheard)
    connections.start([over_stdio()])
    await connections.wait_until_settled(30)

    assert connections.prompts == (("mcp__example__greet", "Greet somebody.", "[name] [tone]"),)
    text = await connections.prompt("mcp__example__greet", ["Ada", "very", "formal"])
    assert text == "Say hello to Ada, in a very formal voice."
    assert await connections.prompt("mcp__example__other", []) is None
    await connections.close()
