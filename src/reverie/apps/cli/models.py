"""`reverie models`: the weights for search by meaning, and models that answer on this machine."""

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
    Model servers on this machine and programs of other agents that could answer for extraction and dreams are listed
    too; they are used only when you choose one with --model or the setting model.memory.

    \b
    Examples:
      reverie models
      reverie models install
    """
    from reverie.apps.cli.output import print_json, print_table, short_size
    from reverie.apps.cli.vectors import decline_vectors, extra_command, install_vectors
    from reverie.apps.model_list import list_local_models
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
    local = list_local_models()
    if as_json:
        vectors = [{"name": each.name, "installed": each.installed, "size": each.size_bytes} for each in models]
        print_json([*vectors, *({"name": name, "installed": True, "size": None} for name, _ in local)])
        return
    rows = [(each.name, "yes" if each.installed else "no", short_size(each.size_bytes)) for each in models]
    print_table([("model", "left"), ("installed", "left"), ("size", "right")], rows)
    if local:
        click.echo()
        print_table([("could answer here", "left"), ("how", "left")], local)
        click.echo("use one: `reverie dream --model NAME`, `reverie learn --model NAME`, or the setting model.memory")
