"""`reverie mcp`: the memory as an MCP server, until the client leaves or it is interrupted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, project_option
from reverie.errors import Unavailable, UserMistake

if TYPE_CHECKING:
    from reverie.memory.memory import Memory

TOKEN_FILE = "mcp-token"  # noqa: S105 - the name of a file


@click.command("mcp")
@click.option("--http", "is_http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 instead of stdio.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8378, show_default=True, metavar="N", help="Port of --http."
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"File with the token of --http; written if absent (default: {TOKEN_FILE} in the home of Reverie).",
)
@project_option
@click.pass_obj
def command(common: Common, *, is_http: bool, port: int, token_file: Path | None, project: str | None) -> None:
    """Serve the memory to an agent over the Model Context Protocol.

    Serves the project of --project; without it the roots of the client, or the current directory if it has none. On
    stdio it ends with the client. With --http the first line printed is the URL; requests need the token as
    `Authorization: Bearer TOKEN`.

    \b
    Examples:
      claude mcp add reverie -- reverie mcp
      codex mcp add reverie -- reverie mcp --project ~/app
      reverie mcp --http --port 8378
    """
    import asyncio
    import gc

    if token_file is not None and not is_http:
        raise UserMistake("--token-file is for --http; a client on stdio needs no token")
    named = project or common.project
    directory = common.directory(project)
    if not directory.is_dir():
        raise UserMistake(f"{directory} is not a directory; name one inside the project with --project")
    configuration = common.configuration(project)
    # The SDK makes a thousand classes, none of them garbage: without collections it is imported a sixth faster.
    gc.disable()
    try:
        from reverie.apps.mcp.server import MemoryServer, serve_stdio
    except ImportError as problem:
        raise Unavailable(
            f"the MCP server requires {problem.name}, which is not installed; run `pip install 'reverie[mcp]'`"
        ) from problem
    finally:
        gc.freeze()
        gc.enable()

    def open_memory(place: Path) -> Memory:
        from reverie.memory.memory import Memory
        from reverie.settings import load

        its_own = common.configuration(str(place))
        return Memory.at(load.places(its_own), its_own.settings, place)

    server = MemoryServer(open_memory, project=directory if named else None, directory=directory)
    try:
        if not is_http:
            asyncio.run(serve_stdio(server))
            return
        from reverie.apps.loopback import listen
        from reverie.apps.mcp.http import build_http_server, read_or_create_token, url_of

        place = token_file or configuration.home / TOKEN_FILE
        token = read_or_create_token(place)
        listener = listen(port)
        sys.stdout.write(f"{url_of(listener)}\n")
        sys.stdout.flush()
        click.echo(f"reverie: clients send the token in {place} as `Authorization: Bearer TOKEN`", err=True)
        asyncio.run(build_http_server(server, token).serve(sockets=[listener]))
    finally:
        server.close()
