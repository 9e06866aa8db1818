"""Turns the events of a turn into pieces of the log.

Pieces of an answer are gathered and shown by `flush`, which the app calls a few times a second, so that a fast stream
costs no more than a slow one.
"""

from __future__ import annotations

from dataclasses import replace

from reverie.amounts import dollars, short_count
from reverie.apps.tui.log import Log
from reverie.apps.tui.pieces import NOTHING, AnswerPiece, Call, Note, Piece, Progress, Thought
from reverie.context.activity import subject
from reverie.context.receipt import Fate, Receipt
from reverie.messages.blocks import JsonObject, ToolUse
from reverie.models.ports import Ending, Retrying, TextDelta, ThinkingDelta, ToolUseStarted
from reverie.session.events import (
    AgentEnded,
    Attached,
    CacheBroken,
    Notice,
    Remembered,
    Replied,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnEvent,
    ViewReduced,
)


class TurnView:
    """Shows one turn in a log."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._calls: dict[str, int] = {}
        self._attempt: list[int] = []
        """What the present request has shown so far, to be taken away when it fails."""
        self._streaming: int | None = None
        self._text = ""
        self._is_thought = False
        self._has_spoken = False
        self.doing = "thinking"
        """What goes on, in a word or two."""

    def take(self, event: TurnEvent) -> None:
        """Show one event; those that say nothing to a reader of the log are passed over."""
        match event:
            case TextDelta(text):
                self._stream(text, is_thought=False)
            case ThinkingDelta(text):
                self._stream(text, is_thought=True)
            case ToolUseStarted(call_id, name):
                self._close()
                self._put_call(call_id, Call(name))
                self._attempt.append(self._calls[call_id])
                self.doing = name
            case Retrying():
                self._forget_attempt()
                wait = f"{event.wait_seconds:.0f} s" if event.wait_seconds >= 1 else "a moment"
                self._add(Note(f"{event.reason}; retrying in {wait} (attempt {event.attempt})", "warning"))
                self.doing = "waiting"
            case Replied():
                self._close()
                self._attempt.clear()
            case ToolStarted():
                self._close()
                summary = event.summary or call_summary(event.name, event.given)
                self._put_call(event.call_id, Call(event.name, summary, Progress.RUNNING))
                self.doing = event.name
            case ToolProgress(call_id, text):
                self._progress(call_id, text)
            case ToolEnded():
                self._end_call(event)
                self.doing = "thinking"
            case ViewReduced():
                self._add(reduced_note(event))
            case CacheBroken():
                price = f", about {dollars(event.cost_usd)}" if event.cost_usd else ""
                parted = event.parted
                line = f"{parted.lost_share:.0%} of the prompt cache was lost{price}: {parted.cause.value}"
                self._add(Note(line, "info" if parted.is_announced else "warning", details=f"from {parted.where} on"))
            case Attached(kind, summary):
                self._add(Note(summary or kind))
            case AgentEnded():
                self._add(ended_note(event))
            case Notice(text, level):
                self._add(Note(text, level))
            case Remembered():
                self._add(Note(event.text))
            case TurnEnded():
                self._end(event)
            case _:
                pass

    def interrupt(self, piece: Piece) -> None:
        """Put something of another origin between the pieces of the turn."""
        self._close()
        self._add(piece)

    def flush(self) -> None:
        """Show what has come since."""
        if self._streaming is not None:
            self._log.put(self._streaming, self._piece())

    def _piece(self) -> Piece:
        return Thought(self._text) if self._is_thought else AnswerPiece(self._text)

    def _stream(self, text: str, *, is_thought: bool) -> None:
        if self._streaming is not None and self._is_thought != is_thought:
            self._close()
        self._is_thought = is_thought
        self._text += text
        self._has_spoken |= not is_thought
        self.doing = "thinking" if is_thought else "writing"
        if self._streaming is None and self._text.strip():
            self._streaming = self._add(self._piece())
            self._attempt.append(self._streaming)

    def _close(self) -> None:
        """The text that was coming in is complete."""
        self.flush()
        self._streaming, self._text = None, ""

    def _add(self, piece: Piece) -> int:
        if not isinstance(piece, AnswerPiece | Thought):
            self._close()
        return self._log.add(piece)

    def _put_call(self, call_id: str, call: Call) -> None:
        if call_id in self._calls:
            self._log.put(self._calls[call_id], call)
        else:
            self._calls[call_id] = self._add(call)

    def _call(self, call_id: str) -> Call | None:
        number = self._calls.get(call_id)
        piece = self._log.piece(number) if number is not None else None
        return piece if isinstance(piece, Call) else None

    def _progress(self, call_id: str, text: str) -> None:
        call = self._call(call_id)
        if call is not None:
            lines = (*call.lines, *text.rstrip("\n").split("\n"))
            self._put_call(call_id, replace(call, lines=lines[-20:]))

    def _end_call(self, event: ToolEnded) -> None:
        call = self._call(event.call_id) or Call(event.name)
        progress = Progress.REFUSED if event.refused else Progress.FAILED if event.is_error else Progress.DONE
        diff = event.details.get("diff")
        self._put_call(
            event.call_id,
            replace(
                call,
                progress=progress,
                output=event.text,
                diff=diff if isinstance(diff, str) else "",
                seconds=event.seconds,
            ),
        )

    def _forget_attempt(self) -> None:
        for number in self._attempt:
            self._log.put(number, NOTHING)
        self._attempt.clear()
        self._streaming, self._text = None, ""

    def _end(self, event: TurnEnded) -> None:
        self._close()
        for call_id in self._calls:
            call = self._call(call_id)
            if call is not None and call.progress in (Progress.ASKED, Progress.RUNNING):
                self._put_call(call_id, replace(call, progress=Progress.REFUSED, output="stopped"))
        match event.ending:
            case Ending.COMPLETED:
                if not self._has_spoken and event.text.strip():
                    self._add(AnswerPiece(event.text))
            case Ending.CANCELLED:
                self._add(Note("stopped; type what to do instead", "warning"))
            case Ending.FAILED:
                self._add(Note(event.text or "no answer", "error"))
            case _:
                self._add(Note(event.text or f"the turn ended: {event.ending.value}", "warning"))


def ended_note(event: AgentEnded) -> Note:
    """What became of an agent in the background: a line, and its whole report on demand."""
    facts = [event.state, *([dollars(event.cost_usd)] if event.cost_usd else [])]
    first = next((line.strip() for line in event.text.splitlines() if line.strip()), "")
    level = "info" if event.state == "completed" else "warning"
    remark = f": {first}" if first else ""
    return Note(f"agent {event.name} finished ({', '.join(facts)}){remark}", level, details=event.text.strip())


def call_summary(name: str, arguments: JsonObject) -> str:
    """A call in a few words."""
    return subject(ToolUse("", name, arguments))


def reduced_note(event: ViewReduced) -> Note:
    """What was taken out of the view."""
    if event.receipt is not None:
        return receipt_note(event.receipt)
    words = ", ".join(f"{one.kind} −{short_count(one.freed_tokens)} tokens" for one in event.reductions)
    return Note(f"context reduced: {words or 'nothing'}", details="\n".join(one.detail for one in event.reductions))


def receipt_note(receipt: Receipt) -> Note:
    """The account of a compaction: a line, and the whole list on demand."""
    kept_count, back = len(receipt.of(Fate.KEPT)), len(receipt.of(Fate.BACK))
    gone = receipt.of(Fate.PART, Fate.OUT)
    sizes = f"{short_count(receipt.pre_tokens)} → {short_count(receipt.post_tokens)} tokens"
    line = f"{receipt.kind}: {sizes}; kept {kept_count}, restored {back}, shortened or referenced {len(gone)}"
    if receipt.unread:
        line += f"; the summary was written without the {receipt.unread:,} oldest messages, which did not fit"
    rows = "\n".join(f"{one.fate.value:<12}  {one.sort.value}: {one.label}" for one in receipt.lines)
    return Note(f"{line} · /uncompact undoes it", details=rows)
