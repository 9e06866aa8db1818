"""The question to a person and the possible answers. How it looks is up to the interface."""

from __future__ import annotations

from typing import Protocol

from reverie.permissions.need import Need
from reverie.values import value


@value
class Question:
    """One call that waits for a yes."""

    call_id: str
    need: Need
    reason: str
    """Why it is asked: the rule, the mode, or what the command does."""
    suggestions: tuple[str, ...] = ()
    """Rules in the users' syntax that would make the question unnecessary, the narrowest first."""
    agent: str = ""
    """Which agent asks; empty for the main one."""


@value
class Approval:
    """The answer."""

    allowed: bool
    rule: str = ""
    """A suggestion that is to hold from now on."""
    scope: str = "once"
    """For how long: `once`, `session`, `local` (this project, private) or `user`."""
    message: str = ""
    """What the person wants the model to know, above all after a no."""
    mode: str = ""
    """A permission mode to change to, for the approval of a plan."""


class Approver(Protocol):
    """Somebody who can be asked."""

    async def approve(self, question: Question) -> Approval:
        """Wait for the answer; cancelling the wait withdraws the question."""
        ...


class NobodyThere:
    """Nobody to ask, as under `-p`: every question is a no that says so."""

    async def approve(self, question: Question) -> Approval:
        return Approval(False, message=f"no one can be asked in this mode ({question.reason})")
