"""`make demo`: learn, recall, dream, compact, compare strategies and share, without a key or a network.

`--vectors DIR` (`make demo VECTORS=1`) keeps the model for search by meaning in DIR, downloads it if it is not there,
and shows what it adds; where that is not possible, the rest is shown all the same.
Everything shown is the real program, run on sample sessions that were written for it (`story/`, `sample-session.jsonl`)
in a home and a project of its own. No figure is written down here.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from reverie.apps.cli.program import run
from reverie.apps.cli.vectors import VectorsAnswer, write_answer
from reverie.apps.demo.story import write_story
from reverie.apps.demo.team import show_team
from reverie.context.receipt import Receipt
from reverie.memory.search.semantic import missing_packages
from reverie.models.offline import OFFLINE
from reverie.session import wiring
from reverie.session.session import Session
from reverie.settings import load
from reverie.settings.load import SettingsFlags, from_process

SESSION_WINDOW = 32_000
"""For the running session, whose system text and tools take their part of it."""
REPLAY_WINDOW = 6_000
"""For the bare recording; small enough to need a reduction."""
REQUESTS = (
    "may I mock the database in the importer test?",
    "what do I have to do before I commit?",
    "where is the dashboard to look at after a deploy?",
    "recommend a novel for the train ride",
)
PARAPHRASE = "which monitoring page shows latency?"
"""Says in other words what one of the memories is about."""
BY_HAND = (
    ("feedback", "Linter first", "Always run the linter before you commit"),
    ("project", "Auditors", "The auditors come tomorrow and want the import log"),
)
SHOWN = 6
STRATEGIES = ("default", "truncate", "clear-tools", "summarise")


def main() -> None:
    """Show it."""
    parser = argparse.ArgumentParser(prog="python -m reverie.apps.demo", description="Show the main job of Reverie.")
    parser.add_argument("--vectors", type=Path, metavar="DIR", help="show search by meaning too; the model lies in DIR")
    models: Path | None = parser.parse_args().vectors
    screen = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="reverie-demo-") as folder:
        stage = Stage(Path(folder), screen)
        stage.learn()
        stage.recall()
        if models is not None:
            stage.recall_by_meaning(models.absolute())
        stage.dream()
        with as_file(files("reverie.apps.demo") / "sample-session.jsonl") as sample:
            stage.compact(sample)
            stage.compare(sample)
        show_team(Path(folder) / "team", screen)
    screen.rule("next, on your own transcripts")
    screen.print("reverie learn ~/.claude/projects --dry-run   what would be remembered")
    screen.print("reverie recall 'how do we test here?'        what you taught an agent before")
    screen.print("reverie                                      an agent that remembers")
    if models is None:
        screen.print("make demo VECTORS=1                          the same with recall by meaning (downloads 84 MB)")


class Stage:
    """A home, a project, and the program in them."""

    def __init__(self, root: Path, screen: Console) -> None:
        self._screen = screen
        self._home, self._host = root / "home", root / "host"
        self._project = root / "ledgerbird"
        self._project.mkdir()
        self._sessions = root / "sessions"
        # Nobody is asked in the middle of a demonstration.
        write_answer(load.places(from_process(self._flags())), VectorsAnswer(declined=True))

    def learn(self) -> None:
        """Three weeks of sessions become memories; what does not belong there is refused."""
        self._screen.rule("[bold]Reverie[/]: no key, no network")
        written = write_story(self._sessions, project=str(self._project))
        self._screen.print(f"{len(written)} sessions of a small team over three weeks are read:\n")
        self._run("learn", str(self._sessions))
        self._heading("the same again learns nothing twice")
        self._run("learn", str(self._sessions))
        self._heading("refused, and why")
        self._run("log", "--refused")

    def recall(self) -> None:
        """Four requests; none of the memories is about the last."""
        self._screen.rule("recall: ranked, explained, and able to say nothing")
        for request in REQUESTS:
            self._heading(f"> {request}")
            self._run("recall", request, "--limit", "1")

    def recall_by_meaning(self, models: Path) -> None:
        """The model is installed, and a request is asked by words and with it; without it, the reason is told."""
        self._screen.rule("vectors: recall by meaning, on this machine")
        models.mkdir(parents=True, exist_ok=True)
        (self._home / "models").symlink_to(models)
        if missing_packages() or self._exit_code("models", "install") != 0:
            self._screen.print("\nVectors cannot be installed here; the demonstration goes on by words.")
            return
        self._heading(f"> {PARAPHRASE} (by words)")
        self._run("recall", PARAPHRASE, "--limit", "1", "--words")
        self._heading(f"> {PARAPHRASE} (with vectors)")
        self._run("recall", PARAPHRASE, "--limit", "1")

    def dream(self) -> None:
        """The proposal as a diff, then applied as one commit."""
        self._screen.rule("a dream: the store is put in order while nobody waits")
        self._screen.print("Meanwhile two people saved something by hand:\n")
        for kind, name, text in BY_HAND:
            self._run("save", "--type", kind, "--name", name, "--description", text, "--body", text)
        self._heading("what a dream proposes")
        self._run("dream", "--review")
        self._heading("applied as one commit, which `reverie undo` takes back")
        self._run("dream", "--yes")
        self._run("log", "--limit", "3")

    def compact(self, sample: Path) -> None:
        """A long session passes a compaction and shows its receipt."""
        self._screen.rule("a long session is compacted, with a receipt")
        receipt, before, after = asyncio.run(self._compact_sample(sample))
        self._screen.print(
            f"Compacted from {before:,} to {after:,} tokens. Facts that must survive, checked afterwards:\n"
        )
        for fate, count in Counter(str(line.fate) for line in receipt.lines).items():
            self._screen.print(f"  {count:3} {fate}")
        self._screen.print()
        for line in receipt.lines[:SHOWN]:
            self._screen.print(f"  [dim]{line.sort}:[/] {escape(_short(line.label))} [dim]{line.fate}[/]")
        more = len(receipt.lines) - SHOWN
        self._screen.print(f"  [dim]… and {more} more; `reverie span` reads what was left out[/]\n")

    async def _compact_sample(self, sample: Path) -> tuple[Receipt, int, int]:
        configuration = from_process(self._flags())
        options = wiring.build_options(configuration, self._project, OFFLINE, window_tokens=SESSION_WINDOW)
        async with Session.open(options, resume=str(sample)) as session:
            await session.begin()
            before = session.status.used_tokens
            receipt = await session.compact()
            assert receipt is not None, "the sample session is longer than its window"
            return receipt, before, session.status.used_tokens

    def compare(self, sample: Path) -> None:
        """Cost and size of the same session under four strategies."""
        self._screen.rule(f"its recording in a window of {REPLAY_WINDOW:,} tokens, under four strategies")
        named = [word for name in STRATEGIES for word in ("--strategy", name)]
        self._run("replay", str(sample), "--window", str(REPLAY_WINDOW), *named)

    def _run(self, *arguments: str) -> None:
        code = self._exit_code(*arguments)
        assert code == 0, f"reverie {' '.join(arguments)} ended with {code}"

    def _exit_code(self, *arguments: str) -> int:
        self._screen.file.flush()
        return run([*self._options(), *arguments])

    def _options(self) -> tuple[str, ...]:
        project = ("--project", str(self._project))
        return (*project, "--set", f"home={self._home}", "--set", f"config_home={self._host}")

    def _flags(self) -> SettingsFlags:
        return SettingsFlags(project=self._project, assignments=(f"home={self._home}", f"config_home={self._host}"))

    def _heading(self, text: str) -> None:
        self._screen.print(f"\n[cyan]{escape(text)}[/]")


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 48 else f"{flat[:47]}…"


if __name__ == "__main__":
    main()
