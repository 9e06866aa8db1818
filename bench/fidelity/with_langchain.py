"""Drive LangChain's middlewares on our items; installs LangChain into an environment of its own when asked to."""

from __future__ import annotations

import json
import subprocess
import venv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.fidelity.cuts import weigh, weigh_item, weigh_items
from reverie.context.digest import summary
from reverie.context.facts import gather
from reverie.messages.blocks import ToolResult
from reverie.messages.message import Message, Role, user
from reverie.messages.view import Item, Kind

CHILD = Path(__file__).with_name("langchain_child.py")
DEFAULT_TRIM_TOKENS = 4_000
"""How much of the history LangChain shows its summariser unless told otherwise."""
CLEARED = "[cleared]"


def environment(folder: Path) -> Path | None:
    """The Python of an environment with LangChain, made now if need be; None when it cannot be installed."""
    python = folder / "langchain" / "bin" / "python"
    if not python.exists():
        venv.create(folder / "langchain", with_pip=True)
    ready = [str(python), "-c", "import langchain.agents.middleware"]
    if subprocess.run(ready, capture_output=True, check=False).returncode == 0:
        return python
    install = [str(python), "-m", "pip", "install", "--quiet", "langchain"]
    return python if subprocess.run(install, capture_output=True, check=False).returncode == 0 else None


@dataclass(slots=True)
class _Piece:
    """One of their messages and the items it stands for."""

    wire: dict[str, Any]
    items: list[Item]


class LangChain:
    """A child process with the middlewares. Use as a context manager."""

    def __init__(self, python: Path) -> None:
        self._child = subprocess.Popen(
            [str(python), "-I", str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
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

    def summarised(self, items: Sequence[Item], budget_tokens: float, *, trims: bool) -> list[Item]:
        """`SummarizationMiddleware`: half of the budget for the kept messages, the rest for the embedded summary."""
        pieces = _pieces(items)
        known = {piece.wire["id"]: piece for piece in pieces}

        def write(ids: Sequence[str]) -> str:
            chosen = [item for one in ids for item in known[one].items]
            return summary(gather(chosen), limit_tokens=int(budget_tokens / 2), weigh=weigh)

        trim = DEFAULT_TRIM_TOKENS if trims else None
        job = {"do": "summarise", "keep_tokens": int(budget_tokens / 2), "trim_tokens": trim}
        return self._run(job, pieces, write)

    def edited(self, items: Sequence[Item], budget_tokens: float) -> list[Item]:
        """`ContextEditingMiddleware`: the most tool results that may stay within the budget, three at least."""
        pieces = _pieces(items)
        results = sum(1 for piece in pieces if piece.wire["kind"] == "tool")
        low, high = 3, max(3, results)
        while low < high:
            middle = (low + high) // 2
            view = self._run({"do": "edit", "keep": middle}, pieces, lambda _: "")
            if weigh_items(view) >= budget_tokens:
                high = middle
            else:
                low = middle + 1
        return self._run({"do": "edit", "keep": low}, pieces, lambda _: "")

    def _run(self, job: dict[str, Any], pieces: Sequence[_Piece], write: Any) -> list[Item]:
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
            raise RuntimeError("the LangChain process ended; run its script by hand to see why")
        found: dict[str, Any] = json.loads(line)
        return found


def _pieces(items: Sequence[Item]) -> list[_Piece]:
    """Their messages: the records of one reply are one message, each result is one."""
    pieces: list[_Piece] = []
    reply: str | None = None
    for number, item in enumerate(items):
        if item.message.role is Role.ASSISTANT:
            if reply is None or item.message_id != reply:
                wire: dict[str, Any] = {"id": f"a{number}", "kind": "ai", "text": "", "calls": [], "tokens": 0.0}
                pieces.append(_Piece(wire, []))
            reply = item.message_id or item.uuid
            _add(pieces[-1], item)
        elif item.message.tool_results:
            reply = None
            pieces += [_result(item, result, number) for result in item.message.tool_results]
        else:
            reply = None
            text = item.message.text
            wire = {"id": f"h{number}", "kind": "human", "text": text, "tokens": weigh_item(item)}
            pieces.append(_Piece(wire, [item]))
    return pieces


def _add(piece: _Piece, item: Item) -> None:
    piece.items.append(item)
    piece.wire["text"] = f"{piece.wire['text']}\n{item.message.text}".strip()
    piece.wire["calls"] += [
        {"id": call.id, "name": call.name, "args": dict(call.input)} for call in item.message.tool_uses
    ]
    piece.wire["tokens"] += weigh_item(item)


def _result(item: Item, result: ToolResult, number: int) -> _Piece:
    alone = item if len(item.message.content) == 1 else replace(item, message=Message(Role.USER, (result,)))
    wire = {"id": f"t{number}-{result.tool_use_id}", "kind": "tool", "text": result.text, "call": result.tool_use_id}
    return _Piece({**wire, "tokens": weigh_item(alone)}, [alone])


def _items(one: dict[str, Any], known: dict[str, _Piece]) -> list[Item]:
    if "id" not in one:
        return [Item("summary", Kind.SUMMARY, user(one["text"]))]
    items = known[one["id"]].items
    if not one["cleared"]:
        return items
    return [
        replace(
            item,
            message=Message(Role.USER, tuple(replace(block, content=CLEARED) for block in item.message.tool_results)),
        )
        for item in items
    ]
