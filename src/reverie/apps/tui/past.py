"""A resumed session on the screen: what was said and done before, as pieces."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.apps.tui.pieces import Answer, Call, Note, Piece, Progress, Said, Thought
from reverie.apps.tui.turn import call_summary
from reverie.messages.blocks import Text, Thinking, ToolResult, ToolUse
from reverie.messages.entries import Entry
from reverie.messages.shell_words import command_in, output_in
from reverie.messages.view import Item, Kind, project

MOST_ITEMS = 400
"""How much of a long session is shown; the rest is in its transcript."""


def pieces_of(entries: Sequence[Entry]) -> list[Piece]:
    """What the model still sees of a session, the newest part of it."""
    items = project(entries).items
    shown = items[-MOST_ITEMS:]
    results = {result.tool_use_id: result for item in items for result in item.message.tool_results}
    pieces: list[Piece] = []
    if len(shown) < len(items):
        pieces.append(Note(f"{len(items) - len(shown)} earlier messages are not shown"))
    for number, item in enumerate(shown):
        command = command_in(item.message.text) if item.kind is Kind.TYPED else None
        if command is None:
            pieces += _of(item, results)
            continue
        following = shown[number + 1].message.text if number + 1 < len(shown) else ""
        pieces.append(Call("!", command, Progress.DONE, output=output_in(following) or ""))
    return pieces


def _of(item: Item, results: dict[str, ToolResult]) -> list[Piece]:
    match item.kind:
        case Kind.TYPED:
            return [Said(item.message.text)] if item.message.text.strip() else []
        case Kind.SUMMARY:
            return [Note("the conversation before this was compacted", details=item.message.text)]
        case Kind.REPLY:
            found: list[Piece] = []
            for block in item.message.content:
                match block:
                    case Text(text) if text.strip():
                        found.append(Answer(text))
                    case Thinking() if block.thinking.strip():
                        found.append(Thought(block.thinking))
                    case ToolUse():
                        found.append(_call(block, results.get(block.id)))
            return found
        case _:
            return []


def _call(call: ToolUse, result: ToolResult | None) -> Call:
    summary = call_summary(call.name, call.input)
    if result is None:
        return Call(call.name, summary, Progress.REFUSED, output="no result")
    return Call(call.name, summary, Progress.FAILED if result.is_error else Progress.DONE, output=result.text)
