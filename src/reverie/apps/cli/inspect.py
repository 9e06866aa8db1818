"""`reverie inspect`: memories, sessions, background work and cost in a browser."""

from __future__ import annotations

import sys

import click

from reverie.apps.cli.options import MemorySelection, memory_options
from reverie.errors import Unavailable


@click.command("inspect")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="Port (default: any free port).")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--edit", "can_edit", is_flag=True, help="Allow changes on the page: edit, pin, forget, undo, review.")
@memory_options
def command(selection: MemorySelection, *, port: int, no_browser: bool, can_edit: bool) -> None:
    """Show memories, sessions, background work and cost on a local web page, until interrupted.

    The first line printed is the address. It works once, in one browser; no other site can read the page.

    \b
    Examples:
      reverie inspect
      reverie inspect --edit
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
    directory = selection.common.directory(selection.project)
    run(
        Inspected(configuration, directory, selection.open, can_edit=can_edit),
        port,
        _announce,
        opens_browser=not no_browser and sys.stdout.isatty(),
    )


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    sys.stderr.write("Ctrl-C ends it.\n")
