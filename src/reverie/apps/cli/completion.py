"""`reverie completion`: the script that lets a shell complete our commands."""

from __future__ import annotations

import click

_PLACES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/completions/reverie.fish"}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_PLACES)))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Examples:
      reverie completion bash >> ~/.bashrc
      reverie completion zsh >> ~/.zshrc
      reverie completion fish > ~/.config/fish/completions/reverie.fish
    """
    from click.shell_completion import get_completion_class

    from reverie.apps.cli.program import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "reverie", "_REVERIE_COMPLETE").source())
