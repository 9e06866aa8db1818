"""`reverie replay`: run recorded sessions again with one or more context strategies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.apps.replay.figures import SessionFigures
    from reverie.apps.replay.run import ReplaySetup
    from reverie.context.strategy import Strategy
    from reverie.messages.entries import Entry
    from reverie.settings.load import Configuration

DEFAULT_MODEL = "claude-sonnet-4-5"
"""For recordings that do not name a model the simulator knows."""


@click.command("replay")
@click.argument("named", nargs=-1, required=True, metavar="FILE|SESSION...")
@click.option("--strategy", "names", multiple=True, metavar="NAME", help="Context strategy; repeat to compare several.")
@click.option("--window", type=click.IntRange(min=2_000), metavar="N", help="Context window in tokens.")
@click.option("--model", metavar="NAME", help="Model for prices and caching (default: the recorded one).")
@click.option("--dump", type=click.Path(path_type=Path), metavar="DIR", help="Write every request body to DIR.")
@click.option("--picture", type=click.Path(path_type=Path), metavar="FILE", help="Draw a chart to FILE (.svg or .png).")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the simulator's token counts.")
@as_json
@click.pass_obj
def command(
    common: Common,
    named: tuple[str, ...],
    names: tuple[str, ...],
    window: int | None,
    model: str | None,
    dump: Path | None,
    picture: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Replay recorded sessions request by request and report size, cache, cost, reductions and retained facts.

    FILE is a session of Reverie or another agent, or a mini-swe-agent trajectory (.json); SESSION is a
    session id or a prefix of figures.
    Strategies: default, none, truncate, clear-tools, summarise.

    \b
    Examples:
      reverie replay session.jsonl
      reverie replay 5f0c954e
      reverie replay session.jsonl --strategy default --strategy truncate --window 60000
      reverie replay *.jsonl --json --dump bodies/
    """
    from reverie.apps.cli.output import print_json
    from reverie.apps.replay.picture import svg
    from reverie.apps.replay.strategies import STRATEGIES
    from reverie.context.strategy import find_strategy
    from reverie.errors import UserMistake
    from reverie.files import write_atomic

    chosen = [find_strategy(name, STRATEGIES) for name in names or ("default",)]
    configuration = common.configuration()
    if picture is not None:
        _check_picture(picture)
    if dump is not None and dump.exists() and not dump.is_dir():
        raise UserMistake(f"--dump {dump} is a file; name a directory")
    paths = [_find_recording(configuration, common.directory(), text) for text in named]
    recordings = [(path, *_read_recording(path)) for path in paths]
    replayed: list[SessionFigures] = []
    for path, entries, recorded in recordings:
        for strategy in chosen:
            setup = _build_setup(configuration, strategy, model or common.model or recorded, window, seed)
            replayed.append(_replay(path, entries, setup, dump, len(chosen) > 1))
    if picture is not None:
        write_atomic(picture, _encode_picture(svg(replayed), picture))
    if as_json:
        print_json({"sessions": [figures.as_document() for figures in replayed]})
    else:
        _print_figures(replayed)


def _find_recording(configuration: Configuration, directory: Path, named: str) -> Path:
    from reverie.apps.find_session import find_session

    path = Path(named)
    return path if path.suffix == ".json" and path.is_file() else find_session(configuration, directory, named)


def _check_picture(path: Path) -> None:
    """Check that the chart can be written, before a replay that may take long."""
    from reverie.errors import UserMistake

    if path.suffix not in (".svg", ".png"):
        raise UserMistake(f"--picture {path}: the file name must end in .svg or .png")
    if path.is_dir() or not path.absolute().parent.is_dir():
        problem = "is a directory" if path.is_dir() else f"{path.absolute().parent} does not exist"
        raise UserMistake(f"--picture {path}: {problem}; name a file in an existing directory")
    if path.suffix == ".png":
        try:
            import resvg_py  # noqa: F401 - only whether it is there
        except ModuleNotFoundError:
            raise UserMistake(
                "writing .png requires resvg-py: run `pip install 'reverie[pictures]'`, or write .svg"
            ) from None


def _read_recording(path: Path) -> tuple[list[Entry], str]:
    from reverie.hosts.catalogue import read_host_session
    from reverie.messages.trajectory import read_recording
    from reverie.messages.view import project
    from reverie.models.tokens.count import model_of
    from reverie_simulator.facts import facts_of

    theirs = read_host_session(path)
    entries = read_recording(path) if theirs is None else list(theirs.entries)
    recorded = model_of(project(entries)) or DEFAULT_MODEL
    return entries, recorded if facts_of(recorded) is not None else DEFAULT_MODEL


def _build_setup(
    configuration: Configuration, strategy: Strategy, model: str, window: int | None, seed: int
) -> ReplaySetup:
    from reverie.apps.replay.run import ReplaySetup
    from reverie.models import from_settings
    from reverie.models.profiles import profile

    settings = configuration.settings
    return ReplaySetup(
        model=model,
        facts=profile(model, from_settings.profile_overrides(settings)),
        budget=from_settings.budget(settings, model, window=window),
        settings=settings,
        strategy=strategy,
        seed=seed,
    )


def _replay(path: Path, entries: list[Entry], setup: ReplaySetup, dump: Path | None, several: bool) -> SessionFigures:
    import tempfile
    from dataclasses import replace

    from reverie.apps.replay.run import replay

    folder = None
    if dump is not None:
        folder = dump / path.stem / setup.strategy.name if several else dump / path.stem
    with tempfile.TemporaryDirectory(prefix="reverie-replay-") as spills:
        complete = replace(setup, dump=folder, spills=Path(spills))
        return replay(str(path), entries, complete, _progress(path.name, setup.strategy.name))


def _progress(name: str, strategy: str) -> Callable[[int, int], None]:
    """Shows a line that counts requests; nothing where standard error is not a terminal."""
    if not sys.stderr.isatty():
        return lambda _, __: None

    def show(done: int, total: int) -> None:
        end = "\r\033[K" if done == total else ""
        sys.stderr.write(f"\r{name}, {strategy}: request {done} of {total}{end}")
        sys.stderr.flush()

    return show


def _encode_picture(svg: str, path: Path) -> bytes:
    if path.suffix == ".svg":
        return svg.encode()
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg))


def _print_figures(replayed: list[SessionFigures]) -> None:
    from reverie.apps.cli.output import console, dollars, print_table, short_count
    from reverie.apps.replay.picture import rows_of_text

    screen = console()
    for figures in replayed:
        window = short_count(figures.window)
        screen.print(f"[bold]{Path(figures.file).name}[/]  {figures.strategy}  {figures.model}  window {window}")
        for line in rows_of_text(figures, columns=min(100, screen.width - 2)):
            screen.print(line, style="cyan", markup=False)
        if figures.stopped:
            screen.print(
                f"stopped after {len(figures.requests)} of {figures.steps} requests: {figures.stopped}", markup=False
            )
        screen.print()
    rows = []
    for figures in replayed:
        reduced = ", ".join(f"{count} × {kind}" for kind, count in figures.reductions.items()) or "–"
        rows.append(
            (
                Path(figures.file).name,
                figures.strategy,
                f"{len(figures.requests)}/{figures.steps}",
                short_count(figures.peak_tokens),
                f"{figures.read_share:.0%}",
                dollars(figures.cost_usd),
                str(figures.receipt_failures) if figures.receipts else "–",
                reduced,
            )
        )
    columns = [
        ("session", "flex"),
        ("strategy", "left"),
        ("requests", "right"),
        ("peak", "right"),
        ("cached", "right"),
        ("cost", "right"),
        ("lost", "right"),
        ("reductions", "left"),
    ]
    print_table(columns, rows)
