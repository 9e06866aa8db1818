"""From the flags of `reverie` to a session: which model, which earlier session, what may be done without asking."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from reverie.apps.cli.options import Common
from reverie.errors import UserMistake
from reverie.models import from_settings
from reverie.models.offline import OFFLINE
from reverie.session import wiring
from reverie.values import value

if TYPE_CHECKING:
    from reverie.permissions.approval import Approver
    from reverie.session.options import SessionOptions
    from reverie.session.session import Session


@value
class SessionRequest:
    """What the command line says about the session to open."""

    resume: str | None = None
    goes_on: bool = False
    """`--continue`: the newest session of this directory."""
    fork: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `SessionOptions` that flags give."""


def check_flags(options: Mapping[str, Any]) -> None:
    """Raise `UserMistake` for flags that name nothing that can be read, before anything is opened."""
    if options["agents"] is not None:
        from reverie.session.subagents.definitions.discover import check_flag

        check_flag(options["agents"])
    if options["mcp_config"]:
        from reverie.extensions.mcp.servers import check_flag_file

        for path in options["mcp_config"]:
            check_flag_file(path)
    for path in options["plugin_dirs"]:
        if not path.expanduser().is_dir():
            raise UserMistake(f"--plugin-dir {path} does not exist; name the directory of a plugin")


def build_session_options(
    common: Common, model: str, flags: Mapping[str, Any], *, approver: Approver | None = None
) -> SessionOptions:
    """The options of the session; `flags` are fields of it."""
    return wiring.build_agreed_options(
        common.load_agreed(),
        common.directory(),
        model,
        approver=approver,
        is_interactive=approver is not None,
        program=_program(common),
        **flags,
    )


def _program(common: Common) -> tuple[str, ...]:
    """How a teammate of this session is started: this program, with the same settings."""
    words = [sys.executable, "-m", "reverie"]
    words += [word for file in common.settings_files for word in ("--settings", file)]
    words += [word for assignment in common.assignments for word in ("--set", assignment)]
    words += ["--bare"] if common.bare else []
    return (*words, *(["--project", common.project] if common.project else []))


def open_session(options: SessionOptions, request: SessionRequest) -> Session:
    """A new session, or the one that is to be continued."""
    from reverie.session.session import Session

    resume = request.resume
    if request.goes_on:
        resume = newest_session(options)
    if request.fork and resume is None:
        raise UserMistake("--fork-session requires --resume SESSION or --continue")
    return Session.open(options, resume=resume, fork=request.fork)


def newest_session(options: SessionOptions) -> str:
    """The file of the newest session of this directory, ours or the host agent's, which is copied when it goes on."""
    from reverie.files.places import canonical
    from reverie.messages.listing import list_glances

    places, here = options.places, canonical(options.directory)
    ours = list_glances([places.project(options.directory).directory])
    # Names of folders are lossy: the host's may hold sessions of a directory that is called alike.
    listed = list_glances([places.host_project(options.directory).directory])
    theirs = [glance for glance in listed if glance.cwd and canonical(glance.cwd) == here]
    newest = max((*ours[:1], *theirs[:1]), key=lambda glance: glance.updated, default=None)
    if newest is None:
        raise UserMistake(f"no session to continue in {options.directory}; start one without --continue")
    return str(newest.path)


def model_or_refusal(common: Common) -> str | None:
    """The model that answers; None, after three honest lines, when none can be asked and none was chosen."""
    choice = from_settings.model_choice(common.configuration(), common.model)
    if choice.name == OFFLINE and not choice.is_chosen:
        from reverie.models.offline import REFUSAL

        sys.stderr.write(REFUSAL + "\n")
        return None
    return choice.name
