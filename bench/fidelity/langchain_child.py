"""LangChain's two context middlewares behind a pipe; runs in an environment of its own, so it imports nothing of ours.

Each line on standard input is one job; a summary is asked for by a line `{"ask": [ids]}` and answered by the next line
of input; the last line of a job is `{"kept": [...]}`: ids, or texts of new messages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from langchain.agents.middleware.context_editing import ClearToolUsesEdit
from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        messages = [_message(one) for one in job["messages"]]
        weights = {one["id"]: one["tokens"] for one in job["messages"]}
        kept = _summarised(messages, weights, job) if job["do"] == "summarise" else _edited(messages, weights, job)
        _say({"kept": [_told(message, weights) for message in kept]})


def _summarised(messages: list[AnyMessage], weights: dict[str, float], job: dict[str, Any]) -> list[AnyMessage]:
    def ask(chosen: list[AnyMessage]) -> str:
        _say({"ask": [message.id for message in chosen]})
        return str(json.loads(sys.stdin.readline())["text"])

    middleware = SummarizationMiddleware(
        FakeListChatModel(responses=["unused"]),
        trigger=("tokens", 1),
        keep=("tokens", job["keep_tokens"]),
        token_counter=lambda some: _count(some, weights),
        summarizer=ask,
        trim_tokens_to_summarize=job["trim_tokens"],
    )
    update = middleware.before_model({"messages": messages}, Runtime())
    return messages if update is None else [one for one in update["messages"] if one.type != "remove"]


def _edited(messages: list[AnyMessage], weights: dict[str, float], job: dict[str, Any]) -> list[AnyMessage]:
    edit = ClearToolUsesEdit(trigger=0, keep=job["keep"])
    edit.apply(messages, count_tokens=lambda some: _count(some, weights))
    return messages


def _message(one: dict[str, Any]) -> AnyMessage:
    if one["kind"] == "ai":
        return AIMessage(content=one["text"], tool_calls=one["calls"], id=one["id"])
    if one["kind"] == "tool":
        return ToolMessage(content=one["text"], tool_call_id=one["call"], id=one["id"])
    return HumanMessage(content=one["text"], id=one["id"])


def _told(message: AnyMessage, weights: dict[str, float]) -> dict[str, Any]:
    if message.id not in weights:
        return {"text": message.content}
    return {"id": message.id, "cleared": bool(message.response_metadata.get("context_editing"))}


def _count(some: Iterable[Any], weights: dict[str, float]) -> int:
    return round(sum(weights.get(message.id, len(str(message.content)) / 3.5) for message in some))


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
