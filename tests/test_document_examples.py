"""What the documents show can be typed: commands run, Python runs, names and options exist."""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
import yaml

from reverie.apps.cli.program import cli
from reverie.messages.blocks import Json
from reverie.testing.simulator import RunningSimulator, simulator
from tests.documents import DOCUMENTS, ROOT, Command, DocumentBlock, read_blocks, read_inline_commands
from tests.person import git
from tests.program import run_reverie
from tests.requirements import requirement

RUNS_ON = {None, "simulate", "serve", "worker", "inspect", "mcp"}
"""Programs that run until they are stopped; None is the terminal. Only their options are checked here."""
SCRIPT: Json = [
    {"when": {"last_user": "rows.py"}, "then": "`last` returns everything but the last row; it should be `rows[-1]`."},
    {"then": "Done."},
]
_UNKNOWN = re.compile(r"[0-9a-f]{7,40}|[\d.,]+")


def names(documents: Iterator[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in documents]


SHOWING = names(path for path in DOCUMENTS if any(block.commands for block in read_blocks(path)))
PYTHON = names(
    path
    for path in DOCUMENTS
    if path.parent.name != "reference" and any(block.language == "python" for block in read_blocks(path))
)


@dataclass
class World:
    """A machine on which somebody follows a document."""

    home: Path
    cwd: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, command: Command) -> tuple[int, str]:
        """The exit code of a command, and all that it printed."""
        match [self.expand(word) for word in command.words]:
            case ["cd", place]:
                self.cwd = self.home / place
                return int(not self.cwd.is_dir()), ""
            case ["export", *assignments]:
                self.environment.update(assignment.partition("=")[::2] for assignment in assignments)
                return 0, ""
            case ["reverie", *arguments]:
                ended = run_reverie(arguments, cwd=self.cwd, environment=self.environment)
                assert "Traceback" not in ended.err, ended.err
                return ended.code, (ended.out + ended.err).replace(str(self.home), "/home/ada")
            case ["git" | "mkdir" | "cat" as program, *arguments]:
                done = subprocess.run(
                    [program, *arguments],
                    cwd=self.cwd,
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                return done.returncode, done.stdout + done.stderr
            case words:
                pytest.fail(f"no test runs {words}; mark the block `<!-- not run: REASON -->`")

    def expand(self, word: str) -> str:
        return str(self.home) + word[1:] if word == "~" or word.startswith("~/") else word


@pytest.fixture
def server() -> Iterator[RunningSimulator]:
    with simulator(SCRIPT) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, server: RunningSimulator) -> World:
    """A home with a session of another agent, a project with things to trust, remotes for a team, a model."""
    home, project = tmp_path / "home", tmp_path / "home" / "your-project"
    project.mkdir(parents=True)
    remotes = {"git@example.org:acme/app.git": "app.git", "git@example.org:me/memory.git": "memory.git"}
    for folder in remotes.values():
        git(tmp_path, "init", "--quiet", "--bare", folder)
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n"
        + "".join(f'[url "file://{tmp_path / folder}"]\n\tinsteadOf = {url}\n' for url, folder in remotes.items()),
        encoding="utf-8",
    )
    write_project(project)
    write_session(home / ".claude" / "projects" / "-srv-shop" / "01a1e3af-0000-4000-8000-000000000001.jsonl", project)
    for agent in (".codex", ".cursor"):
        (home / agent).mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    environment = {
        **kept,
        "HOME": str(home),
        "NO_COLOR": "1",
        "ANTHROPIC_BASE_URL": server.base_url,
        "ANTHROPIC_API_KEY": server.api_key,
        "OPENAI_BASE_URL": f"{server.base_url}/v1",
        "OPENAI_API_KEY": server.api_key,
    }
    return World(home, project, environment)


def write_project(project: Path) -> None:
    files = {
        "rows.py": 'def last(rows):\n    """The newest row of an import."""\n    return rows[:-1]\n',
        "AGENTS.md": "# Tests\n\nRun the importer tests with `make importer-test`.\n",
        ".claude/settings.json": '{"permissions": {"allow": ["Bash(make test:*)"]}}',
        ".mcp.json": '{"mcpServers": {"tickets": {"command": "tickets-mcp", "args": ["--read-only"]}}}',
    }
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "begin")


def write_session(path: Path, project: Path) -> None:
    said = "From now on never mock the database in integration tests; a mock hid a broken migration."
    common = {"sessionId": path.stem, "cwd": str(project), "version": "2.0", "timestamp": "2026-11-01T10:00:00.000Z"}
    user = {"type": "user", "uuid": "a1", "parentUuid": None, "message": {"role": "user", "content": said}}
    reply = {
        "id": "m1",
        "model": "claude-sonnet-5",
        "role": "assistant",
        "content": [{"type": "text", "text": "Noted."}],
    }
    answer = {"type": "assistant", "uuid": "a2", "parentUuid": "a1", "message": reply}
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(common | record) + "\n" for record in (user, answer)), encoding="utf-8")


def normalize(line: str) -> str:
    return " ".join(_UNKNOWN.sub("#", line).split())


def check_output(command: Command, printed: str) -> None:
    """Every line that the document shows was printed, in this order; `…` stands for any lines, figures may differ."""
    lines = iter([normalize(line) for line in printed.split("\n")])
    for shown in command.output:
        if shown.strip() not in {"", "…"}:
            assert normalize(shown) in lines, f"{shown!r} is not in:\n{printed}"


@pytest.mark.program
@requirement("docs:examples:run")
@pytest.mark.parametrize("document", SHOWING)
def test_the_commands_of_a_document_run(document: str, world: World) -> None:
    for block in read_blocks(ROOT / document):
        for command in block.commands if block.runs else []:
            if command.words[:1] == ["make"] or (command.words[:1] == ["reverie"] and name_of(command) in RUNS_ON):
                continue
            code, printed = world.run(command)
            assert code == 0, f"{block.place}: `{command.text}` ended with {code}:\n{printed}"
            if block.mark != "example output":
                check_output(command, printed)


def name_of(command: Command) -> str | None:
    """The command of a line that starts with `reverie`; None where it opens the terminal."""
    if {"-p", "--print", "--version", "--help", "-V", "-h"} & set(command.words):
        return "-p"
    return next((word for word in command.words[1:] if cli.get_command(click.Context(cli), word) is not None), None)


@pytest.mark.program
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@requirement("docs:examples:run")
@pytest.mark.parametrize("document", PYTHON)
def test_the_python_of_a_document_runs(document: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, setting in world.environment.items():
        monkeypatch.setenv(name, setting)
    monkeypatch.chdir(world.cwd)
    blocks = [block for block in read_blocks(ROOT / document) if block.language == "python" and block.runs]

    asyncio.run(run_python(blocks, {"__name__": document}))
    # Clients that an example leaves open are ended here, and not while another test runs.
    gc.collect()


async def run_python(blocks: list[DocumentBlock], namespace: dict[str, object]) -> None:
    """Run blocks as a notebook does: in a running loop, with the names of earlier blocks, `await` at the top."""
    for block in blocks:
        code = compile(block.text, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, namespace)
        if inspect.iscoroutine(result):
            await result


@requirement("docs:examples:run")
@pytest.mark.parametrize("document", names(path for path in DOCUMENTS if path.name != "CHANGELOG.md"))
def test_what_a_document_tells_to_type_exists(document: str) -> None:
    shown = [command for block in read_blocks(ROOT / document) for command in block.commands]
    wrong = [
        f"{command.text}: {problem}"
        for command in [*shown, *read_inline_commands(ROOT / document)]
        if (problem := find_problem(command.words))
    ]

    assert wrong == []


@requirement("docs:examples:run")
def test_a_block_that_is_not_run_says_why() -> None:
    marks = {block.place: block.mark for document in DOCUMENTS for block in read_blocks(document) if block.mark}

    assert [place for place, mark in marks.items() if not re.fullmatch(r"not run: .{8,}|example output", mark)] == []
    assert sum(mark.startswith("not run") for mark in marks.values()) < 20


@requirement("docs:examples:run")
@pytest.mark.parametrize("document", names(iter(DOCUMENTS)))
def test_data_in_a_document_can_be_read(document: str) -> None:
    readers: dict[str, Callable[[str], object]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    for block in read_blocks(ROOT / document):
        if block.language in readers and block.runs:
            assert readers[block.language](block.text), block.place


def find_problem(words: list[str]) -> str:
    """What is wrong with a command line, by name and options alone; empty where nothing is."""
    match [word for word in words if "=" not in word or word.startswith("-")]:
        case ["reverie", *arguments]:
            return find_wrong_option(cli, click.Context(cli, info_name="reverie"), arguments)
        case ["make", target, *_] if not re.search(rf"(?m)^{re.escape(target)}:", text_of("Makefile")):
            return f"the Makefile has no target {target}"
        case ["pip", "install", *packages]:
            extras = {name for package in packages for name in find_extras(package)}
            return ", ".join(
                sorted(extras - tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"].keys())
            )
        case ["python", "-m", module, *_] if module.split(".")[0] in {"bench", "release", "reverie", "tests"}:
            return "" if find_spec(module) is not None else f"no module {module}"
    return ""


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def find_extras(package: str) -> list[str]:
    found = re.fullmatch(r"(?:reverie|\.)\[([\w,-]+)\]", package)
    return found[1].split(",") if found else []


def find_wrong_option(command: click.Command, context: click.Context, arguments: list[str]) -> str:
    options = {
        name: option for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)
    }
    rest = iter(arguments)
    for word in rest:
        if word in {"|", "&&", ";", ">", "<"} or word == "--":
            return ""
        if re.match(r"--?[a-zA-Z]", word):
            option = options.get(word.partition("=")[0])
            if option is None:
                return f"no option {word} of {context.command_path}"
            if isinstance(option, click.Option) and not option.is_flag and not option.count and "=" not in word:
                next(rest, None)
        elif isinstance(command, click.Group) and re.match(r"[a-z]", word):
            inner = command.get_command(context, word)
            if inner is None:
                return f"no command {word} of {context.command_path}"
            return find_wrong_option(inner, click.Context(inner, info_name=word, parent=context), list(rest))
    return ""
