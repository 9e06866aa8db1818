"""Answer a flow without a model: every question carries its own embedded answer."""

from __future__ import annotations

from typing import TypeVar

from reverie.messages.message import Usage, assistant
from reverie.models.ports import Flow, Reply

Result = TypeVar("Result")


def answered(flow: Flow[Result]) -> Result:
    """Run a flow to its end on embedded answers alone."""
    try:
        ask = next(flow)
        while True:
            ask = flow.send(Reply(assistant(ask.embedded()), Usage(), "end_turn", "embedded"))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        flow.close()
