"""The demonstration: memories kept and found, two turns through the real client against the local simulator, the
picture of a window, and the same session under three strategies.

Everything shown is the real program, measured while it runs. The sample session beside this file was written for it.
"""

from __future__ import annotations

import asyncio
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reverie.api.memory import Memory
from reverie.apps.cli.output import dollars, short_count
from reverie.apps.cli.program import run
from reverie.apps.wiring import SystemClock
from reverie.messages.blocks import Json
from reverie.messages.message import Message, user
from reverie.messages.transcript import read_entries
from reverie.messages.view import project
from reverie.models.answer import answer
from reverie.models.anthropic import AnthropicModel
from reverie.ports import CacheMark, Reply, Request
from reverie.simulator.script_file import script_from_json
from reverie.simulator.server import BackgroundServer
from reverie.simulator.simulation import Simulation
from reverie.tokens.profiles import cost, profile

MODEL = "claude-sonnet-4-5"
QUESTIONS = (
    "Which bookings would the migration move, in one sentence?",
    "Good. What did I say about commit messages?",
)
SCRIPT: list[Json] = [
    {
        "when": {"last_user": "migration"},
        "then": {"text": "Ten Tidewater bookings whose day and month were exchanged."},
    },
    {"when": {"last_user": "commit"}, "then": {"text": "Imperative mood, and no ticket numbers in the subject."}},
]


MEMORIES = (
    ("feedback", "No database mocks", "Integration tests use a real database; a mock hid a broken migration"),
    ("feedback", "Commit messages", "Imperative mood, no ticket numbers in the subject of a commit"),
    ("project", "Tidewater dates", "Tidewater Credit Union writes the day first: 03/11/2026 is the 3rd of November"),
    ("reference", "Where bank formats are", "Formats of all banks are described in the team wiki under Statements"),
)
REQUESTS = (
    "May I mock the database in the importer test?",
    "Why did a Tidewater booking land in March?",
    "Recommend a novel for the train ride.",
)


def main() -> None:
    """Show it."""
    screen = Console(highlight=False)
    screen.rule("[bold]Reverie[/]: no key, no network")
    _memories(screen)
    with as_file(files("reverie.apps.demo") / "sample-session.jsonl") as sample:
        screen.rule("two turns through the real client, with the prompt cache")
        _two_turns(screen, sample)
        screen.rule("what fills the window of that session")
        run(["context", str(sample)])
        screen.rule("the same session in a window of 6,000 tokens, under three strategies")
        run(["replay", str(sample), "--window", "6000", *_strategies("default", "truncate", "clear-tools")])
    screen.rule("next")
    screen.print("reverie sessions --all        your own sessions, if an agent on this machine wrote some")
    screen.print("reverie context FILE.jsonl    the same picture for one of them")
    screen.print("reverie save --help           keep a memory of this project")


def _memories(screen: Console) -> None:
    """Keep four memories in a directory of their own and ask three things of them, one of which none is about."""
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(folder)
        for kind, name, description in MEMORIES:
            memory.save(name=name, type=kind, description=description, body=description)
        kept = len(list(memory.topics()))
        screen.print(f"{kept} memories are kept as Markdown, {len(memory.log())} commits tell who changed what\n")
        for request in REQUESTS:
            hits = memory.recall(request, limit=1)
            screen.print(f"[cyan]> {request}[/]")
            for hit in hits:
                screen.print(f"  {hit.topic.name}: {hit.topic.description}", markup=False)
                screen.print(f"  [dim]why: {escape(str(hit.why))}[/]")
            if not hits:
                screen.print("  nothing fits, so nothing is shown")
        screen.print()


def _strategies(*names: str) -> list[str]:
    return [word for name in names for word in ("--strategy", name)]


def _two_turns(screen: Console, sample: Path) -> None:
    history = project(read_entries(sample)).messages
    simulation = Simulation(clock=SystemClock(), seed=1, script=script_from_json(SCRIPT, "the demonstration"))
    with BackgroundServer(simulation) as server:
        model = AnthropicModel(MODEL, key="simulated", base_url=server.url)
        screen.print(f"A session of {len(history)} messages is sent to a simulated Messages API at {server.url}\n")
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("turn")
        for heading in ("tokens", "from cache", "to cache", "fresh", "cost", "without cache"):
            table.add_column(heading, justify="right")
        for number, question in enumerate(QUESTIONS, 1):
            history = (*history, user(question))
            reply = asyncio.run(_ask(model, history))
            history = (*history, reply.message)
            screen.print(f"[cyan]> {question}[/]\n{reply.text}\n")
            table.add_row(str(number), *_figures(reply))
        screen.print(table)
        screen.print()


async def _ask(model: AnthropicModel, history: tuple[Message, ...]) -> Reply:
    marks = (CacheMark("messages", -1),)
    return await answer(model, Request(model=MODEL, messages=history, max_tokens=500, cache_marks=marks))


def _figures(reply: Reply) -> list[str]:
    usage, facts = reply.usage, profile(MODEL)
    assert facts.prices is not None, "the table knows this model"
    uncached = (usage.context_tokens * facts.prices.input + usage.output_tokens * facts.prices.output) / 1_000_000
    return [
        short_count(usage.context_tokens),
        short_count(usage.cache_read_tokens),
        short_count(usage.cache_write_tokens),
        short_count(usage.input_tokens),
        dollars(cost(usage, facts)),
        dollars(uncached),
    ]


if __name__ == "__main__":
    main()
