"""The `reverie` command group. Commands are imported when they are run: `reverie --help` needs only their names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from reverie import __version__
from reverie.apps.cli.exits import DONE, MISTAKE, ended
from reverie.apps.cli.table import COMMANDS


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [listed.name for listed in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        for listed in COMMANDS:
            if listed.name == cmd_name:
                command = importlib.import_module(f"reverie.apps.cli.{listed.module}").command
                assert isinstance(command, click.Command)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            raise click.UsageError(_no_such_command(args[0]), ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for group in dict.fromkeys(listed.group for listed in COMMANDS):
            rows = [(listed.name, listed.help) for listed in COMMANDS if listed.group == group]
            with formatter.section(group):
                formatter.write_dl(rows)


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="reverie", message="%(prog)s %(version)s")
@click.option("-p", "--print", "prompt", metavar="TEXT", help="Answer one prompt and leave; `-` reads it from stdin.")
@click.option("-m", "--model", metavar="NAME", help="Which model answers, such as claude-sonnet-4-5 or offline.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="How -p prints.",
)
@click.option("--system-prompt", metavar="TEXT", help="System text for -p.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Limit of the answer for -p.")
@click.option("--project", metavar="DIR", help="A directory of the project; the current one by default.")
@click.option("--settings", "settings_files", multiple=True, metavar="FILE|JSON", help="Further settings.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting; may be repeated.")
@click.option("--bare", is_flag=True, help="Simple mode: no memory and no other secondary features.")
@click.pass_context
def cli(
    ctx: click.Context,
    prompt: str | None,
    model: str | None,
    output_format: str,
    system_prompt: str | None,
    max_tokens: int | None,
    project: str | None,
    settings_files: tuple[str, ...],
    assignments: tuple[str, ...],
    bare: bool,
) -> None:
    """Reverie, the memory of an agent.

    \b
    Examples:
      reverie -p "what is in this window?" --model claude-sonnet-4-5
      reverie sessions
      reverie context <session>
    """
    from reverie.apps.cli.options import Common

    ctx.obj = Common(project, settings_files, assignments, bare, model)
    if ctx.invoked_subcommand is not None:
        return
    if prompt is None:
        click.echo(ctx.get_help())
        return
    from reverie.apps.cli.print_turn import print_turn

    ctx.exit(
        print_turn(
            ctx.obj,
            prompt=prompt,
            output_format=output_format,
            system=system_prompt,
            max_tokens=max_tokens,
        )
    )


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing raised on purpose ends in a stack trace."""
    return ended(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        result = cli.main(list(arguments), prog_name="reverie", standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as mistake:
        mistake.show(file=sys.stderr)
        return MISTAKE


def _no_such_command(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [listed.name for listed in COMMANDS], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"there is no command {name!r}.{hint} `reverie --help` lists them."
