"""The real program over stdio and over HTTP, spoken to by the official client."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.person import Person
from tests.requirements import requirement

pytest.importorskip("mcp")

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from reverie.apps.loopback import listen
from reverie.apps.mcp.http import build_http_server, create_app, read_or_create_token, url_of
from reverie.apps.mcp.server import MemoryServer
from reverie.errors import UserMistake

URL = "http://127.0.0.1:8378/mcp"
TABS = {"name": "Tabs", "description": "Prefers tabs", "type": "user"}


@pytest.mark.program
@requirement("mcp-server:stdio")
async def test_the_program_serves_its_client_and_ends_with_it(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "reverie", "mcp"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "REVERIE_HOME": str(home)},
        cwd=project,
    )
    async with asyncio.timeout(100), Client(program, mode="legacy") as client:
        saved = await client.call_tool("memory_save", TABS)
        recalled = await client.call_tool("memory_recall", {"query": "does the user prefer tabs or spaces?"})

    assert not saved.is_error, saved.content
    assert [hit["name"] for hit in recalled.structured_content["hits"]] == ["Tabs"]


@requirement("mcp-server:http")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_with_the_token_is_served_over_http_with_its_roots(
    person: Person, tmp_path: Path, mode: str
) -> None:
    project = person.repository(tmp_path / "project")

    async def list_roots(context: object) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": project.as_uri()})])

    server, listener = MemoryServer(person.open, project=None, directory=tmp_path), listen(0)
    http_server = build_http_server(server, "opened")
    serving = asyncio.create_task(http_server.serve(sockets=[listener]))
    async with httpx2.AsyncClient(headers={"authorization": "Bearer opened"}, timeout=30) as http:
        transport = streamable_http_client(url_of(listener), http_client=http)
        async with asyncio.timeout(60), Client(transport, mode=mode, list_roots_callback=list_roots) as client:
            saved = await client.call_tool("memory_save", TABS)
    http_server.should_exit = True
    await serving
    server.close()

    assert not saved.is_error, saved.content
    with person.open(project) as memory:
        assert [topic.name for topic in memory.topics()] == ["Tabs"]


@requirement("mcp-server:http")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "opened"}, 401),
        ({"authorization": "Bearer opened", "origin": "https://example.org"}, 403),
        ({"authorization": "Bearer opened", "host": "rebound.example.org"}, 421),
    ],
)
async def test_without_the_token_or_from_elsewhere_nothing_is_answered(
    person: Person, tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    server = MemoryServer(person.open, project=tmp_path, directory=tmp_path)
    http = _client(server, {**headers, "accept": "application/json, text/event-stream"})
    async with server.sdk.session_manager.run(), http:
        response = await http.post(URL, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    server.close()

    assert response.status_code == status


@requirement("mcp-server:http")
def test_the_token_is_written_once_for_its_owner_alone(tmp_path: Path) -> None:
    place = tmp_path / "home" / "mcp-token"
    token = read_or_create_token(place)

    assert read_or_create_token(place) == token
    assert len(token) > 30
    assert place.stat().st_mode & 0o777 == 0o600
    place.write_text("\n", encoding="utf-8")
    with pytest.raises(UserMistake, match="is empty"):
        read_or_create_token(place)


def _client(server: MemoryServer, headers: dict[str, str]) -> httpx2.AsyncClient:
    """An HTTP client of the application in this process."""
    transport = httpx2.ASGITransport(create_app(server, "opened"))
    return httpx2.AsyncClient(transport=transport, headers=headers, timeout=30)
