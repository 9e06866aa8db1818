"""`reverie serve` and its subcommands as processes of their own."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement


@contextmanager
def serving(terminal: Terminal, *arguments: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a server and its process."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-m", "reverie", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=terminal.project,
        env={**kept, "HOME": str(terminal.home), **environment},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate(timeout=60)


def push(url: str, token: str, texts: Mapping[str, str], repo: str = "acme/app") -> httpx2.Response:
    entries = {
        path: {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()} for path, text in texts.items()
    }
    return httpx2.put(
        f"{url}/team_memory",
        params={"repo": repo},
        headers={"authorization": f"Bearer {token}", "if-match": "*"},
        content=json.dumps({"entries": entries}),
    )


def pull(url: str, token: str, repo: str = "acme/app") -> httpx2.Response:
    return httpx2.get(f"{url}/team_memory", params={"repo": repo}, headers={"authorization": f"Bearer {token}"})


def texts_of(answer: httpx2.Response) -> dict[str, str]:
    return {path: row["text"] for path, row in answer.json()["entries"].items() if not row["deleted"]}


@requirement("server:runs", "server:commands")
def test_a_server_a_token_and_a_client_share_a_memory(terminal: Terminal, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    token = terminal.run("serve", "token", "--repo", "acme/app", "--scope", "write", *data, "--json").document["token"]

    with serving(terminal, *data) as (url, process):
        pushed, pulled = push(url, token, {"ci.md": "Run the linter."}), pull(url, token)
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)

    assert url.startswith("http://127.0.0.1:")
    assert pushed.status_code == 200
    assert texts_of(pulled) == {"ci.md": "Run the linter."}
    assert process.returncode == 0
    assert [json.loads(line)["status"] for line in log.splitlines()] == [200, 200]
    assert token not in log
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@requirement("server:runs")
def test_it_exits_with_130_when_interrupted_and_names_a_taken_port(terminal: Terminal) -> None:
    with serving(terminal) as (url, process):
        port = url.rsplit(":", 1)[1]
        with serving(terminal, "--port", port) as (_, other):
            _, refusal = other.communicate(timeout=60)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert process.returncode == 130
    assert other.returncode == 2
    assert f"127.0.0.1:{port}" in refusal


@requirement("server:body-limit")
def test_a_gigabyte_is_refused_before_it_is_sent(terminal: Terminal) -> None:
    token = terminal.run("serve", "token").out.strip()
    with serving(terminal) as (url, _):
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(
                f"PUT /team_memory?repo=acme/app HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n"
                "content-length: 1000000000\r\n\r\n".encode()
            )
            answer = connection.recv(65_536).decode()

    assert answer.startswith("HTTP/1.1 413 ")


@pytest.mark.program
@requirement("server:commands", "server:audit")
def test_tenants_members_tokens_and_limits_are_managed(terminal: Terminal) -> None:
    def run(*arguments: str) -> Any:
        ran = terminal.run("serve", *arguments, "--json")
        assert ran.code == 0, ran.err
        return ran.document

    acme = ("--tenant", "acme")
    run("tenants", "--add", "acme")
    run("members", "--add", "ada", "--subject", "idp|1", "--scope", "admin", *acme)
    token = run("token", "--member", "ada", "--expires", "30", *acme)
    limits = run("limits", "max_entries=3", "max_file_bytes=99", *acme)
    run("limits", "max_file_bytes=default", *acme)
    with serving(terminal) as (url, _):
        who = httpx2.get(f"{url}/whoami", headers={"authorization": f"Bearer {token['token']}"}).json()
        run("tokens", "--revoke", str(token["id"]), *acme)
        revoked = pull(url, token["token"])
    listed = run("tokens", *acme)
    run("members", "--remove", "ada", *acme)
    audit = run("audit", *acme)

    assert {row["name"]: row["value"] for row in limits}["max_file_bytes"] == 99
    assert (who["tenant"], who["member"], who["limits"]["max_entries"]) == ("acme", "ada", 3)
    assert who["limits"]["max_file_bytes"] == 128_000
    assert revoked.status_code == 401
    assert [(row["member"], row["state"]) for row in listed] == [("ada", "revoked")]
    assert [line["action"] for line in reversed(audit)] == [
        "tenant.create", "member.create", "token.create", "limits", "limits", "token.revoke", "member.remove",
    ]  # fmt: skip
    assert "acme" in terminal.run("serve", "tenants").out
    assert terminal.run("serve", "tenants", "--remove", "acme").code == 2
    assert run("tenants", "--remove", "acme", "--yes") == []


@requirement("server:commands")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("token", "--tenant", "nobody"), "no tenant 'nobody'"),
        (("token", "--repo", "../x"), "not the name of a repository"),
        (("token", "--member", "nobody"), "no member 'nobody'"),
        (("tokens", "--revoke", "9"), "no token 9"),
        (("limits", "speed=3"), "unknown limit 'speed'"),
        (("token", "--database", "mysql://x/y"), "only PostgreSQL and SQLite"),
        (("export", "--repo", "acme/app", "out"), "no repository"),
        (("restore", "missing"), "does not exist"),
        (("tenants", "--data", "x", "--database", "sqlite:///y"), "give one"),
    ],
)
def test_a_mistake_is_named(terminal: Terminal, arguments: tuple[str, ...], words: str) -> None:
    ran = terminal.run("serve", *arguments)

    assert ran.code == 2
    assert words in ran.err


@pytest.mark.program
@requirement("server:backup", "server:commands", "server:versions")
def test_a_backup_restores_into_an_empty_database_and_an_export_gives_files(terminal: Terminal, tmp_path: Path) -> None:
    old, new = ("--data", str(tmp_path / "old")), ("--data", str(tmp_path / "new"))
    file = tmp_path / "backup.jsonl.gz"
    token = terminal.run("serve", "token", *old).out.strip()
    with serving(terminal, *old) as (url, _):
        push(url, token, {"a.md": "first", "sub/b.md": "b"})
        before = push(url, token, {"a.md": "second"}).headers["etag"]
        rows = terminal.run("serve", "backup", str(file), *old, "--json").document["rows"]
    again = terminal.run("serve", "restore", str(file), *old)
    restored = terminal.run("serve", "restore", str(file), *new)
    with serving(terminal, *new) as (url, _):
        pulled = pull(url, token)
    redacted = terminal.run("serve", "redact", "--repo", "acme/app", "--path", "a.md", *new, "--json").document
    exported = terminal.run("serve", "export", "--repo", "acme/app", str(tmp_path / "files"), *new)
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(file.read_bytes()[:-30])
    broken = terminal.run("serve", "restore", str(damaged), "--data", str(tmp_path / "third"))

    assert (rows["entries"], rows["revisions"], rows["tokens"]) == (2, 3, 1)
    assert file.stat().st_mode & 0o077 == 0
    assert again.code == 1
    assert "not empty" in again.err
    assert restored.code == 0, restored.err
    assert texts_of(pulled) == {"a.md": "second", "sub/b.md": "b"}
    assert pulled.headers["etag"] != before, "an ETag of before must not fit the restored state"
    assert redacted["redacted"] == 1
    assert exported.code == 0, exported.err
    assert (tmp_path / "files" / "sub" / "b.md").read_text(encoding="utf-8") == "b"
    assert broken.code == 2
    assert terminal.run("serve", "tenants", "--data", str(tmp_path / "third"), "--json").document == []


@requirement("server:runs")
def test_the_server_is_not_imported_by_the_command_that_only_helps() -> None:
    code = "import sys, reverie.apps.cli.serve; sys.exit('starlette' in sys.modules or 'sqlalchemy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False, env=os.environ).returncode == 0
