"""`reverie teammate`: a member of a team in a process of its own. Sessions start it; people have no need to."""

from __future__ import annotations

import click

from reverie.apps.cli.options import Common


@click.command("teammate", hidden=True)
@click.argument("name")
@click.option("--team", required=True, metavar="TEAM", help="Which team.")
@click.option(
    "--leader", default="main", show_default=True, metavar="NAME", help="Who started it and hears its reports."
)
@click.option("--type", "kind", metavar="AGENT", help="The role that it plays.")
@click.option("--model", metavar="NAME", help="Which model answers.")
@click.option("--permission-mode", "mode", metavar="MODE", help="How questions are settled.")
@click.pass_obj
def command(
    common: Common, name: str, team: str, leader: str, kind: str | None, model: str | None, mode: str | None
) -> None:
    """Work on what letters to NAME ask, until one of them says that it is enough.

    \b
    Examples:
      reverie teammate tester --team session-1f2e3d4c --type general-purpose
    """
    import asyncio
    from dataclasses import replace

    from reverie.agents import list_agents
    from reverie.api.session import Session
    from reverie.api.teammate import serve
    from reverie.apps.cli.opening import Wanted, setup_of
    from reverie.apps.wiring import model_choice
    from reverie.errors import UserMistake
    from reverie.trust import read_trust

    chosen = model or model_choice(common.configuration(), common.model).name
    setup = setup_of(common, Wanted(mode=mode, team=team, agent_name=name), chosen)
    role = None
    if kind:
        found = list_agents(
            places=setup.places,
            project=setup.project,
            directory=setup.directory,
            declared=setup.settings.agents,
            trust=read_trust(setup.places.trust, setup.project),
        )
        role = found.find(kind)
        if role is None:
            raise UserMistake(f"there is no agent type {kind!r} for the teammate {name!r}")
        setup = replace(setup, system_prompt=role.prompt or None, max_rounds=role.max_rounds)
        if role.model and model is None:
            setup = replace(setup, model=role.model)

    async def run() -> None:
        async with Session.made(setup) as session:
            await serve(session, leader=leader, role=role)

    asyncio.run(run())
