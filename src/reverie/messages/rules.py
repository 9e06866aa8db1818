"""The provider's rules for a conversation, and where it may therefore be cut.

`conform` repairs what an interruption or a foreign file left behind, `Conforming` does so request by request,
`legal_cuts` lists the places where later stages may divide a view. Stages cut nowhere else, so no reduction parts a
call from its result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import is_

from reverie.messages.blocks import Block, RedactedThinking, Text, Thinking, ToolResult, ToolUse
from reverie.messages.message import Message, Role, merge_neighbours
from reverie.messages.view import Item

UNANSWERED = "No result: the call was interrupted before it finished."
"""What stands for the answer of a call that never came back; providers refuse a call without one."""


def conform(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Make a conversation acceptable and change nothing that already is.

    Unanswered calls get an answer that says so, results without a call go, results move to the front of their message,
    empty text goes. Applied twice it changes nothing more.
    """
    whole = merge_neighbours(_acceptable(messages))
    if not (whole and whole[0].role is Role.ASSISTANT) and _is_whole(whole):
        return whole
    closed: list[Message] = []
    open_calls: tuple[ToolUse, ...] = ()
    called: set[str] = set()
    for message in whole:
        if open_calls and message.role is not Role.USER:
            closed.append(Message(Role.USER, _answers(open_calls, ())))
            open_calls = ()
        if message.role is Role.USER:
            rest = tuple(block for block in message.content if not isinstance(block, ToolResult))
            content = _answers(open_calls, message.tool_results) + rest
            open_calls = ()
        else:
            content = _fresh_calls(message.content, called)
            open_calls = tuple(block for block in content if isinstance(block, ToolUse))
        if content:
            closed.append(message if content == message.content else replace(message, content=content))
    if open_calls:
        closed.append(Message(Role.USER, _answers(open_calls, ())))
    while closed and closed[0].role is Role.ASSISTANT:
        closed.pop(0)
        closed = _drop_leading_results(closed)
    return merge_neighbours(closed)


def may_begin_thinking(messages: Sequence[Message]) -> bool:
    """Whether a provider takes these messages with thinking switched on.

    Calls that are being answered must go back to thinking; one that began without it is finished without it.
    """
    is_open = False
    for message in reversed(messages):
        if message.role is Role.USER:
            if not message.tool_results:
                break
            is_open = True
        elif isinstance(message.content[0], Thinking | RedactedThinking):
            return True
    return not is_open


class Conforming:
    """`conform` for a conversation that grows: what was whole the last time is not looked at again."""

    def __init__(self) -> None:
        self._given: list[Message] = []
        """What `_whole` was made of. A reply follows it, so that nothing joins it any more."""
        self._whole: list[Message] = []
        self._called: set[str] = set()

    def conform(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """As the function; fast when these messages begin with those of the last time, as the same objects."""
        if len(self._given) > len(messages) or not all(map(is_, self._given, messages)):
            self._given, self._whole, self._called = [], [], set()
        unchanged = len(self._given)
        newest = _newest_reply(messages, unchanged)
        settled = self._check_added(messages[unchanged:newest])
        if settled is None or (settled and settled[-1].role is not Role.USER):
            return conform(messages)
        self._given += messages[unchanged:newest]
        self._whole += settled
        self._called.update(call.id for message in settled for call in message.tool_uses)
        rest = self._check_added(messages[newest:])
        return conform(messages) if rest is None else (*self._whole, *rest)

    def _check_added(self, part: Sequence[Message]) -> Sequence[Message] | None:
        """What these messages add to the whole; None when it is not whole with them."""
        added = merge_neighbours(_acceptable(part))
        begins = Role.ASSISTANT if self._whole else Role.USER
        if part and not (added and added[0].role is begins and _is_whole(added, self._called)):
            return None
        return added


def legal_cuts(items: Sequence[Item]) -> tuple[int, ...]:
    """The numbers n for which items[:n] and items[n:] may be treated apart, both ends included.

    No cut parts a call from its result or the records of one reply from each other.
    """
    last_answer = {
        block.tool_use_id: number
        for number, item in enumerate(items)
        for block in item.message.content
        if isinstance(block, ToolResult)
    }
    cuts = [0]
    open_until = -1
    for number, item in enumerate(items):
        for block in item.message.content:
            if isinstance(block, ToolUse):
                open_until = max(open_until, last_answer.get(block.id, number))
        following = items[number + 1] if number + 1 < len(items) else None
        if number >= open_until and not _same_reply(item, following) and not _same_results(item, following):
            cuts.append(number + 1)
    return tuple(cuts)


def _same_reply(item: Item, following: Item | None) -> bool:
    return following is not None and item.message_id is not None and item.message_id == following.message_id


def _same_results(item: Item, following: Item | None) -> bool:
    """Whether both answer calls of one message; parting them would leave a result without its call."""
    return bool(item.message.tool_results) and following is not None and bool(following.message.tool_results)


def _answers(calls: Sequence[ToolUse], results: Sequence[ToolResult]) -> tuple[Block, ...]:
    """One result per call: the given ones in their order, then a stand-in for each that is missing."""
    call_ids = {call.id for call in calls}
    answered: dict[str, ToolResult] = {}
    for result in results:
        if result.tool_use_id in call_ids:
            answered.setdefault(result.tool_use_id, result)
    missing = (ToolResult(call.id, UNANSWERED, is_error=True) for call in calls if call.id not in answered)
    return (*answered.values(), *missing)


def _fresh_calls(content: tuple[Block, ...], called: set[str]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for block in content:
        if isinstance(block, ToolUse):
            if block.id in called:
                continue
            called.add(block.id)
        blocks.append(block)
    return tuple(blocks)


def _acceptable(messages: Iterable[Message]) -> Iterable[Message]:
    """The messages without empty text and without calls or results that the wrong side made."""
    for message in messages:
        misplaced = ToolResult if message.role is Role.ASSISTANT else ToolUse
        content = message.content
        for block in content:
            if _is_unfit(misplaced, block):
                content = tuple(block for block in content if not _is_unfit(misplaced, block))
                message = replace(message, content=content)
                break
        if content:
            yield message


def _is_unfit(misplaced: type[ToolResult | ToolUse], block: Block) -> bool:
    kind = type(block)
    return kind is misplaced or (kind is Text and not block.text.strip())  # type: ignore[union-attr]  # it is text


def _newest_reply(messages: Sequence[Message], start: int) -> int:
    """Where the newest reply begins that follows a message of the user's side; `start` when none does."""
    for number in range(len(messages) - 1, max(start, 1) - 1, -1):
        if messages[number].role is Role.ASSISTANT and messages[number - 1].role is Role.USER:
            return number
    return start


def _is_whole(messages: Sequence[Message], called_before: Collection[str] = ()) -> bool:
    """Whether nothing is left to repair: the usual case, and the one that must be fast."""
    called: set[str] = set()
    waiting: set[str] = set()
    for message in messages:
        answers = message.role is Role.USER
        if waiting and not answers:
            return False
        past_results = False
        for block in message.content:
            if type(block) is ToolResult:
                if past_results or block.tool_use_id not in waiting:
                    return False
                waiting.discard(block.tool_use_id)
            elif type(block) is ToolUse:
                if block.id in called or block.id in called_before:
                    return False
                called.add(block.id)
                waiting.add(block.id)
            else:
                past_results = True
        if answers and waiting:
            return False
    return not waiting


def _drop_leading_results(messages: list[Message]) -> list[Message]:
    """Results whose calls were dropped with the message before them go too."""
    if not messages or messages[0].role is not Role.USER:
        return messages
    content = tuple(block for block in messages[0].content if not isinstance(block, ToolResult))
    return [replace(messages[0], content=content), *messages[1:]] if content else messages[1:]
