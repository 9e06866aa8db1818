"""SendMessage: sends a message to another agent, through a function that the session gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from reverie.messages.blocks import Json, JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake
from reverie.values import value

NAME = "SendMessage"
KINDS = ("message", "shutdown_request", "shutdown_response", "plan_approval_response")
_ANSWERS = ("shutdown_response", "plan_approval_response")
_ABROAD = ("uds:", "bridge:")


@value
class Outgoing:
    """A message as the model wrote it."""

    to: str
    text: str
    summary: str = ""
    kind: str = "message"
    request_id: str = ""
    """Which request this answers."""
    approve: bool | None = None


Send: TypeAlias = Callable[[Outgoing], Awaitable[str]]
"""Delivers a message and says where it went. Raises `ToolMistake` when nobody is there."""


class SendMessage:
    """Sends a message."""

    def __init__(self, send: Send) -> None:
        self._send = send
        message: dict[str, Json] = {
            "type": ["string", "object"],
            "description": "The words, or an object with a `type` for requests and answers.",
        }
        self.spec = make_tool_spec(
            NAME,
            "send_message",
            {
                "to": field("string", "The receiver: a name, `*`, `uds:PATH` or `bridge:SESSION`.", minLength=1),
                "message": message,
                "summary": field("string", "The message in five to ten words, for the person who watches."),
            },
            required=("to", "message"),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        letter = outgoing(arguments)
        shown = letter.summary or letter.text.partition("\n")[0][:80] or letter.kind
        # Another session may belong to other work with other rules, so a person agrees to what is told there.
        act = Act.OTHER if letter.to.startswith(_ABROAD) else Act.NONE
        return Need(NAME, act, subject=letter.to, summary=f"To {letter.to}: {shown}", preview=letter.text)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return False

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        letter = outgoing(arguments)
        return ToolAnswer(await self._send(letter), details={"to": letter.to, "type": letter.kind})


def outgoing(arguments: JsonObject) -> Outgoing:
    """The message of a call. Raises `ToolMistake` for a structured one that lacks something."""
    to, summary, message = text(arguments, "to").strip(), text(arguments, "summary"), arguments.get("message")
    if isinstance(message, str):
        if not message.strip():
            raise ToolMistake("The message is empty; write what the receiver is to know.")
        return Outgoing(to, message, summary)
    assert isinstance(message, dict), "the schema lets nothing else through"
    kind = text(message, "type", "message")
    if kind not in KINDS:
        raise ToolMistake(f"There is no message of type {kind!r}; there are {', '.join(KINDS)}.")
    if to == "*" and kind != "message":
        raise ToolMistake(f"A {kind} goes to one agent, not to all.")
    approve = message.get("approve")
    if kind in _ANSWERS and not isinstance(approve, bool):
        raise ToolMistake(f"A {kind} needs `approve` (true or false).")
    if kind == "shutdown_response" and not text(message, "request_id"):
        raise ToolMistake(f"A {kind} needs `request_id` (from the request).")
    words = next(
        (words for key in ("text", "message", "feedback", "reason", "content") if (words := text(message, key))), ""
    )
    return Outgoing(
        to, words, summary, kind, text(message, "request_id"), approve if isinstance(approve, bool) else None
    )
