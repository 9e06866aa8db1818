"""The demonstration: two turns through the real client against the local simulator, then the picture of a window.

Everything shown is measured while it runs. The sample session beside this file was written for it.
"""

from __future__ import annotations

import asyncio
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.table import Table

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


def main() -> None:
    """Show it."""
    screen = Console(highlight=False)
    screen.rule("[bold]Reverie[/]: two turns, no key, no network")
    with as_file(files("reverie.apps.demo") / "sample-session.jsonl") as sample:
        _two_turns(screen, sample)
        screen.rule("what fills the window of that session")
        run(["context", str(sample)])
    screen.rule("next")
    screen.print("reverie sessions --all            your own sessions, if an agent on this machine wrote some")
    screen.print("reverie context FILE.jsonl        the same picture for one of them")
    screen.print("reverie simulate                  a Messages API of your own to try settings on")


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
