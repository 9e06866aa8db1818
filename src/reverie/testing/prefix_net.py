"""Checks in tests that each request extends the one before it, so that the prompt cache holds.

`classify` names the relation of two Messages API bodies; `check` fails for a list of them in which one does not extend
the one before. `Net` does the same for requests of several conversations that come in any order: a request must extend
the newest that began alike, or begin a conversation. Tests that move the prefix on purpose say so with the marker
`moves_prefix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from reverie.context.cache_breaks import Fingerprint, fingerprint, predict
from reverie.messages.blocks import JsonObject
from reverie.session.subagents.fork import MARKER

IDENTICAL, EXTENDS = "identical", "extends"
_ASIDE = (MARKER, "<current_notes>")
"""What the first message of a fork, and a question for notes, contain."""


def classify(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """`identical`, `extends`, or the cause for which the later request does not extend the earlier."""
    first, second = fingerprint(before), fingerprint(after)
    parted = predict(first, second)
    if parted is not None:
        return parted.cause.value
    return IDENTICAL if len(first.pieces) == len(second.pieces) else EXTENDS


def check(bodies: Iterable[Mapping[str, Any]]) -> None:
    """Fail when a request does not extend its predecessor."""
    for number, (before, after) in enumerate(pairwise(bodies), 2):
        break_ = classify(before, after)
        assert break_ in (IDENTICAL, EXTENDS), f"request {number} does not extend the one before: {break_}"


class Net:
    """Watches the requests of one provider."""

    def __init__(self) -> None:
        self._known: list[tuple[Fingerprint, JsonObject, str]] = []
        self.torn: list[str] = []
        """What did not extend the newest request that began with the same message."""

    def take(self, body: Mapping[str, Any], reply: JsonObject | None = None) -> None:
        """Look at the next request.

        `reply` is what it was answered. A question asked beside a conversation, whose answer never became part of it,
        is no predecessor: the next request must extend the one before that question.
        """
        new, branch = fingerprint(body), _fork_directive(body)
        # A fork goes on beside its conversation, maybe with the same answers: it extends itself, or what it left.
        left = branch if any(known_branch == branch for _, _, known_branch in self._known) else ""
        for earlier, answer, known_branch in reversed(self._known):
            if known_branch != left or not _same_opening(earlier, new):
                continue
            parted = predict(earlier, new)
            if parted is not None and answer and not _holds(body, answer):
                continue
            if parted is not None:
                self.torn.append(f"request {len(self._known) + 1}: {parted.cause.value} ({parted.where})")
            break
        self._known.append((new, reply or {}, branch))


def _fork_directive(body: Mapping[str, Any]) -> str:
    """Where and with which message a fork leaves its conversation; empty for requests of the conversation itself."""
    for place, message in enumerate(body["messages"]):
        for block in _blocks(message):
            if message["role"] == "user" and any(mark in str(block.get("text", "")) for mark in _ASIDE):
                return f"{place} {_told(block)}"
    return ""


def _holds(body: Mapping[str, Any], reply: JsonObject) -> bool:
    """Whether an answer stands in the messages of a request."""
    block_ids = {
        _told(block) for message in body["messages"] if message["role"] == "assistant" for block in _blocks(message)
    }
    return any(_told(block) in block_ids for block in _blocks(reply))


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _told(block: Mapping[str, Any]) -> str:
    return str(block.get("id") or block.get("text") or block.get("thinking") or "").strip()


def _same_opening(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether two requests belong to one conversation: their first messages are the same."""
    first = next((piece.digest for piece in one.pieces if piece.level == "messages"), None)
    return first is not None and first == next((p.digest for p in other.pieces if p.level == "messages"), None)
