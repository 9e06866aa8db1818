"""The table of slash commands, and the commands that only show something, such as `/context`.

Adding one is one line in the table and a function beside those it resembles.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reverie.amounts import dollars, short_count
from reverie.apps.rows import ContextReport, context_report
from reverie.apps.tui import changes
from reverie.apps.tui import rewind as rewinding
from reverie.apps.tui.host import Host, SlashCommand
from reverie.apps.tui.pieces import ListingPiece, Picture
from reverie.apps.tui.status_line import LEVEL_STYLES
from reverie.models.tokens.usage import bill, totals
from reverie.models.tokens.window import WindowBudget

KEYS = (
    ("Enter", "send; during a turn, messages are added at its next step and commands run after it"),
    ("Alt+Enter, \\ Enter", "new line; also Shift+Enter or Ctrl+J"),
    ("Up, Down, Ctrl+R", "input history, including earlier sessions"),
    ("Tab", "complete a /command or an @path"),
    ("Shift+Tab", "next permission mode"),
    ("Esc", "stop the turn"),
    ("Ctrl+C", "stop the turn or clear the input; press twice to exit"),
    ("Ctrl+D", "leave"),
    ("Ctrl+O, click", "expand the newest tool call, or the one clicked"),
    ("Ctrl+T", "expand all"),
    ("PageUp, PageDown", "scroll (also with the mouse wheel); Ctrl+End goes to the end"),
    ("drag", "select and copy; hold Shift to use the terminal's own selection"),
    ("Ctrl+G", "write the message in your editor"),
)
TYPED = (
    ("/name", "a command or a skill"),
    ("@path", "a file, completed as you type"),
    ("#text", "save this as a memory stated by you"),
    ("!command", "run a shell command; the model sees its output with your next message"),
)


ABSENT = {
    "agents": "No agents available.",
    "tasks": "No background tasks.",
    "hooks": "No hooks configured. Add them to settings under `hooks`.",
    "skills": "No skills found. A skill is a directory with a SKILL.md in .claude/skills or .reverie/skills.",
    "mcp": "No MCP servers configured. Add them to .mcp.json.",
}
"""What is said when a session has nothing to tell."""


async def context(host: Host, argument: str) -> None:  # noqa: ARG001
    """The picture of the window."""
    status = host.conversation.status
    report = context_report(
        host.conversation.entries, model=status.model or None, overrides=host.surroundings.overrides()
    )
    budget = host.surroundings.budget(report.model or "").using(report.tokens)
    title = f"{report.model or 'no model yet'}: contents of the next request"
    host.show(Picture(title, window_picture(report, budget)))


async def cost(host: Host, argument: str) -> None:  # noqa: ARG001
    """What was spent: as the ledger has it, else as the transcript tells."""
    rows = host.conversation.describe("cost")
    if rows is None:
        spent = totals(host.conversation.entries)
        rows = (("cost so far", dollars(bill(spent, host.surroundings.overrides()))),)
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


def make_listing_command(subject: str) -> Callable[[Host, str], Awaitable[None]]:
    """A command that lists what the session says of a subject."""

    async def run(host: Host, argument: str) -> None:  # noqa: ARG001
        rows = host.conversation.describe(subject)
        if not rows:
            host.say(ABSENT[subject])
            return
        host.show(ListingPiece(subject.upper() if subject == "mcp" else subject.capitalize(), rows))

    return run


BAR = 40
MOST_PARTS = 10
MOST_BIGGEST = 5


def window_picture(report: ContextReport, budget: WindowBudget) -> tuple[RenderableType, ...]:
    """A gauge, what it is made of, and the heaviest single things."""
    share = report.tokens / max(1, budget.effective_tokens)
    gauge = _gauge(report.tokens, budget).append(f" {share:.0%}  {budget.level.value}")
    facts = Text(
        f"{short_count(report.tokens)} of {short_count(budget.effective_tokens)} tokens · compaction at "
        f"{short_count(budget.compact_at_tokens)} · {report.messages} messages",
        style="dim",
    )
    parts = Table.grid(padding=(0, 2, 0, 0))
    parts.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    for width in (5, 4):
        parts.add_column(justify="right", no_wrap=True, min_width=width)
    parts.add_column(no_wrap=True, overflow="crop")
    heaviest = max((part.tokens for part in report.parts), default=1)
    for part in report.parts[:MOST_PARTS]:
        bar = Text("█" * max(1, round(part.tokens / heaviest * BAR / 2)), style="cyan")
        percent = f"{part.tokens / max(1, report.tokens):.0%}"
        parts.add_row(Text(part.kind), short_count(part.tokens), percent, bar)
    renderables: list[RenderableType] = [gauge, facts, Text(""), parts]
    biggest = [big for big in report.biggest[:MOST_BIGGEST] if big.tokens]
    if biggest:
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(justify="right", no_wrap=True, min_width=5)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        for big in biggest:
            table.add_row(short_count(big.tokens), Text(big.label))
        renderables += [Text(""), Text("biggest", style="dim"), table]
    return tuple(Padding(each, (0, 0, 0, 2)) for each in renderables)


def _gauge(tokens: int, budget: WindowBudget) -> Text:
    """A bar over all that can be used of the window, with a mark where compaction starts."""

    def place(amount: int) -> int:
        return min(BAR, round(amount / max(1, budget.effective_tokens) * BAR))

    filled, mark = place(tokens), min(BAR - 1, place(budget.compact_at_tokens))
    bar = Text().append("▕", style="dim")
    for cell in range(BAR):
        drawn = "█" if cell < filled else "┆" if cell == mark else "·"
        bar.append(drawn, style=LEVEL_STYLES[budget.level] if cell < filled else "dim")
    return bar.append("▏", style="dim")


async def show_help(host: Host, argument: str) -> None:  # noqa: ARG001 - every command takes one
    """What can be typed."""
    rows = tuple((f"/{one.name} {one.argument}".rstrip(), one.help) for one in COMMANDS)
    host.show(ListingPiece("Commands", rows))
    host.show(ListingPiece("Beginnings", TYPED))
    host.show(ListingPiece("Keys", KEYS))


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("help", "show keys and commands", show_help),
    SlashCommand("memory", "browse, edit, pin, forget and undo memories", changes.memory),
    SlashCommand("context", "show what uses the context window", context),
    SlashCommand("cost", "show the cost of this session", cost),
    SlashCommand("status", "show this session, its files and problems", status),
    SlashCommand("compact", "compact the conversation now", changes.compact, "[from|up_to [id]] [instructions]", True),
    SlashCommand("uncompact", "undo the last compaction", changes.uncompact, needs_rest=True),
    SlashCommand("snip", "remove the oldest messages from the context", changes.snip, needs_rest=True),
    SlashCommand("team", "show what is shared with colleagues; pull or push it", changes.team, "[pull|push]"),
    SlashCommand("dream", "consolidate memories", changes.dream, needs_rest=True),
    SlashCommand("resume", "resume an earlier session", changes.resume, "[id]", True),
    SlashCommand("rewind", "rewind to before a message, optionally with files", rewinding.rewind, needs_rest=True),
    SlashCommand("clear", "start a new conversation; the transcript is kept", changes.clear, needs_rest=True),
    SlashCommand("model", "show or change the model", changes.model, "[name]", True),
    SlashCommand("permissions", "show permission rules or change the mode", changes.permissions, "[mode]"),
    SlashCommand("trust", "review what this project asks you to trust", changes.trust),
    SlashCommand("init", "let the model write AGENTS.md for this project", changes.init, needs_rest=True),
    SlashCommand("agents", "list available agents", make_listing_command("agents")),
    SlashCommand("tasks", "list background tasks; give a name to stop one", changes.tasks, argument="[NAME]"),
    SlashCommand("hooks", "list hooks", make_listing_command("hooks")),
    SlashCommand("skills", "list skills; each is also a command", make_listing_command("skills")),
    SlashCommand("mcp", "list MCP servers", make_listing_command("mcp")),
    SlashCommand("export", "export this conversation as Markdown", changes.write_export, "[file]"),
    SlashCommand("copy", "copy the last reply", changes.copy),
    SlashCommand("exit", "exit; the session can be resumed", changes.leave),
)
"""All commands, in the order of the help."""


def find(name: str, commands: Sequence[SlashCommand]) -> SlashCommand | None:
    """The command of this name."""
    return next((command for command in commands if command.name == name), None)


def near(name: str, names: Sequence[str]) -> str:
    """A sentence for a command that there is not."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1)
    hint = f"did you mean /{close[0]}? " if close else ""
    return f"unknown command /{name}; {hint}see /help"
