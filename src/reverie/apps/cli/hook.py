"""`reverie hook`: what hooks of other agents call."""

from __future__ import annotations

import click


@click.command("hook")
@click.argument("event")
@click.option("--agent", default="", metavar="NAME", help="Agent that the hook was installed for.")
def command(event: str, agent: str) -> None:
    """Answer a hook EVENT of another agent: JSON on standard input, the agent's own form on standard output.

    `reverie install` writes the hooks; nobody needs to type this. Without --agent the caller is recognised by what only
    it sends. The exit code is always 0; failures are lines in the log `hooks/log` of Reverie's home. It ends after 2
    seconds at the latest. REVERIE_HOOKS=off turns hooks off for one session, `companion.enabled = false` for a project.

    \b
    Examples:
      echo '{"session_id": "1", "cwd": ".", "prompt": "how do we test?"}' | reverie hook UserPromptSubmit
      reverie hook SessionStart --agent codex < event.json
    """
    from reverie.apps.hook.run import main

    main([event, *(["--agent", agent] if agent else [])])
