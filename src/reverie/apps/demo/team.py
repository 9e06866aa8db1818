"""The end of the demonstration: two people share a memory over a team server, all on this machine."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from reverie.apps.cli.program import run

REPO = "ledgerbird/ledgerbird"
MEMORY = "Integration tests need the database of docker compose; a mock hid a broken migration."
REQUEST = "how do I run the integration tests?"
_NEEDED = ("granian", "httpx2", "sqlalchemy", "alembic")
_START_SECONDS = 60


def show_team(root: Path, screen: Console) -> None:
    """A server, Ada who saves, Bob who is reminded."""
    screen.rule("two people share a memory over a server on this machine")
    if not all(map(find_spec, _NEEDED)):
        screen.print("Not shown: the server is not installed here (pip install 'reverie[server,team]').")
        return
    data = root / "server"
    screen.print("[dim]whoever runs the server adds members and gives each a token[/]")
    tokens = {name: _create_token(data, name) for name in ("ada", "bob")}
    with _running_server(data) as url:
        ada, bob = (_Colleague(root / name, name, screen) for name in tokens)
        for colleague in (ada, bob):
            token = root / f"{colleague.name}.token"
            token.write_text(tokens[colleague.name], encoding="utf-8")
            colleague.show("team", "join", url, "--repo", REPO, "--token-file", str(token))
        ada.show("save", "--team", "--type", "project", "--name", "Integration tests", "--description", MEMORY)
        ada.show("team", "push", "--yes")
        bob.show("team", "pull")
        bob.show("recall", REQUEST, "--limit", "1")
    screen.print()


class _Colleague:
    """Somebody with a home and a checkout of their own."""

    def __init__(self, folder: Path, name: str, screen: Console) -> None:
        self.name = name
        self._screen = screen
        project = folder / "ledgerbird"
        project.mkdir(parents=True)
        homes = ("--set", f"home={folder / 'home'}", "--set", f"config_home={folder / 'host'}")
        self._options = ("--project", str(project), *homes)

    def show(self, *arguments: str) -> None:
        """Run a command and show what it prints."""
        words = " ".join(f"'{word}'" if " " in word else word for word in arguments)
        self._screen.print(f"\n[cyan]{self.name}> reverie {escape(words)}[/]")
        self._screen.file.flush()
        code = run([*self._options, *arguments])
        assert code == 0, f"reverie {words} ended with {code}"


def _create_token(data: Path, name: str) -> str:
    with redirect_stdout(io.StringIO()) as printed:
        assert run(["serve", "--data", str(data), "members", "--add", name]) == 0
        printed.truncate(0)
        printed.seek(0)
        assert run(["serve", "--data", str(data), "token", "--member", name, "--repo", REPO]) == 0
    return printed.getvalue().strip()


@contextmanager
def _running_server(data: Path) -> Iterator[str]:
    """The real server in a process of its own, on a free port of this machine; gives its URL."""
    command = [sys.executable, "-m", "reverie", "serve", "--data", str(data), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            assert url, f"the server ended with {process.wait(_START_SECONDS)}"
            yield url
        finally:
            process.terminate()
