"""recall_span: reads messages that are no longer in view from the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from reverie.context.spans import RECALL_SPAN
from reverie.errors import UserMistake
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.schema import number, text
from reverie.tools.tool import ToolAnswer, ToolMistake

if TYPE_CHECKING:
    from reverie.context.spans import Span

LIMIT_TOKENS = 4_000


class ReadSpan(Protocol):
    """`context.spans.read_span` over the entries of the running session."""

    def __call__(
        self,
        *,
        first: str | None = None,
        last: str | None = None,
        subject: str | None = None,
        limit_tokens: int = LIMIT_TOKENS,
        offset_chars: int = 0,
    ) -> Span:
        """Read it."""
        ...


class RecallSpan:
    """Reads again what was left out."""

    def __init__(self, read_span: ReadSpan) -> None:
        self._read_span = read_span
        self.spec = make_tool_spec(
            RECALL_SPAN,
            RECALL_SPAN,
            {
                "first": field("string", "Id of the first message, or its beginning."),
                "last": field("string", "Id of the last message; only the first one when left out."),
                "subject": field("string", "A file, command or name, instead of ids."),
                "offset": field("integer", "Where to go on in a part that was cut.", minimum=0),
            },
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        about = text(arguments, "subject") or text(arguments, "first")
        if not about:
            raise ToolMistake("Name the first message in 'first', or what it is about in 'subject'.")
        return Need(RECALL_SPAN, Act.NONE, summary=f"Read again: {about[:80]}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:  # noqa: ARG002 - the shape of every tool
        try:
            span = self._read_span(
                first=text(arguments, "first") or None,
                last=text(arguments, "last") or None,
                subject=text(arguments, "subject") or None,
                limit_tokens=LIMIT_TOKENS,
                offset_chars=number(arguments, "offset", 0),
            )
        except UserMistake as mistake:
            raise ToolMistake(str(mistake)) from mistake
        if not span.items:
            return ToolAnswer("Nothing in this conversation mentions it.")
        rest = span.next_offset_chars
        more = f"\n\n(this is a part of {span.items} messages; go on with offset {rest})" if rest is not None else ""
        return ToolAnswer(span.text + more, details={"first": span.first, "last": span.last, "messages": span.items})
