"""What every `Model` must do, as tests to inherit.

```python
class TestMyModel(ModelContract):
    def open_model(self, *answers): ...   # an async context manager that gives a model which answers so
```

pytest runs the inherited methods (pytest-asyncio in auto mode). Abilities that a model does not claim are skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, TypeAlias

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    Interrupted,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.messages.blocks import Text, Thinking
from reverie.messages.message import Role, assistant, user
from reverie.models.ports import (
    BlockDone,
    Event,
    Finished,
    Model,
    Reply,
    Request,
    Retrying,
    TextDelta,
    ThinkingDelta,
    ToolUseStarted,
)
from reverie.testing.build import request, system, tool, tool_call, tool_result
from reverie.values import value


@value
class Says:
    """The model answers."""

    text: str = ""
    thinking: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@value
class Fails:
    """The model's provider fails, once."""

    error: type[Unavailable]
    """What should be raised for it."""


Outcome: TypeAlias = Says | Fails

HOPELESS = (ContextTooLong, MediaTooLarge, Unauthenticated, BadRequest)
PASSING = (RateLimited, Overloaded, Interrupted)


class ModelContract:
    """Inherit, say how to open a model, and the promises below are checked on it."""

    can_think = True
    can_call_tools = True
    can_fail = True
    tries_again = True
    """The model itself repeats what failed for the moment."""

    def open_model(self, *outcomes: Outcome) -> AbstractAsyncContextManager[Model]:
        """A model that does these things one after the other."""
        raise NotImplementedError

    async def test_the_last_event_and_only_the_last_is_the_end(self) -> None:
        events = await self._ask(Says("one two three"))

        assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]

    async def test_the_pieces_of_text_join_to_the_text_of_the_reply(self) -> None:
        events = await self._ask(Says("Zeile eins\nзначение — 第二行 🌱"))

        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == _reply(events).text
        assert _reply(events).text == "Zeile eins\nзначение — 第二行 🌱"

    async def test_every_block_is_told_once_and_makes_up_the_reply(self) -> None:
        events = await self._ask(Says("first", calls=(("look", {"at": "x"}),) if self.can_call_tools else ()))

        assert tuple(event.block for event in events if isinstance(event, BlockDone)) == _reply(events).message.content

    async def test_a_reply_is_the_assistants_and_says_why_it_ended(self) -> None:
        reply = _reply(await self._ask(Says("done")))

        assert reply.message.role is Role.ASSISTANT
        assert reply.stop_reason == "end_turn"
        assert reply.model != ""

    async def test_an_answer_without_words_has_no_empty_text(self) -> None:
        reply = _reply(await self._ask(Says("")))

        assert Text("") not in reply.message.content

    async def test_counts_of_tokens_are_never_negative(self) -> None:
        usage = _reply(await self._ask(Says("done"))).usage

        assert min(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens) >= 0

    async def test_reasoning_comes_in_pieces_and_as_a_block_before_the_text(self) -> None:
        self._needs(self.can_think)
        events = await self._ask(Says("so", thinking="because of this"))

        assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "because of this"
        first = _reply(events).message.content[0]
        assert isinstance(first, Thinking)
        assert first.thinking == "because of this"

    async def test_calls_are_announced_and_arrive_whole(self) -> None:
        self._needs(self.can_call_tools)
        asked = (("look", {"at": "a.py", "lines": [1, 2]}), ("look", {"at": "b.py", "lines": []}))
        events = await self._ask(Says("let me see", calls=asked))

        reply = _reply(events)
        assert [(use.name, use.input) for use in reply.message.tool_uses] == list(asked)
        assert reply.stop_reason == "tool_use"
        started = [(event.id, event.name) for event in events if isinstance(event, ToolUseStarted)]
        assert started == [(use.id, use.name) for use in reply.message.tool_uses]
        assert len({use.id for use in reply.message.tool_uses}) == len(asked)

    async def test_a_call_without_parameters_has_an_empty_input(self) -> None:
        self._needs(self.can_call_tools)
        reply = _reply(await self._ask(Says(calls=(("now", {}),))))

        assert [use.input for use in reply.message.tool_uses] == [{}]

    async def test_a_conversation_with_answered_calls_is_understood(self) -> None:
        call = tool_call("look", id="call_before", at="a.py")
        conversation = request(
            user("look at a.py"),
            assistant("I look.", call),
            user(tool_result(call, "print(1)"), "and now?"),
            system=system("Be brief."),
            tools=(tool("look", "Read a file.", at="string"),),
            embedded=lambda: "it prints 1",
        )
        async with self.open_model(Says("it prints 1")) as model:
            events = [event async for event in model.stream(conversation)]

        assert _reply(events).text == "it prints 1"

    async def test_a_request_is_left_as_it_was_and_may_be_sent_again(self) -> None:
        asked, same = _question("again"), _question("again")
        async with self.open_model(Says("again"), Says("again")) as model:
            replies = [_reply([event async for event in model.stream(asked)]) for _ in range(2)]

        assert asked == same
        assert replies[0].message == replies[1].message

    async def test_answers_given_at_the_same_time_do_not_mix(self) -> None:
        async with self.open_model(Says("both"), Says("both")) as model:

            async def ask() -> Reply:
                return _reply([event async for event in model.stream(_question("both"))])

            replies = await asyncio.gather(ask(), ask())

        assert [reply.text for reply in replies] == ["both", "both"]

    async def test_a_reader_may_leave_early_and_ask_again(self) -> None:
        async with self.open_model(Says("one two three"), Says("once more")) as model:
            async with aclosing(model.stream(_question("one two three"))) as events:
                async for _ in events:
                    break
            reply = _reply([event async for event in model.stream(_question("once more"))])

        assert reply.text == "once more"

    async def test_a_hopeless_failure_is_raised_as_what_it_is(self) -> None:
        self._needs(self.can_fail)
        for error in HOPELESS:
            assert type(await self._failure(Fails(error), Says("not reached"))) is error

    async def test_a_passing_failure_is_raised_as_what_it_is_in_the_end(self) -> None:
        self._needs(self.can_fail)
        for error in PASSING:
            assert type(await self._failure(*[Fails(error)] * 10)) is error

    async def test_a_passing_failure_is_tried_again_and_nothing_of_it_counts(self) -> None:
        self._needs(self.tries_again)
        for error in PASSING:
            events = await self._ask(Fails(error), Says("in the end"))
            retries = [number for number, event in enumerate(events) if isinstance(event, Retrying)]
            assert len(retries) == 1, error
            after = events[retries[0] + 1 :]
            assert "".join(event.text for event in after if isinstance(event, TextDelta)) == "in the end"
            assert _reply(events).text == "in the end"

    async def _ask(self, *outcomes: Outcome) -> list[Event]:
        text = next((outcome.text for outcome in outcomes if isinstance(outcome, Says)), "")
        async with self.open_model(*outcomes) as model:
            return [event async for event in model.stream(_question(text))]

    async def _failure(self, *outcomes: Outcome) -> Unavailable:
        try:
            events = await self._ask(*outcomes)
        except Unavailable as failure:
            return failure
        raise AssertionError(f"no failure, but {events[-1]}")

    @staticmethod
    def _needs(ability: bool) -> None:
        if not ability:
            import pytest

            pytest.skip("this model does not claim to do that")


def _question(answer: str) -> Request:
    """A request that also a model without a network can answer."""
    return request("Well?", tools=(tool("look", at="string"), tool("now")), embedded=lambda: answer)


def _reply(events: list[Event]) -> Reply:
    last = events[-1]
    assert isinstance(last, Finished), f"the stream ended with {last}"
    return last.reply
