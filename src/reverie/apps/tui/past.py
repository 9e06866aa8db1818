"""Shows a resumed session: its earlier messages and tool calls as pieces of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reverie.apps.tui.pieces import AnswerPiece, Call, Note, Piece, Progress, Thought, UserPiece
from reverie.apps.tui.turn import call_summary
from reverie.messages.blocks import Json, JsonObject, Text, Thinking, ToolResult, ToolUse
from reverie.messages.codec import decode_json
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.shell_words import command_in, output_in
from reverie.messages.view import Item, ItemKind, project

MOST_ITEMS = 400
"""How much of a long session is shown; the rest is in its transcript."""


def pieces_of(entries: Sequence[Entry], directory: Path | None = None) -> list[Piece]:
    """What the model still sees of a session, the newest part of it; paths below the directory are shortened."""
    items = project(entries).items
    shown = items[-MOST_ITEMS:]
    past = _Past(entries, items, shown, directory)
    pieces: list[Piece] = []
    if len(shown) < len(items):
        pieces.append(Note(f"{len(items) - len(shown)} earlier messages are not shown"))
    for number, item in enumerate(shown):
        command = command_in(item.message.text) if item.kind is ItemKind.TYPED else None
        if command is None:
            pieces += past.of(item)
            continue
        following = shown[number + 1].message.text if number + 1 < len(shown) else ""
        output, ending = output_in(following)
        progress = Progress.FAILED if ending else Progress.DONE
        pieces.append(Call("!", command, progress, output="\n".join(filter(None, [ending, output]))))
    return pieces


class _Past:
    """What is needed of a session besides the message that is shown."""

    def __init__(
        self, entries: Sequence[Entry], items: Sequence[Item], shown: Sequence[Item], directory: Path | None
    ) -> None:
        self._results = {result.tool_use_id: result for item in items for result in item.message.tool_results}
        self._prefix = f"{directory}/" if directory is not None else None
        seen = {item.uuid for item in shown if item.kind is ItemKind.RESULT}
        requests = (one for one in entries if isinstance(one, UserEntry) and one.envelope.uuid in seen)
        self._diffs = {
            result.tool_use_id: diff
            for entry in requests
            if (diff := _diff(entry))
            for result in entry.message.tool_results
        }

    def of(self, item: Item) -> list[Piece]:
        """A message as pieces; none for what only the model reads."""
        match item.kind:
            case ItemKind.TYPED:
                return [UserPiece(item.message.text)] if item.message.text.strip() else []
            case ItemKind.SUMMARY:
                return [Note("earlier conversation was compacted", details=item.message.text)]
            case ItemKind.REPLY:
                pieces: list[Piece] = []
                for block in item.message.content:
                    match block:
                        case Text(text) if text.strip():
                            pieces.append(AnswerPiece(text))
                        case Thinking() if block.thinking.strip():
                            pieces.append(Thought(block.thinking))
                        case ToolUse():
                            pieces.append(self._call(block, self._results.get(block.id)))
                return pieces
            case _:
                return []

    def _call(self, call: ToolUse, result: ToolResult | None) -> Call:
        summary = call_summary(call.name, call.input)
        if self._prefix is not None:
            summary = summary.replace(self._prefix, "")
        if result is None:
            return Call(call.name, summary, Progress.REFUSED, output="no result")
        progress = Progress.FAILED if result.is_error else Progress.DONE
        return Call(call.name, summary, progress, output=result.text, diff=self._diffs.get(call.id, ""))


def _diff(entry: UserEntry) -> str:
    """What a call changed, as it was noted with its result: in memory, or in the line that was read."""
    details: Json | JsonObject = entry.tool_details
    if details is None and entry.raw is not None and b'"diff"' in entry.raw:
        record = decode_json(entry.raw)
        details = record.get("toolUseResult") if isinstance(record, dict) else None
    diff = details.get("diff") if isinstance(details, Mapping) else None
    return diff if isinstance(diff, str) else ""
