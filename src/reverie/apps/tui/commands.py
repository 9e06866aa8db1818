"""The table of slash commands. Adding one is one line here and a function beside those it resembles."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.apps.tui import changes, inspections
from reverie.apps.tui import rewind as rewinding
from reverie.apps.tui.host import Host, SlashCommand
from reverie.apps.tui.pieces import ListingPiece

KEYS = (
    ("Enter", "send; during a turn words join it at its next step, commands run after it"),
    ("Alt+Enter, \\ Enter", "new line; also Shift+Enter or Ctrl+J"),
    ("Up, Down, Ctrl+R", "what you typed before, also in earlier sessions"),
    ("Tab", "complete a /command or an @path"),
    ("Shift+Tab", "next permission mode"),
    ("Esc", "stop the turn"),
    ("Ctrl+C", "stop the turn or empty the input; twice leaves"),
    ("Ctrl+D", "leave"),
    ("Ctrl+O, click", "unfold the newest call, or the one under the mouse"),
    ("Ctrl+T", "unfold all"),
    ("PageUp, PageDown", "scroll, as does the wheel; Ctrl+End goes to the end"),
    ("drag", "select; it is copied at once. With Shift held the terminal itself selects"),
    ("Ctrl+G", "write the message in your editor"),
)
TYPED = (
    ("/name", "a command or a skill"),
    ("@path", "a file, completed as you type"),
    ("#text", "remember this, as your own word"),
    ("!command", "run it here; the model reads of it with your next words"),
)


async def show_help(host: Host, argument: str) -> None:  # noqa: ARG001 - every command takes one
    """What can be typed."""
    rows = tuple((f"/{one.name} {one.argument}".rstrip(), one.help) for one in COMMANDS)
    host.show(ListingPiece("Commands", rows))
    host.show(ListingPiece("Beginnings", TYPED))
    host.show(ListingPiece("Keys", KEYS))


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("help", "what can be typed here", show_help),
    SlashCommand("memory", "browse, edit, pin, forget and undo memories", changes.memory),
    SlashCommand("context", "what fills the window, as a picture", inspections.context),
    SlashCommand("cost", "what this session has cost", inspections.cost),
    SlashCommand("status", "this session, its files, and what does not work", inspections.status),
    SlashCommand("compact", "make room now", changes.compact, "[from|up_to [id]] [instructions]", True),
    SlashCommand("uncompact", "take the last compaction back", changes.uncompact, needs_rest=True),
    SlashCommand("snip", "leave the oldest messages out of what is sent", changes.snip, needs_rest=True),
    SlashCommand("dream", "put the memories in order", changes.dream, needs_rest=True),
    SlashCommand("resume", "go on with an earlier session", changes.resume, "[id]", True),
    SlashCommand("rewind", "go back to before a message, also with files", rewinding.rewind, needs_rest=True),
    SlashCommand("clear", "begin anew; the transcript stays", changes.clear, needs_rest=True),
    SlashCommand("model", "which model answers, or change it", changes.model, "[name]", True),
    SlashCommand("permissions", "the rules, or change the mode", changes.permissions, "[mode]"),
    SlashCommand("trust", "let what came with the project act, or not", changes.trust),
    SlashCommand("init", "let the model write AGENTS.md for this project", changes.init, needs_rest=True),
    SlashCommand("agents", "agents that can be called", inspections.described("agents")),
    SlashCommand("tasks", "work in the background; a name ends it", changes.tasks, argument="[NAME]"),
    SlashCommand("hooks", "your scripts that run on events", inspections.described("hooks")),
    SlashCommand("skills", "skills, each also a command", inspections.described("skills")),
    SlashCommand("mcp", "servers that bring tools", inspections.described("mcp")),
    SlashCommand("export", "write this conversation as Markdown", changes.write_export, "[file]"),
    SlashCommand("copy", "copy the last answer", changes.copy),
    SlashCommand("exit", "leave; the session can be resumed", changes.leave),
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
    return f"there is no command /{name}; {hint}/help lists them"
