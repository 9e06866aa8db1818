""""""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.mcp.servers import (
    Server,
    Servers,
    Transport,
    expand_variables,
    list_servers,
    parse_servers,
    unset,
)
from reverie.files.places import Places
from tests.requirements import requirement


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


class Home:
    def __init__(self, root: Path) -> None:
        self.places = Places.at(root / ".reverie", root / ".claude")
        self.project = root / "project"
        self.project.mkdir()

    def list(self, *, trust: bool = True, flags: tuple[Path, ...] = (), **environment: str) -> Servers:
        return list_servers(
            places=self.places,
            project=self.project,
            environment=environment,
            accepted=lambda _: trust,
            flags=flags,
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def program(name: str) -> dict[str, object]:
    return {"mcpServers": {"one": {"command": name}}}


@requirement("plugins:servers:read")
def test_our_own_server_that_was_installed_for_another_agent_is_passed_over(home: Home) -> None:
    ours = {"reverie": {"command": "/home/me/.reverie/bin/reverie", "args": ["mcp"]}}
    write(home.project / ".mcp.json", {"mcpServers": ours | {"files": {"command": "reverie", "args": ["serve"]}}})

    assert [server.name for server in home.list().ready] == ["files"]


@requirement("plugins:servers:read")
def test_a_program_and_an_address_become_values(home: Home) -> None:
    write(
        home.project / ".mcp.json",
        {
            "mcpServers": {
                "files": {"command": "node", "args": ["s.js", 3], "env": {"A": "b"}, "timeout": 1500, "cwd": "sub"},
                "web": {"type": "http", "url": "https://example.test/mcp", "headers": {"X": "y"}},
                "old": {"type": "sse", "url": "http://localhost:1/sse"},
            }
        },
    )

    files, old, web = home.list().ready

    assert (files.name, files.transport, files.command, files.args) == ("files", Transport.STDIO, "node", ("s.js", "3"))
    assert (files.env, files.timeout_seconds, files.directory) == ((("A", "b"),), 1.5, home.project / "sub")
    assert (files.source, files.place, files.committed) == ("project", str(home.project / ".mcp.json"), True)
    assert (web.transport, web.url, web.headers) == (Transport.HTTP, "https://example.test/mcp", (("X", "y"),))
    assert (old.transport, old.tool_prefix) == (Transport.SSE, "mcp__old__")


@requirement("plugins:servers:precedence")
def test_the_nearest_source_counts_as_a_whole(home: Home, tmp_path: Path) -> None:
    state = tmp_path / ".claude.json"
    write(home.places.home / "mcp.json", {"mcpServers": {"one": {"command": "user", "env": {"A": "b"}}}})
    assert home.list().ready[0].command == "user"
    write(home.project / ".mcp.json", program("project"))
    assert home.list().ready[0].command == "project"
    write(state, program("host user") | {"projects": {str(home.project): program("local")}})
    (local,) = home.list().ready
    assert (local.command, local.source, local.env) == ("local", "local", ())
    write(tmp_path / "flag.json", program("flag"))
    assert home.list(flags=(tmp_path / "flag.json",)).ready[0].command == "flag"


@requirement("plugins:servers:trust")
def test_a_server_of_the_project_waits_and_hides_nobody(home: Home) -> None:
    write(home.places.home / "mcp.json", program("mine"))
    write(home.project / ".mcp.json", program("theirs"))

    found = home.list(trust=False)

    assert [server.command for server in found.ready] == ["mine"]
    assert [server.command for server in found.waiting] == ["theirs"]


@requirement("plugins:servers:variables", "plugins:servers:secrets")
def test_variables_are_filled_in_and_kept_out_of_sight(home: Home) -> None:
    entry = {
        "type": "http",
        "url": "${BASE:-https://example.test}/mcp",
        "headers": {"Authorization": "Token ${MY_KEY}", "X": "${NOT_THERE}"},
    }
    write(home.project / ".mcp.json", {"mcpServers": {"web": entry}})

    found = home.list(MY_KEY="hidden")
    (server,) = found.ready

    assert server.url == "https://example.test/mcp"
    assert server.headers == (("Authorization", "Token hidden"), ("X", "${NOT_THERE}"))
    assert "hidden" not in repr(server)
    assert json.loads(server.written) == entry
    assert "hidden" not in server.part.text
    assert "MY_KEY" in server.part.text
    assert found.problems == (
        f"{home.project / '.mcp.json'}: server 'web': ${{NOT_THERE}} is not set and is kept unexpanded",
    )


@requirement("plugins:servers:broken")
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("node", "an entry must be a table"),
        ({}, "`command` is empty"),
        ({"command": 3}, "`command` must be a string"),
        ({"command": "x", "args": "y"}, "`args` must be a list"),
        ({"command": "x", "env": ["y"]}, "`env` must be a table"),
        ({"command": "x", "timeout": True}, "`timeout` must be a positive number"),
        ({"type": "pigeon", "url": "https://x"}, "`type` is 'pigeon'"),
        ({"url": "file:///etc"}, "`url` must start with"),
    ],
)
def test_a_broken_entry_is_named_and_the_others_stay(home: Home, entry: object, said: str) -> None:
    write(home.project / ".mcp.json", {"mcpServers": {"bad": entry, "good": {"command": "x"}}})

    found = home.list()

    assert [server.name for server in found.ready] == ["good"]
    (problem,) = found.problems
    assert problem.startswith(f"{home.project / '.mcp.json'}: server 'bad': ")
    assert said in problem


@requirement("plugins:servers:broken")
def test_a_file_that_is_no_json_is_named_with_its_line(home: Home) -> None:
    (home.project / ".mcp.json").write_text('{\n"mcpServers": {,}}', encoding="utf-8")

    found = home.list(flags=(home.project / "gone.json",))

    assert found.ready == ()
    assert [problem.split(": ")[0] for problem in found.problems] == [
        str(home.project / "gone.json"),
        f"{home.project / '.mcp.json'}:2",
    ]


@requirement("plugins:servers:broken")
def test_two_servers_whose_tools_would_share_their_names_are_told_apart(home: Home) -> None:
    write(home.project / ".mcp.json", {"mcpServers": {"a b": {"command": "x"}, "a.b": {"command": "y"}, "": {}}})

    found = home.list()

    assert [server.name for server in found.ready] == ["a b"]
    assert "'a.b' would share the tool names of 'a b'" in found.problems[-1]


@requirement("plugins:servers:read")
def test_the_files_of_real_projects_are_read(shared_data: Path) -> None:
    names: dict[str, Server] = {}
    for path in sorted((shared_data / "claude_md").rglob(".mcp.json")):
        block = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
        found = parse_servers(
            block, source="plugin", place=str(path), directory=path.parent, values={"MEM0_API_KEY": "k"}
        )
        assert found.problems == ()
        names |= {server.name: server for server in found.ready}

    assert sorted(names) == ["episodic-memory", "mcp-search", "mem0", "reme"]
    assert dict(names["mem0"].headers) == {"Authorization": "Token k"}


@requirement("plugins:servers:variables")
def test_a_variable_a_default_and_an_unset_one() -> None:
    values = {"HOST": "example.test", "EMPTY": ""}

    assert expand_variables("https://${HOST}/${PATH_:-v1}/${KEY}", values) == "https://example.test/v1/${KEY}"
    assert expand_variables("${EMPTY}|${EMPTY:-other}", values) == "|other"
    assert expand_variables("$HOST ${1} ${}", values) == "$HOST ${1} ${}"
    assert unset("${HOST} ${KEY} ${KEY} ${PATH_:-v1}", values) == ("KEY",)


@given(st.text(alphabet="ab{}$:-_ ", max_size=40))
def test_text_without_known_variables_and_defaults_stays_as_it_is(text: str) -> None:
    if ":-" not in text:
        assert expand_variables(text, {}) == text


@given(st.text(max_size=20))
def test_what_is_filled_in_is_not_looked_at_again(value: str) -> None:
    assert expand_variables("${A}", {"A": "${B}" + value, "B": "no"}) == "${B}" + value
