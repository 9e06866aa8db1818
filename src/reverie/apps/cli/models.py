"""`reverie models`: the weights for search by meaning."""

from __future__ import annotations

import click

from reverie.apps.cli.options import MemorySelection, as_json, memory_options


@click.command("models")
@click.argument("action", required=False, type=click.Choice(["install", "decline"]))
@as_json
@memory_options
def command(selection: MemorySelection, *, action: str | None, as_json: bool) -> None:
    """List the models for semantic search; `install` downloads them and indexes this project.

    Without them, recall matches words and spelling variants only. `decline` stops offers and hints to install them.

    \b
    Examples:
      reverie models
      reverie models install
    """
    from reverie.apps.cli.output import print_json, print_table, short_size
    from reverie.apps.cli.vectors import decline_vectors, extra_command, install_vectors
    from reverie.memory.search.semantic import missing_packages
    from reverie.memory.search.weights import list_models
    from reverie.settings.load import places_of

    memory = selection.open()
    places = places_of(memory.settings)
    if missing_packages():
        click.echo(f"reverie: semantic search also requires an extra: run `{extra_command()}`", err=True)
    if action == "install":
        install_vectors(memory)
    elif action == "decline":
        decline_vectors(places)
    models = list_models(places.models)
    if as_json:
        print_json([{"name": each.name, "installed": each.installed, "size": each.size_bytes} for each in models])
        return
    rows = [(each.name, "yes" if each.installed else "no", short_size(each.size_bytes)) for each in models]
    print_table([("model", "left"), ("installed", "left"), ("size", "right")], rows)
