"""`reverie teammate`: a member of a team in a process of its own. Sessions start it; people have no need to."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.apps.cli.options import Common


@click.command("teammate", hidden=True)
@click.argument("name")
@click.option("--team", required=True, metavar="TEAM", help="Name of the team.")
@click.option(
    "--leader",
    default="main",
    show_default=True,
    metavar="NAME",
    help="Agent that started it and receives its reports.",
)
@click.option("--type", "kind", metavar="AGENT", help="Role of the teammate.")
@click.option("--model", metavar="NAME", help="Model to use.")
@click.option("--permission-mode", "mode", metavar="MODE", help="Permission mode.")
@click.option(
    "--allowed-tools", "allowed", multiple=True, metavar="RULE", help="Allow these tools without asking; repeatable."
)
@click.option(
    "--disallowed-tools", "disallowed", multiple=True, metavar="RULE", help="Never allow these tools; repeatable."
)
@click.option("--append-system-prompt", "appended_prompt", metavar="TEXT", help="Append to the system prompt.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Maximum tokens of each reply.")
@click.option(
    "--window", type=click.IntRange(min=1_000), metavar="N", help="Context window in tokens (default: the model's)."
)
@click.option("--mcp-config", multiple=True, metavar="FILE", help="Additional MCP servers; repeatable.")
@click.option("--plugin-dir", "plugin_dirs", multiple=True, metavar="DIR", help="Load the plugin in DIR; repeatable.")
@click.option("--agents", metavar="JSON", help="Additional agent types.")
@click.pass_obj
def command(
    common: Common,
    *,
    name: str,
    team: str,
    leader: str,
    kind: str | None,
    model: str | None,
    mode: str | None,
    allowed: tuple[str, ...],
    disallowed: tuple[str, ...],
    appended_prompt: str | None,
    max_tokens: int | None,
    window: int | None,
    mcp_config: tuple[str, ...],
    plugin_dirs: tuple[str, ...],
    agents: str | None,
) -> None:
    """Work on what letters to NAME ask, until one of them says that it is enough.

    \b
    Examples:
      reverie teammate tester --team session-1f2e3d4c --type general-purpose
    """
    import asyncio
    from dataclasses import replace

    from reverie.apps.cli.open_session import build_session_options
    from reverie.errors import UserMistake
    from reverie.files.trust import read_trust
    from reverie.models.from_settings import model_choice
    from reverie.session.extensions import read_plugins
    from reverie.session.session import Session
    from reverie.session.subagents.definitions import list_agents
    from reverie.session.teammate import serve

    chosen = model or model_choice(common.configuration(), common.model).name
    flags = {
        "mode": mode,
        "allowed_tools": allowed,
        "disallowed_tools": disallowed,
        "appended_prompt": appended_prompt,
        "max_output_tokens": max_tokens,
        "window_tokens": window,
        "mcp_config": tuple(map(Path, mcp_config)),
        "plugin_dirs": tuple(map(Path, plugin_dirs)),
        "agents": agents,
        "team": team,
        "agent_name": name,
    }
    options = build_session_options(common, chosen, flags)
    role = None
    if kind:
        definitions = list_agents(
            places=options.places,
            project=options.project,
            directory=options.directory,
            plugins=read_plugins(options).plugins,
            declared=options.settings.agents,
            flag=options.agents,
            trust=read_trust(options.places.trust, options.project),
        )
        role = definitions.find(kind)
        if role is None:
            raise UserMistake(f"unknown agent type {kind!r} for teammate {name!r}")
        options = replace(options, system_prompt=role.prompt or None, max_rounds=role.max_rounds)
        if role.model and model is None:
            options = replace(options, model=role.model)

    async def run() -> None:
        async with Session.open(options) as session:
            await serve(session, leader=leader, role=role)

    asyncio.run(run())
