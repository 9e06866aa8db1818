"""The end of the demonstration: two people share a memory over a team server, all on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from reverie.apps.demo.page import Page

REPO = "ledgerbird/ledgerbird"
MEMORY = "Integration tests need the database of docker compose; a mock hid a broken migration."
REQUEST = "how do I run the integration tests?"
_NEEDED = ("granian", "httpx2", "sqlalchemy", "alembic")
_START_SECONDS = 60
_COMMAND_SECONDS = 120


def tell_team(root: Path, page: Page) -> None:
    """A server, Mira who saves, Tom who is reminded."""
    page.head("Two people share a memory, over a server on this machine")
    if not all(map(find_spec, _NEEDED)):
        page.say("Not shown: the server is not installed here (pip install 'reverie[server,team]').")
        return
    with page.working("starting a server with two members") as tell:
        data = root / "server"
        tokens = {name: _create_token(data, name) for name in ("mira", "tom")}
        with _running_server(data) as url:
            mira, tom = (_Colleague(root / name, name, page) for name in tokens)
            for colleague in (mira, tom):
                tell(f"{colleague.name} joins")
                token = root / f"{colleague.name}.token"
                token.write_text(tokens[colleague.name], encoding="utf-8")
                colleague.run("team", "join", url, "--repo", REPO, "--token-file", str(token))
            tell("mira saves and pushes, tom pulls and asks")
            words = ("--type", "project", "--name", "Integration tests", "--description", MEMORY)
            mira.run("save", "--team", *words)
            mira.show(["save", "--team", "'Integration tests need the database of …'"], ())
            mira.show(["team", "push"], mira.run("team", "push", "--yes"))
            tom.show(["team", "pull"], tom.run("team", "pull"))
            recalled = tom.run("recall", REQUEST, "--limit", "1")
            tom.show(["recall", f"'{REQUEST}'"], recalled.splitlines()[:2])


class _Colleague:
    """Somebody with a home and a checkout of their own."""

    def __init__(self, folder: Path, name: str, page: Page) -> None:
        self.name = name
        self._page = page
        project = folder / "ledgerbird"
        project.mkdir(parents=True)
        homes = ("--set", f"home={folder / 'home'}", "--set", f"config_home={folder / 'host'}")
        self._options = ("--project", str(project), *homes)

    def run(self, *arguments: str) -> str:
        """Run a command of the program; what it prints."""
        return run_program(*self._options, *arguments)

    def show(self, words: Sequence[str], output: str | Sequence[str]) -> None:
        """A command, and what it printed."""
        self._page.line(f"{self.name}> reverie {' '.join(words)}", "cyan")
        for line in output.splitlines() if isinstance(output, str) else output:
            self._page.line(line, indent=2)


def run_program(*arguments: str) -> str:
    """The program in a process of its own; what it prints."""
    command = [sys.executable, "-m", "reverie", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False)
    assert done.returncode == 0, f"reverie {' '.join(arguments)} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def _create_token(data: Path, name: str) -> str:
    run_program("serve", "--data", str(data), "members", "--add", name)
    return run_program("serve", "--data", str(data), "token", "--member", name, "--repo", REPO).strip()


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
