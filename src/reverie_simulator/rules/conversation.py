"""Rules of a conversation: roles, content, and every tool call answered at once.

Neighbouring messages of one role are one turn, as the provider joins them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from reverie.messages.blocks import JsonObject
from reverie.values import value
from reverie_simulator.facts import ModelFacts
from reverie_simulator.wire import blocks_at, objects_at, text_at

ONLY_ASSISTANT = ("tool_use", "server_tool_use", "thinking", "redacted_thinking")
ONLY_USER = ("tool_result", "cache_edits")


@value
class PlacedBlock:
    """A block and where it stands."""

    message: int
    index: int
    block: JsonObject

    @property
    def kind(self) -> str:
        return text_at(self.block, "type")

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.index}"


@value
class RoleTurn:
    """All neighbouring messages of one role."""

    role: str
    blocks: tuple[PlacedBlock, ...]
    first: int
    last: int
    """The numbers of its first and last message."""


def turns_of(messages: Sequence[JsonObject]) -> tuple[RoleTurn, ...]:
    """The conversation with neighbours of one role joined."""
    turns = []
    for role, group in groupby(enumerate(messages), key=lambda entry: text_at(entry[1], "role")):
        members = list(group)
        blocks = tuple(
            PlacedBlock(number, index, block)
            for number, message in members
            for index, block in enumerate(blocks_at(message, "content"))
        )
        turns.append(RoleTurn(role, blocks, members[0][0], members[-1][0]))
    return tuple(turns)


def check_conversation(messages: Sequence[JsonObject], turns: Sequence[RoleTurn], facts: ModelFacts) -> str | None:
    """The first rule that the messages break."""
    if not messages:
        return "messages: at least one message is required"
    problems = chain(
        _role_problems(turns, facts),
        _content_problems(messages),
        _place_problems(turns),
        _pair_problems(turns),
        _ending_problems(turns[-1], facts),
    )
    return next(problems, None)


def _role_problems(turns: Sequence[RoleTurn], facts: ModelFacts) -> Iterator[str]:
    if any(turn.role == "system" for turn in turns):
        yield from _system_problems(turns, facts)
    begins_with_summary = any(placed.kind == "compaction" for placed in turns[0].blocks)
    if turns[0].role != "user" and not begins_with_summary:
        yield 'messages: first message must use the "user" role'


def _system_problems(turns: Sequence[RoleTurn], facts: ModelFacts) -> Iterator[str]:
    if not facts.takes_system_messages:
        yield (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not '
            '"system" as an input message role.'
        )
    for at, turn in enumerate(turns):
        if turn.role != "system":
            continue
        if at == 0 or turns[at - 1].role != "user":
            yield f"messages.{turn.first}: a `system` message must follow a `user` message"
        if turn.first != turn.last:
            yield f"messages.{turn.last}: consecutive `system` messages are not allowed"
        if at + 1 < len(turns) and turns[at + 1].role != "assistant":
            yield f"messages.{turn.first}: a `system` message must be last or be followed by an `assistant` message"


def _content_problems(messages: Sequence[JsonObject]) -> Iterator[str]:
    last = len(messages) - 1
    for number, message in enumerate(messages):
        content = message.get("content")
        sets_options = message.get("role") == "system" and "output_config" in message
        if not content and not sets_options and not (number == last and message.get("role") == "assistant"):
            yield (
                f"messages.{number}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
        for block in objects_at(message, "content"):
            for each in (block, *objects_at(block, "content")):
                yield from _text_problems(each)
        if isinstance(content, str) and content:
            yield from _text_problems({"type": "text", "text": content})


def _text_problems(block: JsonObject) -> Iterator[str]:
    if block.get("type") != "text":
        return
    text = text_at(block, "text")
    if not text:
        yield "messages: text content blocks must be non-empty"
    elif not text.strip():
        yield "messages: text content blocks must contain non-whitespace text"


def _place_problems(turns: Sequence[RoleTurn]) -> Iterator[str]:
    for turn in turns:
        for placed in turn.blocks:
            if turn.role != "assistant" and placed.kind in ONLY_ASSISTANT:
                yield f"messages.{placed.message}: `{placed.kind}` blocks can only be in `assistant` messages"
            if turn.role != "user" and placed.kind in ONLY_USER:
                yield f"messages.{placed.message}: `{placed.kind}` blocks can only be in `user` messages"


def _pair_problems(turns: Sequence[RoleTurn]) -> Iterator[str]:
    seen: set[str] = set()
    for at, turn in enumerate(turns):
        for placed in turn.blocks:
            if placed.kind == "tool_use":
                call = text_at(placed.block, "id")
                if call in seen:
                    yield f"{placed.path}: `tool_use` ids must be unique"
                seen.add(call)
        before = turns[at - 1] if at else None
        after = turns[at + 1] if at + 1 < len(turns) else None
        yield from _orphan_results(turn, before)
        yield from _open_calls(turn, after)


def _orphan_results(turn: RoleTurn, before: RoleTurn | None) -> Iterator[str]:
    calls = {text_at(placed.block, "id") for placed in before.blocks if placed.kind == "tool_use"} if before else set()
    answered: set[str] = set()
    for placed in turn.blocks:
        if placed.kind != "tool_result":
            continue
        call = text_at(placed.block, "tool_use_id")
        if call not in calls:
            yield (
                f"{placed.path}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            )
        if call in answered:
            yield (
                f"{placed.path}: each tool_use must have a single result. Found multiple `tool_result` blocks with "
                f"id: {call}"
            )
        answered.add(call)


def _open_calls(turn: RoleTurn, after: RoleTurn | None) -> Iterator[str]:
    calls = [placed for placed in turn.blocks if placed.kind == "tool_use"]
    answered = {text_at(block, "tool_use_id") for block in _leading_results(after)}
    open_calls = [placed for placed in calls if text_at(placed.block, "id") not in answered]
    if open_calls:
        names = ", ".join(text_at(placed.block, "id") for placed in open_calls)
        yield (
            f"messages.{open_calls[0].message}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {names}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )


def _leading_results(turn: RoleTurn | None) -> Iterator[JsonObject]:
    """The results with which a turn begins; one that stands behind other content answers nothing."""
    for placed in turn.blocks if turn else ():
        if placed.kind == "tool_result":
            yield placed.block
        elif placed.kind != "cache_edits":
            return


def _ending_problems(last: RoleTurn, facts: ModelFacts) -> Iterator[str]:
    if last.role != "assistant" or (last.blocks and last.blocks[-1].kind not in {"text", "thinking"}):
        return
    if not facts.takes_prefill:
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")
    text = text_at(last.blocks[-1].block, "text") if last.blocks else ""
    if text != text.rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
