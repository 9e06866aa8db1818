"""`reverie simulate`: a local Messages API, until interrupted."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import click

from reverie.errors import Unavailable
from reverie.settings.load import SystemClock


@click.command("simulate")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="Port (default: any free port).")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option(
    "--script", type=click.Path(path_type=Path), metavar="FILE", help="JSON file with rules for replies and errors."
)
@click.option(
    "--clock", type=click.Path(path_type=Path), metavar="FILE", help="Read the current time from FILE at every request."
)
@click.option("--seed", type=int, metavar="N", help="Seed for ids and token counts.")
def command(port: int, host: str, script: Path | None, clock: Path | None, seed: int | None) -> None:
    """Run a local Messages API with a byte-exact prompt cache, scripted replies and realistic errors.

    The first line printed is the base URL. /_sim/requests lists requests and explains cache hits and misses.

    \b
    Examples:
      reverie simulate --port 8787
      ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_API_KEY=any reverie -p "hello"
    """
    run(port, script, clock, host=host, seed=seed)


def run(
    port: int, script_path: Path | None, clock_path: Path | None, *, host: str = "127.0.0.1", seed: int | None = None
) -> None:
    """Serve until interrupted. Raises `UserMistake` for a bad script, clock file or address."""
    try:
        from reverie_simulator.server import listen, run_until_interrupted
    except ImportError as problem:
        raise Unavailable(
            f"the simulator requires {problem.name}, which is not installed; run `pip install 'reverie[web]'`"
        ) from problem
    from reverie_simulator.clock import FileClock
    from reverie_simulator.script_file import read_script
    from reverie_simulator.simulation import Simulation

    simulation = Simulation(
        clock=SystemClock() if clock_path is None else FileClock(clock_path),
        seed=secrets.randbelow(1_000_000) if seed is None else seed,
        script=None if script_path is None else read_script(script_path),
    )
    skew = simulation.provider.counter.skew
    click.echo(f"seed {simulation.seed}: token counts are multiplied by {skew:.3f}", err=True)
    run_until_interrupted(simulation, listen(host, port), _announce)


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
