"""`reverie inspect`: memories, sessions, background work and cost in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import MemorySelection, memory_options
from reverie.errors import Unavailable

if TYPE_CHECKING:
    from reverie.apps.inspect.page import Inspected


@click.command("inspect")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="Port (default: any free port).")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--edit", "can_edit", is_flag=True, help="Allow changes on the page: edit, pin, forget, undo, review.")
@click.option("--demo", "shows_demo", is_flag=True, help="Show the demonstration: three weeks of an invented team.")
@memory_options
def command(selection: MemorySelection, *, port: int, no_browser: bool, can_edit: bool, shows_demo: bool) -> None:
    """Show memories, sessions, background work and cost on a local web page, until interrupted.

    The first line printed is the address. It works once, in one browser; no other site can read the page.

    \b
    Examples:
      reverie inspect
      reverie inspect --edit
      reverie inspect --demo
      reverie inspect --no-browser --port 8765
    """
    try:
        from reverie.apps.inspect.page import Inspected
        from reverie.apps.inspect.run import run
    except ImportError as problem:
        raise Unavailable(
            f"the page requires {problem.name}, which is not installed; run `pip install 'reverie[web]'`"
        ) from problem
    configuration = selection.common.configuration(selection.project)
    if shows_demo:
        inspected = _open_demo(configuration.home, can_edit=can_edit)
    else:
        directory = selection.common.directory(selection.project)
        inspected = Inspected(configuration, directory, selection.open, can_edit=can_edit)
    run(
        inspected,
        port,
        _announce,
        opens_browser=not no_browser and sys.stdout.isatty(),
    )


def _open_demo(home: Path, *, can_edit: bool) -> Inspected:
    """The home of the demonstration, which is made first where there is none; the user's own memory is not in it."""
    from reverie.apps.demo.home import demo_root, open_demo_home
    from reverie.apps.inspect.page import Inspected
    from reverie.settings.load import system_now

    is_terminal = sys.stderr.isatty()

    def show_progress(done: int, of: int, what: str) -> None:
        if done == 0:
            sys.stderr.write("Making the demonstration, once; about half a minute.\n")
        if is_terminal:
            sys.stderr.write(f"\r\033[K{100 * done // of:3} %  {what}" if done < of else "\r\033[K")
        sys.stderr.flush()

    demo = open_demo_home(demo_root(home), system_now(), show_progress)
    return Inspected(demo.configuration, demo.project, lambda: demo.open_memory(system_now), can_edit=can_edit)


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    sys.stderr.write("Ctrl-C ends it.\n")
