"""`reverie models`: the weights for search by meaning."""

from __future__ import annotations

import click

from reverie.amounts import format_count
from reverie.apps.cli.options import MemorySelection, as_json, memory_options


@click.command("models")
@click.argument("action", required=False, type=click.Choice(["install"]))
@as_json
@memory_options
def command(selection: MemorySelection, *, action: str | None, as_json: bool) -> None:
    """List the models for semantic search; `install` downloads them and indexes this project.

    Without them, recall matches words and spelling variants only.

    \b
    Examples:
      reverie models
      reverie models install
    """
    from importlib.util import find_spec

    from reverie.apps.cli.output import print_json, print_table, short_size
    from reverie.files.places import Places
    from reverie.memory.search.semantic import EXTRA
    from reverie.memory.search.weights import install_weights, list_models

    configuration = selection.common.configuration(selection.project)
    models = Places.at(configuration.home, configuration.config_home).models
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        click.echo("reverie: semantic search also requires an extra: run `pip install 'reverie[semantic]'`", err=True)
    if action == "install":
        install_weights(models, lambda sentence: click.echo(f"reverie: {sentence}", err=True))
        if not missing:
            _index(selection)
    models_found = list_models(models)
    if as_json:
        print_json([{"name": each.name, "installed": each.installed, "size": each.size_bytes} for each in models_found])
        return
    rows = [(each.name, "yes" if each.installed else "no", short_size(each.size_bytes)) for each in models_found]
    print_table([("model", "left"), ("installed", "left"), ("size", "right")], rows)


def _index(selection: MemorySelection) -> None:
    memory = selection.open()
    if memory.off is not None:
        return
    memory.index.sweep()
    done = memory.index.embed_all(
        lambda at, of: click.echo(f"reverie: {at} of {format_count(of, 'memory', 'memories')} embedded", err=True)
    )
    click.echo(f"reverie: {format_count(done, 'memory', 'memories')} indexed for semantic search", err=True)
