"""Plain `reverie`: a terminal to work in. Joins the screen (`apps.tui`) with sessions; decides nothing itself."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from reverie.apps.cli.exits import DONE, FAILED
from reverie.apps.cli.open_session import SessionRequest, build_session_options, open_session
from reverie.apps.cli.options import Common
from reverie.errors import Error, Unavailable, UserMistake
from reverie.models import from_settings
from reverie.models.offline import OFFLINE
from reverie.settings import load

if TYPE_CHECKING:
    from reverie.apps.tui.conversation import TerminalContext, Wish
    from reverie.permissions.approval import Approver
    from reverie.session.session import Session
    from reverie.settings.load import Configuration


def chat(common: Common, request: SessionRequest) -> int:
    """Work in the terminal until the user leaves; returns the exit code."""
    configuration = common.configuration()
    choice = from_settings.model_choice(configuration, common.model)
    greeting = "" if choice.is_chosen or choice.name != OFFLINE else _refusal()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        if greeting:
            click.echo(greeting, err=True)
            return FAILED
        raise UserMistake("standard input or output is not a terminal; use `reverie -p TEXT` to answer one prompt")
    try:
        from reverie.apps.tui.app import Chat
    except ImportError as problem:
        raise Unavailable(
            f"The terminal needs {problem.name}, which is not installed. Install `reverie[tui]`."
        ) from problem
    _offer_vectors(common, configuration)
    screen = Chat(surroundings(common, request, configuration, choice.name, greeting))
    screen.run()
    if screen.failure is not None:
        raise screen.failure
    if screen.resumable:
        click.echo(f"Resume this session with: reverie --resume {screen.resumable}")
    return DONE


def _offer_vectors(common: Common, configuration: Configuration) -> None:
    """Ask about vectors before the screen is taken, where the memory of this project would gain from them."""
    from reverie.apps.cli.vectors import offer_vectors
    from reverie.memory.memory import Memory

    with Memory.at(load.places(configuration), configuration.settings, common.directory()) as memory:
        offer_vectors(memory)


def surroundings(
    common: Common, request: SessionRequest, configuration: Configuration, model: str, greeting: str
) -> TerminalContext:
    """What the terminal needs to know of the settings and of this process."""
    from reverie import __version__
    from reverie.apps.find_session import session_folders
    from reverie.apps.model_list import list_models
    from reverie.apps.tui.clipboard import copy_to_tmux, save_clipboard_image
    from reverie.apps.tui.conversation import TerminalContext
    from reverie.apps.tui.history import INPUT_HISTORY
    from reverie.messages.listing import list_glances

    directory, settings = common.directory(), configuration.settings
    is_in_tmux = configuration.secrets.get("TMUX") is not None

    def open_wished_session(approver: Approver, wish: Wish) -> Session:
        from reverie.session.session import Session

        options = build_session_options(common, wish.model or model, request.options, approver=approver)
        return open_session(options, request) if wish.is_first else Session.open(options, resume=wish.resume)

    return TerminalContext(
        directory=directory,
        input_history=configuration.home / INPUT_HISTORY,
        open=open_wished_session,
        now=load.SystemClock().now,
        list_sessions=lambda: list_glances(session_folders(configuration, directory)),
        budget=lambda name: from_settings.budget(settings, name, window=request.options.get("window_tokens")),
        edit=lambda text: click.edit(text, extension=".md"),
        copy=copy_to_tmux if is_in_tmux else lambda _: None,
        clipboard_image=save_clipboard_image,
        warm=lambda: _warm(configuration, model),
        list_models=lambda: list_models(configuration),
        overrides=lambda: from_settings.profile_overrides(settings),
        greeting="\n".join(filter(None, [greeting, *_cautions(configuration)])),
        is_colourless=settings.ui.color == "never",
        has_meter=settings.ui.meter,
        shell=configuration.secrets.get("SHELL") or "/bin/sh",
        status_command=settings.status_line.command,
        output_style=settings.output_style,
        version=__version__,
    )


def _warm(configuration: Configuration, model: str) -> None:
    """Load the vendor's library that the model will need, which takes longer than anything else before a request."""
    from reverie.models.connection import load_sdk

    with suppress(Error, ImportError):
        vendor = type(from_settings.model(configuration, model)).__module__.rpartition(".")[2]
        if vendor in ("anthropic", "openai"):
            load_sdk(vendor)


def _cautions(configuration: Configuration) -> list[str]:
    """What of the settings was not taken; of what waits for trust the session itself tells."""
    return [str(caution) for caution in configuration.cautions if not caution.waits_for_trust]


def _refusal() -> str:
    from reverie.models.offline import REFUSAL

    return REFUSAL
