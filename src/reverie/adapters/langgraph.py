"""A store for LangGraph over a `Memory`: what a graph puts is a memory, with history; a search with a query recalls.

A value with `content`, `text` or `memory` is saved as prose; any other is saved as JSON. Searching an empty namespace
finds all memories, whoever wrote them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, time
from typing import Any

from reverie.adapters import refuse_missing
from reverie.errors import UserMistake
from reverie.memory.memory import Memory
from reverie.memory.topics.draft import draft_topic
from reverie.memory.topics.value import Topic

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as problem:
    refuse_missing("langgraph", "langgraph", problem)

__all__ = ["ReverieStore"]

_PROSE = ("content", "text", "memory")
_SEPARATOR = " / "
_LINE_CHARS = 200


class ReverieStore(BaseStore):
    """The memories of one project as a store; namespace and key make the name of a memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations in their order."""
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op.namespace, op.key)
            case PutOp():
                self._put(op)
                return None
            case SearchOp():
                return list(self._search(op))[op.offset : op.offset + op.limit]
            case ListNamespacesOp():
                namespaces = sorted({_place(topic)[0] for topic in self._memory.topics()})
                chosen = [each for each in namespaces if all(_matches(each, one) for one in op.match_conditions or ())]
                cut = dict.fromkeys(each[: op.max_depth] if op.max_depth else each for each in chosen)
                return list(cut)[op.offset : op.offset + op.limit]
        raise UserMistake(f"the store knows no operation {type(op).__name__}")

    def _get(self, namespace: tuple[str, ...], key: str) -> Item | None:
        path = self._memory.index.find_path_by_name(_name(namespace, key))
        return None if path is None else _item(self._memory.read(path))

    def _put(self, op: PutOp) -> None:
        name = _name(op.namespace, op.key)
        if op.value is None:
            path = self._memory.index.find_path_by_name(name)
            if path is not None:
                self._memory.forget(path, author="agent", reason="removed from a LangGraph store")
            return
        body = _body(op.value)
        description = str(op.value.get("description") or "") or " ".join(body.split())[:_LINE_CHARS]
        kind = (
            op.value.get("type") if op.value.get("type") in ("user", "feedback", "project", "reference") else "project"
        )
        topic = draft_topic(name, description, kind, body, trust="inferred")
        self._memory.keep(topic, author="agent", reason="put into a LangGraph store")

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        if op.query:
            hits = self._memory.recall(op.query, limit=op.limit + op.offset)
            scored = [(hit.topic, float(hit.score)) for hit in hits if hit.scope == self._memory.scope.name]
        else:
            scored = [(topic, 0.0) for topic in self._memory.topics()]
        for topic, score in scored:
            item = _item(topic)
            fits = item.namespace[: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
            if fits and all(item.value.get(key) == wanted for key, wanted in (op.filter or {}).items()):
                yield SearchItem(
                    item.namespace, item.key, item.value, item.created_at, item.updated_at, score if op.query else None
                )


def _name(namespace: tuple[str, ...], key: str) -> str:
    return _SEPARATOR.join((*namespace, key))


def _place(topic: Topic) -> tuple[tuple[str, ...], str]:
    *namespace, key = topic.name.split(_SEPARATOR)
    return tuple(namespace), key


def _body(value: Mapping[str, Any]) -> str:
    prose = next((value[key] for key in _PROSE if isinstance(value.get(key), str)), None)
    others = value.keys() - {*_PROSE, "type", "description"}
    if prose is not None and not others:
        return str(prose)
    return f"```json\n{json.dumps(dict(value), ensure_ascii=False, indent=1)}\n```"


def _item(topic: Topic) -> Item:
    namespace, key = _place(topic)
    body = topic.body.strip()
    value: dict[str, Any] = {"content": body, "description": topic.description, "type": str(topic.type or "project")}
    if body.startswith("```json\n") and body.endswith("```"):
        with suppress(ValueError):
            value = json.loads(body[8:-3])
    day = datetime.combine(topic.observed, time(), UTC) if topic.observed else datetime.fromtimestamp(0, UTC)
    return Item(value=value, key=key, namespace=namespace, created_at=day, updated_at=day)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(part) == len(path) and all(wanted in ("*", each) for each, wanted in zip(part, path, strict=True))
