"""`make demo`: three weeks of a team in a minute, without a key or a network.

Everything shown is the real program at work in a home of its own (`home`), which stays for `reverie inspect --demo`.
`--vectors DIR` (`make demo VECTORS=1`) keeps the model for search by meaning in DIR, downloads it if it is not there,
and shows what it adds; where that is not possible, the rest is shown all the same. No figure is written down here.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from reverie.apps.demo import chapters
from reverie.apps.demo.home import LAST_DAY, LONG_DAY, DemoHome, demo_root, finish_demo_home, start_demo_home
from reverie.apps.demo.page import Page
from reverie.apps.demo.team import tell_team
from reverie.files.locks import locked
from reverie.memory.search.semantic import missing_packages
from reverie.settings.load import from_process, system_now


def main() -> None:
    """Tell it."""
    parser = argparse.ArgumentParser(
        prog="python -m reverie.apps.demo", description="Three weeks of a team in a minute."
    )
    parser.add_argument("--vectors", type=Path, metavar="DIR", help="show search by meaning too; the model lies in DIR")
    models: Path | None = parser.parse_args().vectors
    page = Page(Console(highlight=False))
    now = system_now()
    root = demo_root(from_process().home)
    root.mkdir(parents=True, exist_ok=True)
    page.console.print("[bold]Reverie[/]: memory and a window that lasts, for agents. No key, no network.")
    with locked(root / "lock", label="demonstration", now=now, timeout_seconds=300.0):
        home = start_demo_home(root, now)
        _tell(home, page, models)
        finish_demo_home(home)
    with tempfile.TemporaryDirectory(prefix="reverie-demo-") as folder:
        tell_team(Path(folder), page)
    page.head("Look at it yourself", numbered=False)
    program = _find_program()
    rows = [
        (f"{program} inspect --demo", "these weeks in a browser"),
        (f"{program} learn ~/.claude/projects --dry-run", "what yours would teach"),
        (program, "the agent itself"),
    ]
    if models is None:
        rows.append(("make demo VECTORS=1", "recall by meaning (84 MB)"))
    page.rows(rows, first="cyan")


def _find_program() -> str:
    """How to call the program from here: by its name, or by a path where the shell would not find it."""
    beside = Path(sys.executable).parent / "reverie"
    if shutil.which("reverie") or not beside.is_relative_to(Path.cwd()):
        return "reverie"
    return str(beside.relative_to(Path.cwd()))


def _tell(home: DemoHome, page: Page, models: Path | None) -> None:
    before = home.ask(home.clock.at(0, 8, 30))
    reports = chapters.tell_weeks(home, page)
    after = home.ask(home.clock.at(LAST_DAY, 16))
    chapters.tell_memories(home, reports, page)
    chapters.tell_difference(before, after, page)
    if models is not None:
        _tell_meaning(home, page, models.absolute())
    dreamt = home.play_night(LAST_DAY)
    assert dreamt is not None, "there is a dream on the last night"
    chapters.tell_dream(dreamt, page)
    home.leave_proposal()
    (transcript,) = (report.sessions[-1] for report in reports if report.day == LONG_DAY)
    results = chapters.tell_long_session(home, transcript, page)
    chapters.tell_cost(home, results, page)


def _tell_meaning(home: DemoHome, page: Page, models: Path) -> None:
    """Install the model and ask with it; without it, the reason is told."""
    by_words = chapters.recall_names(home)
    models.mkdir(parents=True, exist_ok=True)
    place = home.configuration.home / "models"
    place.symlink_to(models)
    homes = ("--set", f"home={home.configuration.home}", "--set", f"config_home={home.configuration.config_home}")
    command = [sys.executable, "-m", "reverie", "--project", str(home.project), *homes, "models", "install"]
    if missing_packages() or subprocess.run(command, check=False).returncode != 0:
        page.blank()
        page.say("Vectors cannot be installed here; the demonstration goes on by words.")
        place.unlink()
        return
    chapters.tell_meaning(home, by_words, page)


if __name__ == "__main__":
    main()
