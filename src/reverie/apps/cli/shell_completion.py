"""What a shell may put in place of a half-typed word: file names of memories, and commits."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, suppress
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.options import Common, MemorySelection

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from reverie.memory.memory import Memory

_COMMITS_OFFERED = 50


def memory_names(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The memories whose file name or name begins so; file names, since they need no quotes."""
    from click.shell_completion import CompletionItem

    def list_names(memory: Memory) -> Iterable[tuple[str, str]]:
        memory.index.sweep()
        return sorted(memory.index.names().items())

    return [
        CompletionItem(path, help=name)
        for path, name in _of_all(ctx, list_names)
        if path.casefold().startswith(begun.casefold()) or name.casefold().startswith(begun.casefold())
    ]


def commits(ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The latest changes whose id begins so."""
    from click.shell_completion import CompletionItem

    def list_commits(memory: Memory) -> Iterable[tuple[str, str]]:
        from reverie.memory.store import timeline

        return ((each.commit, each.change.reason) for each in timeline.log(memory.store, limit=_COMMITS_OFFERED))

    return [
        CompletionItem(commit[:8], help=why) for commit, why in _of_all(ctx, list_commits) if commit.startswith(begun)
    ]


def _of_all(ctx: click.Context, ask: Callable[[Memory], Iterable[tuple[str, str]]]) -> list[tuple[str, str]]:
    """What the memories answer that the flags before the word mean. Whatever goes wrong, the prompt stays clean."""
    from reverie.errors import Error

    params = ctx.params
    selection = MemorySelection(Common(), params.get("project"), params.get("memory_dir"), bool(params.get("is_user")))
    answers: list[tuple[str, str]] = []
    with redirect_stderr(io.StringIO()), suppress(Error, OSError):
        for memory in selection.all(selection.open()):
            answers += ask(memory)
    return answers
