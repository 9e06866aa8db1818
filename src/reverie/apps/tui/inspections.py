"""Slash commands that only show something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reverie.apps.amounts import dollars, short_count
from reverie.apps.rows import context_report
from reverie.apps.tui.host import Host
from reverie.apps.tui.pieces import ListingPiece, Picture
from reverie.apps.tui.window_picture import window_picture
from reverie.models.tokens.usage import bill, totals

ABSENT = {
    "agents": "No agents can be called here; the model does all work itself.",
    "tasks": "Nothing runs in the background.",
    "hooks": "No hooks are set. They go into settings under `hooks`.",
    "skills": "No skills were found. Each is a folder with a SKILL.md under .claude/skills or .reverie/skills.",
    "mcp": "No servers are set. They go into .mcp.json.",
}
"""What is said when a session has nothing to tell."""


async def context(host: Host, argument: str) -> None:  # noqa: ARG001
    """The picture of the window."""
    status = host.conversation.status
    report = context_report(
        host.conversation.entries, model=status.model or None, overrides=host.surroundings.overrides()
    )
    budget = host.surroundings.budget(report.model or "").using(report.tokens)
    title = f"{report.model or 'no model yet'}: what the next request would hold"
    host.show(Picture(title, window_picture(report, budget)))


async def cost(host: Host, argument: str) -> None:  # noqa: ARG001
    """What was spent: as the ledger has it, else as the transcript tells."""
    rows = host.conversation.describe("cost")
    if rows is None:
        spent = totals(host.conversation.entries)
        billed = bill(spent, host.surroundings.overrides())
        rows = (("cost so far", dollars(billed.usd)),)
    status = host.conversation.status
    if status.cache_share is not None:
        rows = (*rows, ("read from the cache", f"{status.cache_share:.0%} of all input"))
    rows = (*rows, ("window", f"{short_count(status.used_tokens)} of {short_count(status.window_tokens)} tokens"))
    host.show(ListingPiece("Cost of this session", rows))


async def status(host: Host, argument: str) -> None:  # noqa: ARG001
    """Where everything lies and what does not work."""
    conversation, around = host.conversation, host.surroundings
    memory = conversation.memory
    rows = [
        ("session", conversation.id),
        ("transcript", str(conversation.path)),
        ("folder", str(around.directory)),
        ("memory", f"off: {memory.off}" if memory.off else str(memory.directory)),
        ("model", conversation.status.model),
        ("version", around.version),
    ]
    if around.status_command:
        rows.append(("status line", host.line_problem or around.status_command))
    host.show(ListingPiece("Status", tuple(row for row in rows if row[1])))
    for problem in memory.cautions():
        host.say(problem, "warning")


def described(subject: str) -> Callable[[Host, str], Awaitable[None]]:
    """A command that lists what the session says of a subject."""

    async def run(host: Host, argument: str) -> None:  # noqa: ARG001
        rows = host.conversation.describe(subject)
        if not rows:
            host.say(ABSENT[subject])
            return
        host.show(ListingPiece(subject.upper() if subject == "mcp" else subject.capitalize(), rows))

    return run
