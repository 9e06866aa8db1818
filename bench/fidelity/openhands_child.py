"""OpenHands' summarising condenser behind a pipe; runs in an environment of its own, so it imports nothing of ours.

Each line on standard input is one job, as in `langchain_child`. Sizes are those that we give for each message: their
counter would need a tokenizer from the network, and all strategies are to be measured with one scale.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

os.environ["OPENHANDS_SUPPRESS_BANNER"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from openhands.sdk.context.condenser import LLMSummarizingCondenser  # type: ignore[import-not-found]
from openhands.sdk.context.condenser.base import NoCondensationAvailableException  # type: ignore[import-not-found]
from openhands.sdk.context.view import View  # type: ignore[import-not-found]
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent  # type: ignore[import-not-found]
from openhands.sdk.event.condenser import Condensation, CondensationSummaryEvent  # type: ignore[import-not-found]
from openhands.sdk.llm import LLM, Message, MessageToolCall, TextContent  # type: ignore[import-not-found]
from openhands.sdk.tool.schema import Observation  # type: ignore[import-not-found]

KEEP_FIRST = 4
"""As their `default_condenser` has it."""
UNLIMITED_EVENTS = 1_000_000
_chars_per_token = 4.0


class Printed(Observation):  # type: ignore[misc]
    """What a tool printed."""


class Counting(LLM):  # type: ignore[misc]
    """A model that only counts."""

    def get_token_count(self, messages: Sequence[Any], *_: Any, **__: Any) -> int:
        return round(sum(_chars(message) for message in messages) / _chars_per_token)


class Asking(LLMSummarizingCondenser):  # type: ignore[misc]
    """Their condenser; the summary itself is asked of the other side, by ids."""

    def _generate_condensation(self, forgotten_events: Sequence[Any], summary_offset: int, **_: Any) -> Any:
        _say({"ask": list(dict.fromkeys(_piece(event) for event in forgotten_events))})
        return Condensation(
            forgotten_event_ids={event.id for event in forgotten_events},
            summary=json.loads(sys.stdin.readline())["text"],
            summary_offset=summary_offset,
            llm_response_id="asked",
        )


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        _say({"kept": _condensed(job)})


def _condensed(job: dict[str, Any]) -> list[dict[str, str]]:
    global _chars_per_token
    events = [event for one in job["messages"] for event in _events(one, job["messages"])]
    tokens = sum(one["tokens"] for one in job["messages"])
    _chars_per_token = sum(_chars(event.to_llm_message()) for event in events) / max(1.0, tokens)
    model = Counting(model="none", usage_id="bench")
    # They reduce to half of what they are told, so the kept messages take as much as was asked for.
    condenser = Asking(llm=model, max_size=UNLIMITED_EVENTS, max_tokens=2 * job["keep_tokens"], keep_first=KEEP_FIRST)
    view = View(events=events)
    try:
        found = condenser.condense(view, agent_llm=model)
    except NoCondensationAvailableException:
        found = view
    if isinstance(found, Condensation):
        found = View(events=found.apply(view.events))
    return _told(found.events, {event.id for event in events})


def _told(events: Sequence[Any], known: set[str]) -> list[dict[str, str]]:
    told: dict[str, dict[str, str]] = {}
    for event in events:
        one = {"id": _piece(event)} if event.id in known else {"text": event.summary}
        told.setdefault(_piece(event), one)
    return list(told.values())


def _events(one: dict[str, Any], messages: Sequence[dict[str, Any]]) -> list[Any]:
    name, text = one["id"], [TextContent(text=one["text"])]
    if one["kind"] == "summary":
        return [CondensationSummaryEvent(id=name, summary=one["text"])]
    if one["kind"] == "human":
        return [MessageEvent(id=name, source="user", llm_message=Message(role="user", content=text))]
    if one["kind"] == "tool":
        call = next(
            (call["name"] for other in messages for call in other.get("calls", []) if call["id"] == one["call"]), "tool"
        )
        return [
            ObservationEvent(
                id=name,
                observation=Printed.from_text(one["text"]),
                action_id=one["call"],
                tool_name=call,
                tool_call_id=one["call"],
            )
        ]
    if not one["calls"]:
        return [MessageEvent(id=name, source="agent", llm_message=Message(role="assistant", content=text))]
    return [
        ActionEvent(
            id=f"{name}#{number}",
            thought=text if number == 0 else [],
            tool_name=call["name"],
            tool_call_id=call["id"],
            tool_call=MessageToolCall(
                id=call["id"], name=call["name"], arguments=json.dumps(call["args"]), origin="completion"
            ),
            llm_response_id=name,
        )
        for number, call in enumerate(one["calls"])
    ]


def _piece(event: Any) -> str:
    return str(event.id).split("#", 1)[0]


def _chars(message: Any) -> int:
    texts = [part.text for part in message.content if isinstance(part, TextContent)]
    return sum(map(len, texts)) + sum(len(call.arguments) for call in message.tool_calls or [])


def _say(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
