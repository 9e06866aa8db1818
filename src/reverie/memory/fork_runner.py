"""Protocol that background work on memories needs of a session: run a fork, and estimate its cost.

A session supplies it (`LoopForks`); nothing here knows how a fork is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reverie.messages.blocks import JsonObject
from reverie.models.ports import ForkResult, ForkSpec
from reverie.models.profiles import Profile
from reverie.values import value


@value
class ForkCost:
    """The first request of a fork, counted before it is sent."""

    first_tokens: int
    long_lived_tokens: int
    """How much of it is asked to stay in the cache for an hour."""
    profile: Profile
    """The model that would answer."""


class ForkListener(Protocol):
    """Whoever follows a fork while it runs."""

    def replied(self, text: str) -> None:
        """The model said something."""
        ...

    def called(self, tool: str, arguments: JsonObject) -> None:
        """The model called a tool."""
        ...


class ForkRunner(Protocol):
    """Runs forks of one conversation."""

    @property
    def model_name(self) -> str:
        """Who answers."""
        ...

    async def run(
        self, spec: ForkSpec, *, listener: ForkListener, refuse: Callable[[str, JsonObject], str]
    ) -> ForkResult:
        """Run a fork to its end; `refuse` judges each call by its tool and input, and a sentence refuses it."""
        ...

    def measure(self, spec: ForkSpec) -> ForkCost:
        """Count the first request of a fork without sending it."""
        ...
