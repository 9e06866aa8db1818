"""The `reverie` command group and the table of its commands, with a line of help each.

Commands are imported when they are run: `reverie --help` needs only their names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

import click

from reverie import __version__
from reverie.apps.cli.exits import DONE, FAILED, MISTAKE, run_command
from reverie.values import value

MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]


class LazyGroup(click.Group):
    """A group that knows its commands by name and loads one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [listed.name for listed in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        for listed in (*COMMANDS, *HIDDEN):
            if listed.name == cmd_name:
                command = importlib.import_module(f"reverie.apps.cli.{listed.module}").command
                assert isinstance(command, click.Command)
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        prompt = ctx.params.get("prompt")
        if prompt is not None:
            from shlex import quote

            words = " ".join([prompt, *args])
            raise click.UsageError(f"-p takes one prompt; quote the whole text: reverie -p {quote(words)}", ctx)
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            raise click.UsageError(_no_such_command(args[0]), ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for group in dict.fromkeys(listed.group for listed in COMMANDS):
            rows = [(listed.name, listed.help) for listed in COMMANDS if listed.group == group]
            with formatter.section(group):
                formatter.write_dl(rows)


def _prompt(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """What follows `-p`: a prompt, or another flag by mistake, which is not sent to a model."""
    if value in ctx.help_option_names:
        click.echo(ctx.get_help())
        ctx.exit()
    flags = {flag for option in ctx.command.params for flag in (*option.opts, *option.secondary_opts)}
    if value is not None and value.partition("=")[0] in flags:
        raise click.UsageError(f"-p must be followed by the prompt, not {value}; use `-p -` to read it from stdin", ctx)
    return value


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="reverie", message="%(prog)s %(version)s")
@click.option(
    "-p",
    "--print",
    "prompt",
    metavar="TEXT",
    callback=_prompt,
    help="Answer one prompt and exit; `-` reads it from stdin.",
)
@click.option("-m", "--model", metavar="NAME", help="Model to use, such as claude-sonnet-4-5 or offline.")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="Output format of -p.",
)
@click.option("-c", "--continue", "goes_on", is_flag=True, help="Continue the most recent session of this directory.")
@click.option("-r", "--resume", metavar="SESSION", help="Resume this session; a prefix of its id is enough.")
@click.option("--fork-session", "fork", is_flag=True, help="Continue in a copy; the original session is not changed.")
@click.option("--permission-mode", "mode", type=click.Choice(MODES), help="Initial permission mode.")
@click.option(
    "--allowed-tools", "allowed", multiple=True, metavar="RULE", help="Allow these tools without asking; repeatable."
)
@click.option(
    "--disallowed-tools", "disallowed", multiple=True, metavar="RULE", help="Never allow these tools; repeatable."
)
@click.option("--system-prompt", metavar="TEXT", help="Replace the default system prompt.")
@click.option("--append-system-prompt", "appended_prompt", metavar="TEXT", help="Append to the system prompt.")
@click.option("--init", "setup_trigger", flag_value="init", help="Run Setup hooks before starting (trigger: init).")
@click.option(
    "--maintenance",
    "setup_trigger",
    flag_value="maintenance",
    help="Run Setup hooks before starting (trigger: maintenance).",
)
@click.option(
    "--max-turns", "max_rounds", type=click.IntRange(min=1), metavar="N", help="Maximum model calls per turn."
)
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Maximum tokens of each reply.")
@click.option(
    "--window", type=click.IntRange(min=1_000), metavar="N", help="Context window in tokens (default: the model's)."
)
@click.option("--mcp-config", multiple=True, metavar="FILE", help="Additional MCP servers; repeatable.")
@click.option("--plugin-dir", "plugin_dirs", multiple=True, metavar="DIR", help="Load the plugin in DIR; repeatable.")
@click.option("--agents", metavar="JSON", help='Additional agent types: {"NAME": {"description": "…", "prompt": "…"}}.')
@click.option("--project", metavar="DIR", help="Project directory (default: the current directory).")
@click.option(
    "--add-dir", "added", multiple=True, metavar="DIR", help="Additional directory that tools may access; repeatable."
)
@click.option(
    "--settings", "settings_files", multiple=True, metavar="FILE|JSON", help="Additional settings; repeatable."
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override one setting; repeatable.")
@click.option("--bare", is_flag=True, help="Minimal mode: no memory, no background work, no other optional features.")
@click.pass_context
def cli(
    ctx: click.Context,
    prompt: str | None,
    model: str | None,
    output_format: str,
    goes_on: bool,
    resume: str | None,
    fork: bool,
    mode: str | None,
    allowed: tuple[str, ...],
    disallowed: tuple[str, ...],
    system_prompt: str | None,
    appended_prompt: str | None,
    setup_trigger: str | None,
    max_rounds: int | None,
    max_tokens: int | None,
    window: int | None,
    mcp_config: tuple[str, ...],
    plugin_dirs: tuple[str, ...],
    agents: str | None,
    project: str | None,
    added: tuple[str, ...],
    settings_files: tuple[str, ...],
    assignments: tuple[str, ...],
    bare: bool,
) -> None:
    """Reverie: memory and context management for coding agents.

    \b
    Without -p or a command, starts an interactive session in the terminal.

    \b
    Examples:
      reverie
      reverie --continue
      reverie -p "why does the importer test fail?" --allowed-tools "Bash(pytest:*)"
      reverie recall "how do we test the importer?"
    """
    from reverie.apps.cli.options import Common, resolve_added_directories

    ctx.obj = Common(project, settings_files, (*assignments, *resolve_added_directories(added)), bare, model)
    if ctx.invoked_subcommand is not None:
        return
    from pathlib import Path

    from reverie.apps.cli.open_session import (
        SessionRequest,
        build_session_options,
        check_flags,
        model_or_refusal,
        open_session,
    )

    options = {
        "mode": mode,
        "allowed_tools": allowed,
        "disallowed_tools": disallowed,
        "system_prompt": system_prompt,
        "appended_prompt": appended_prompt,
        "setup_trigger": setup_trigger or "",
        "max_rounds": max_rounds,
        "max_output_tokens": max_tokens,
        "window_tokens": window,
        "mcp_config": tuple(map(Path, mcp_config)),
        "plugin_dirs": tuple(map(Path, plugin_dirs)),
        "agents": agents,
    }
    check_flags(options)
    request = SessionRequest(resume, goes_on, fork, options)
    if prompt is None:
        from reverie.apps.cli.chat import chat

        ctx.exit(chat(ctx.obj, request))
    from reverie.apps.cli.print_turn import print_turn, prompt_text

    text = prompt_text(prompt)
    chosen = model_or_refusal(ctx.obj)
    if chosen is None:
        ctx.exit(FAILED)
    ctx.exit(print_turn(open_session(build_session_options(ctx.obj, chosen, options), request), text, output_format))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing raised on purpose ends in a stack trace."""
    return run_command(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        result = cli.main(list(arguments), prog_name="reverie", standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:
        if isinstance(leaving.__context__, BrokenPipeError):
            return DONE  # click ends with 1 when the reader left, as `| head` does
        raise
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as mistake:
        mistake.show(file=sys.stderr)
        return MISTAKE


def _no_such_command(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [listed.name for listed in COMMANDS], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown command {name!r}.{hint} Run `reverie --help` for a list."


@value
class Listed:
    """One command as `reverie --help` shows it."""

    name: str
    help: str
    module: str
    """The module below `reverie.apps.cli` whose `command` it is."""
    group: str


COMMANDS: tuple[Listed, ...] = (
    Listed("save", "Save a memory.", "save", "Memory"),
    Listed("recall", "Find memories relevant to a query.", "recall", "Memory"),
    Listed("list", "List all memories.", "list", "Memory"),
    Listed("show", "Show one memory.", "show", "Memory"),
    Listed("forget", "Remove a memory; `undo` restores it.", "forget", "Memory"),
    Listed("pin", "Pin a memory to the top of the index.", "pin", "Memory"),
    Listed("learn", "Extract memories from existing transcripts.", "learn", "Memory"),
    Listed("dream", "Consolidate memories: merge duplicates, fix dates, archive outdated ones.", "dream", "Memory"),
    Listed("team", "Share memories with colleagues over a git remote.", "team", "Memory"),
    Listed("sync", "Keep your private memory the same on your machines.", "sync", "Memory"),
    Listed("log", "List changes: who, what, when and why.", "log", "History"),
    Listed("diff", "Show what a change did.", "diff", "History"),
    Listed("why", "Show the sources of a memory.", "why", "History"),
    Listed("undo", "Undo a change.", "undo", "History"),
    Listed("at", "Show memories as of a date.", "at", "History"),
    Listed("erase", "Remove a memory and its history permanently.", "erase", "History"),
    Listed("export", "Export memories and their history to a file.", "export", "History"),
    Listed("import", "Import an exported file.", "import_", "History"),
    Listed("sessions", "List the sessions of this project.", "sessions", "Sessions"),
    Listed("search", "Search past sessions.", "search", "Sessions"),
    Listed("context", "Show what uses the context window of a session.", "context", "Sessions"),
    Listed("span", "Show messages that are no longer in the context window.", "span", "Sessions"),
    Listed("uncompact", "Undo a compaction.", "uncompact", "Sessions"),
    Listed("replay", "Replay recorded sessions with a context strategy.", "replay", "Sessions"),
    Listed("cost", "Show model costs by day, purpose or session.", "cost", "Sessions"),
    Listed("tasks", "List background tasks, running and finished.", "tasks", "Sessions"),
    Listed("inspect", "Show memories, sessions and cost on a local web page.", "inspect", "Sessions"),
    Listed("install", "Connect another agent with your memory: hooks and an MCP entry.", "install", "Setup"),
    Listed("hook", "Answer a hook of another agent.", "hook", "Setup"),
    Listed("doctor", "Check a memory for problems and fix them.", "doctor", "Setup"),
    Listed("audit", "Score the memory files of any agent.", "audit", "Setup"),
    Listed("models", "List or install models for semantic search.", "models", "Setup"),
    Listed("completion", "Print a shell completion script.", "completion", "Setup"),
    Listed("trust", "Review what a project asks you to trust.", "trust", "Setup"),
    Listed("settings", "Show settings and where their values come from.", "settings", "Setup"),
    Listed("mcp", "Serve the memory to other agents over MCP.", "mcp", "Setup"),
    Listed("serve", "Run the team server, and administer it.", "serve", "Setup"),
    Listed("worker", "Run jobs of the team server: dreams and extraction of many repositories.", "worker", "Setup"),
    Listed("simulate", "Run a local Messages API with a byte-exact prompt cache.", "simulate", "Setup"),
)

HIDDEN: tuple[Listed, ...] = (Listed("teammate", "Run one teammate of a team.", "teammate", ""),)
"""What the program itself runs; no help lists it."""
