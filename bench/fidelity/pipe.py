"""A strategy of somebody else's in a process of its own: our items as its messages, its choice as our items.

One line of JSON each way. The child may ask for a summary of some messages (`{"ask": [ids]}`), which the embedded
summariser writes for all of them alike, and ends a job with `{"kept": [...]}`: ids, or texts of new messages.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.fidelity.cuts import weigh, weigh_item, weigh_items
from reverie.context.digest import summary
from reverie.context.facts import gather
from reverie.messages.blocks import ToolResult
from reverie.messages.message import Message, Role, user
from reverie.messages.view import Item, ItemKind

CLEARED = "[cleared]"
ROUNDS_OF_FILLING = 3
NEARLY = 0.97


@dataclass(slots=True)
class Piece:
    """One of their messages and the items it stands for."""

    wire: dict[str, Any]
    items: list[Item]


class Piped:
    """A child process. Use as a context manager."""

    def __init__(self, python: Path, script: Path) -> None:
        self._script = script
        self._child = subprocess.Popen(
            [str(python), "-I", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child.stdin:
            self._child.stdin.close()
        self._child.wait(timeout=20)
        if self._child.stdout:
            self._child.stdout.close()

    def summed_up(self, items: Sequence[Item], budget_tokens: float, job: dict[str, Any]) -> list[Item]:
        """Half of the budget for the kept messages, the rest for the summary; what neither takes goes to the messages.

        The result reaches the budget where their own rules let it, so that nobody is measured with less than ours took.
        """
        pieces = pieces_of(items)
        known = {piece.wire["id"]: piece for piece in pieces}

        def write(ids: Sequence[str]) -> str:
            chosen = [item for one in ids for item in known[one].items]
            return summary(gather(chosen), limit_tokens=int(budget_tokens / 2), weigh=weigh)

        keep = budget_tokens / 2
        view: list[Item] = []
        for _ in range(ROUNDS_OF_FILLING):
            view = self.run({**job, "keep_tokens": int(keep)}, pieces, write)
            missing = budget_tokens - weigh_items(view)
            if missing <= (1 - NEARLY) * budget_tokens:
                break
            keep += missing
        return view

    def run(self, job: dict[str, Any], pieces: Sequence[Piece], write: Callable[[Sequence[str]], str]) -> list[Item]:
        """One job; `write` answers what the child asks."""
        self._say({**job, "messages": [piece.wire for piece in pieces]})
        known = {piece.wire["id"]: piece for piece in pieces}
        while True:
            answer = self._hear()
            if "ask" in answer:
                self._say({"text": write(answer["ask"])})
                continue
            return [item for one in answer["kept"] for item in _items(one, known)]

    def _say(self, value: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(value) + "\n")
        self._child.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._script.name} ended; run it by hand to see why")
        found: dict[str, Any] = json.loads(line)
        return found


def pieces_of(items: Sequence[Item]) -> list[Piece]:
    """Their messages: the records of one reply are one message, each result is one."""
    pieces: list[Piece] = []
    reply: str | None = None
    for number, item in enumerate(items):
        if item.message.role is Role.ASSISTANT:
            if reply is None or item.message_id != reply:
                wire: dict[str, Any] = {"id": f"a{number}", "kind": "ai", "text": "", "calls": [], "tokens": 0.0}
                pieces.append(Piece(wire, []))
            reply = item.message_id or item.uuid
            _add(pieces[-1], item)
        elif item.message.tool_results:
            reply = None
            pieces += [_result(item, result, number) for result in item.message.tool_results]
        else:
            reply = None
            kind = "summary" if item.kind is ItemKind.SUMMARY else "human"
            wire = {"id": f"h{number}", "kind": kind, "text": item.message.text, "tokens": weigh_item(item)}
            pieces.append(Piece(wire, [item]))
    return pieces


def _add(piece: Piece, item: Item) -> None:
    piece.items.append(item)
    piece.wire["text"] = f"{piece.wire['text']}\n{item.message.text}".strip()
    piece.wire["calls"] += [
        {"id": call.id, "name": call.name, "args": dict(call.input)} for call in item.message.tool_uses
    ]
    piece.wire["tokens"] += weigh_item(item)


def _result(item: Item, result: ToolResult, number: int) -> Piece:
    alone = item if len(item.message.content) == 1 else replace(item, message=Message(Role.USER, (result,)))
    wire = {"id": f"t{number}-{result.tool_use_id}", "kind": "tool", "text": result.text, "call": result.tool_use_id}
    return Piece({**wire, "tokens": weigh_item(alone)}, [alone])


def _items(one: dict[str, Any], known: dict[str, Piece]) -> list[Item]:
    if "id" not in one:
        return [Item("summary", ItemKind.SUMMARY, user(one["text"]))]
    items = known[one["id"]].items
    if not one.get("cleared"):
        return items
    return [
        replace(
            item,
            message=Message(Role.USER, tuple(replace(block, content=CLEARED) for block in item.message.tool_results)),
        )
        for item in items
    ]
