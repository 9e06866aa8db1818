from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from reverie.extensions.hooks import NOTHING
from reverie.extensions.hooks.http_hook import fill_headers, is_allowed
from reverie.messages.blocks import JsonObject
from tests.extensions.hooks.making import hooks_in, on
from tests.requirements import requirement

BASH: JsonObject = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


class Desk(ThreadingHTTPServer):
    """A local server that answers as it is told and keeps what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Clerk)
        self.status, self.answer, self.seconds = 200, "", 0.0
        self.heard: list[tuple[str, dict[str, str], object]] = []
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Clerk(BaseHTTPRequestHandler):
    server: Desk

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, dict(self.headers), json.loads(body)))
        self.server.released.wait(self.server.seconds)
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", self.server.url)
        self.end_headers()
        self.wfile.write(self.server.answer.encode("utf-8"))

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def desk() -> Iterator[Desk]:
    server = Desk()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@requirement("hooks:run:http")
async def test_an_address_gets_the_event_and_its_json_counts(desk: Desk, tmp_path: Path) -> None:
    desk.answer = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}})
    headers = {"Authorization": "Bearer $MY_KEY", "X-Other": "a${OTHER}b"}
    entry = {"type": "http", "url": desk.url, "headers": headers, "allowedEnvVars": ["MY_KEY"]}
    hooks = hooks_in(tmp_path, on("PreToolUse", entry), environment={"MY_KEY": "k\r\nX: y", "OTHER": "o"})

    verdict = await hooks.fire("PreToolUse", BASH)

    assert verdict.permission == "deny"
    ((path, sent, body),) = desk.heard
    assert path == "/hook"
    assert sent["Authorization"] == "Bearer kX: y"
    assert sent["X-Other"] == "ab"
    assert isinstance(body, dict)
    assert (body["hook_event_name"], body["tool_name"]) == ("PreToolUse", "Bash")


@requirement("hooks:run:http", "hooks:run:never-fails")
@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (200, "", None),
        (200, "fine", "invalid response"),
        (500, '{"decision": "block"}', "status 500"),
        (302, "", "status 302"),
    ],
)
async def test_only_a_json_answer_of_success_counts(
    desk: Desk, tmp_path: Path, status: int, answer: str, said: str | None
) -> None:
    desk.status, desk.answer = status, answer
    hooks = hooks_in(tmp_path, on("Stop", {"type": "http", "url": desk.url}))

    verdict = await hooks.fire("Stop", {})

    assert verdict.blocked is None
    assert len(desk.heard) == 1
    if said is None:
        assert verdict == NOTHING
    else:
        assert said in verdict.messages[0]


@requirement("hooks:run:http", "hooks:run:timeout")
async def test_an_address_that_does_not_answer_in_time_is_a_warning(desk: Desk, tmp_path: Path) -> None:
    desk.seconds = 30
    hooks = hooks_in(tmp_path, on("Stop", {"type": "http", "url": desk.url, "timeout": 0.2}))

    verdict = await hooks.fire("Stop", {})

    assert "0.2 s " in verdict.messages[0] or "timed out" in verdict.messages[0]


@requirement("hooks:run:http")
async def test_only_allowed_addresses_and_variables_are_used(desk: Desk, tmp_path: Path) -> None:
    entry = {"type": "http", "url": desk.url, "headers": {"A": "$ONE-$TWO"}, "allowedEnvVars": ["ONE", "TWO"]}
    other = hooks_in(tmp_path, on("Stop", entry), allowed_http_urls=("https://hooks.test/*",))
    mine = hooks_in(
        tmp_path,
        on("Stop", entry),
        allowed_http_urls=("http://127.0.0.1:*/hook",),
        http_env_vars=("TWO",),
        environment={"ONE": "1", "TWO": "2"},
    )

    assert "hook.allowed_http_urls" in (await other.fire("Stop", {})).messages[0]
    assert desk.heard == []
    assert await mine.fire("Stop", {}) == NOTHING
    assert desk.heard[0][1]["A"] == "-2"


@requirement("hooks:run:http")
@pytest.mark.parametrize(
    ("url", "patterns", "allowed"),
    [
        ("https://a.test/x", (), True),
        ("file:///etc/passwd", (), False),
        ("ftp://a.test", ("*",), False),
        ("https://user@a.test/", ("*",), False),
        ("https://a.test/x", ("https://a.test/*",), True),
        ("https://a.test", ("https://a.test",), True),
        ("https://a.test/x/y", ("https://a.test",), True),
        ("https://b.test/x", ("https://a.test/*",), False),
        ("http://a.test/x", ("https://a.test/*",), False),
        ("https://h.a.test/x", ("https://*.a.test/*",), True),
        ("https://evil.test/.a.test/x", ("https://*.a.test/*",), False),
        ("https://A.test/x", ("https://a.TEST/x",), True),
        ("https://[", (), False),
    ],
)
def test_an_address_is_matched_by_host_and_path(url: str, patterns: tuple[str, ...], allowed: bool) -> None:
    assert is_allowed(url, patterns) is allowed


@requirement("hooks:run:http")
def test_a_header_cannot_smuggle_another() -> None:
    assert fill_headers([("A", "x$V\ny")], {"V"}, {"V": "1\r\nB: 2"}) == {"A": "x1B: 2y"}
