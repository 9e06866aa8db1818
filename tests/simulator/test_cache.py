from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Json, JsonObject
from reverie_simulator.answers import Served
from reverie_simulator.facts import facts_of
from reverie_simulator.wire import objects_at
from tests.requirements import requirement
from tests.simulator.requests import (
    EPHEMERAL,
    HOUR,
    WORDS,
    assistant,
    provider,
    request,
    serve,
    text,
    tool,
    user,
)

LONG = WORDS * 200
"""About 2,200 tokens for newer models: over the minimum of the model that most tests use."""
MINUTE = timedelta(minutes=1)


def conversation(blocks: int, *, first: str = LONG) -> list[JsonObject]:
    """A conversation of so many blocks, user and assistant in turn."""
    said = [first, *(f"word {number}" for number in range(1, blocks))]
    return [user(words) if number % 2 == 0 else assistant(words) for number, words in enumerate(said)]


def marked(messages: list[JsonObject], mark: JsonObject = EPHEMERAL) -> dict[str, Json]:
    """A request that is to be cached to its end."""
    return request(messages, cache_control=dict(mark))


def read(served: Served) -> int:
    return served.outcome.usage.read_tokens


def written(served: Served) -> int:
    return served.outcome.usage.written_tokens


def reason(served: Served) -> str:
    (breakpoint_,) = served.outcome.explanation.breakpoints
    assert breakpoint_.miss is not None
    return breakpoint_.miss.reason


@requirement("simulator:cache:reads-what-was-written")
def test_the_second_identical_request_reads_what_the_first_wrote() -> None:
    one = provider()

    first, second = serve(one, marked(conversation(1))), serve(one, marked(conversation(1)))

    assert (read(first), written(first)) == (0, first.prompt.tokens - 3)
    assert (read(second), written(second)) == (written(first), 0)
    assert first.outcome.usage.input_tokens == second.outcome.usage.input_tokens == 3


@requirement("simulator:cache:reads-what-was-written")
@given(lengths=st.lists(st.integers(1, 19), min_size=1, max_size=6), skew=st.floats(0.9, 1.15))
def test_a_growing_conversation_always_reads_all_that_was_written_before(lengths: list[int], skew: float) -> None:
    one = provider(skew=skew)
    size, expected = 0, 0

    for length in lengths:
        size += length
        served = serve(one, marked(conversation(size)))

        assert read(served) == expected
        expected = read(served) + written(served)


@requirement("simulator:cache:change-ends-reading")
@given(size=st.integers(2, 15), data=st.data())
def test_a_changed_block_is_never_read_past(size: int, data: st.DataObject) -> None:
    one = provider()
    marks = data.draw(st.sets(st.integers(0, size - 1), max_size=3))
    changed = data.draw(st.integers(0, size - 1))
    body = request([_marked_message(message, at in marks) for at, message in enumerate(conversation(size))])
    other = conversation(size)
    other[changed] = {**other[changed], "content": [text(LONG + "changed")]}
    serve(one, body)

    served = serve(one, request([_marked_message(message, at in marks) for at, message in enumerate(other)]))

    before = served.prompt.pieces[:changed]
    assert read(served) <= sum(piece.tokens for piece in before)
    last_unchanged_mark = max((at for at in marks if at < changed), default=-1)
    assert read(served) == sum(piece.tokens for piece in before[: last_unchanged_mark + 1])


def _marked_message(message: JsonObject, is_marked: bool) -> JsonObject:
    (block,) = objects_at(message, "content")
    return {**message, "content": [{**block, "cache_control": dict(EPHEMERAL)}]} if is_marked else message


@requirement("simulator:cache:look-back")
@pytest.mark.parametrize(("added", "is_read"), [(19, True), (20, False)])
def test_a_breakpoint_finds_an_entry_19_blocks_before_it_and_not_20(added: int, is_read: bool) -> None:
    one = provider()
    first = serve(one, marked(conversation(3)))

    served = serve(one, marked(conversation(3 + added)))

    assert read(served) == (written(first) if is_read else 0)
    if not is_read:
        assert reason(served) == "look_back_exceeded"


@requirement("simulator:cache:look-back")
def test_each_breakpoint_looks_back_on_its_own() -> None:
    one = provider()
    serve(one, marked(conversation(3)))
    messages = conversation(40)
    messages[15] = _marked_message(messages[15], is_marked=True)

    served = serve(one, marked(messages))

    assert read(served) == sum(piece.tokens for piece in served.prompt.pieces[:3])


@requirement("simulator:cache:reads-what-was-written")
def test_only_marked_places_are_written_so_an_unmarked_common_prefix_is_not_read() -> None:
    one = provider()
    serve(one, marked(conversation(5)))
    other = conversation(5)
    other[4] = user("something else")

    assert read(serve(one, marked(other))) == 0


@requirement("simulator:cache:minimum")
@pytest.mark.parametrize(
    "model", ["claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-haiku-4-5"]
)
def test_a_prefix_is_cached_from_the_models_minimum_on(model: str) -> None:
    facts = facts_of(model)
    assert facts is not None
    one = provider()

    def caches(characters: int) -> bool:
        body = request([user("x" * characters)], model=model, cache_control=dict(EPHEMERAL))
        served = serve(one, body)
        assert written(served) in {0, served.prompt.tokens - 3}
        assert (written(served) > 0) == (served.prompt.tokens - 3 >= facts.cache_minimum_tokens)
        return written(served) > 0

    few = int(facts.cache_minimum_tokens / facts.tokens_factor * 4)
    assert not caches(few)
    assert caches(few * 2)


@requirement("simulator:cache:minimum", "simulator:cache:explains-itself")
def test_a_short_prompt_is_not_cached_and_says_so() -> None:
    served = serve(provider(), marked([user("short")]))

    assert (read(served), written(served)) == (0, 0)
    assert reason(served) == "below_minimum"


@requirement("simulator:cache:lifetime")
@pytest.mark.parametrize(("mark", "minutes"), [(EPHEMERAL, 5), (HOUR, 60)])
def test_an_entry_is_gone_when_its_lifetime_has_passed(mark: JsonObject, minutes: int) -> None:
    one = provider()
    first = serve(one, marked(conversation(1), mark))
    lifetime = timedelta(minutes=minutes)

    assert read(serve(one, marked(conversation(1), mark), lifetime - MINUTE / 60)) == written(first)
    late = serve(one, marked(conversation(1), mark), 2 * lifetime)

    assert read(late) == 0
    assert reason(late) == "expired"


@requirement("simulator:cache:lifetime")
def test_reading_an_entry_begins_its_lifetime_anew() -> None:
    one = provider()
    first = serve(one, marked(conversation(1)))

    for minutes in (4, 8, 12, 16):
        assert read(serve(one, marked(conversation(1)), MINUTE * minutes)) == written(first)


@requirement("simulator:cache:lifetime", "simulator:cache:explains-itself")
def test_an_expired_entry_says_how_late_the_request_came() -> None:
    one = provider()
    serve(one, marked(conversation(1)))

    served = serve(one, marked(conversation(1)), MINUTE * 7)

    (breakpoint_,) = served.outcome.explanation.breakpoints
    assert breakpoint_.miss is not None
    assert breakpoint_.miss.late_seconds == 120


@requirement("simulator:cache:levels")
@pytest.mark.parametrize(
    ("change", "survives"),
    [
        ({"tools": [tool("Write")]}, ()),
        ({"model": "claude-opus-4-7"}, ()),
        ({"system": [text(LONG + "!", EPHEMERAL)]}, ("tools",)),
        ({"speed": "fast"}, ("tools",)),
        ({"thinking": {"type": "adaptive"}}, ("tools", "system")),
        ({"output_config": {"effort": "low"}}, ("tools", "system")),
        ({"tool_choice": {"type": "any"}}, ("tools", "system")),
        ({"tool_choice": {"type": "auto"}}, ("tools", "system", "messages")),
        ({"metadata": {"user_id": "somebody"}}, ("tools", "system", "messages")),
        ({"max_tokens": 5}, ("tools", "system", "messages")),
    ],
)
def test_a_change_invalidates_its_level_and_those_below(change: dict[str, Json], survives: tuple[str, ...]) -> None:
    one = provider()
    body = request(
        conversation(1),
        tools=[tool(description=LONG, cache_control=dict(EPHEMERAL))],
        system=[text(LONG, EPHEMERAL)],
        cache_control=dict(EPHEMERAL),
    )
    sizes = {piece.level: piece.tokens for piece in serve(one, body).prompt.pieces}
    if "tools" in change:
        change = {"tools": [tool(description=LONG + "!", cache_control=dict(EPHEMERAL))]}

    served = serve(one, {**body, **change})

    assert read(served) == sum(sizes[level] for level in sizes if level in survives)


@requirement("simulator:cache:levels")
def test_adding_an_image_invalidates_the_messages_and_keeps_the_system() -> None:
    one = provider()
    image: JsonObject = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    system: Json = [text(LONG, EPHEMERAL)]
    first = serve(one, request(conversation(1), system=system, cache_control=dict(EPHEMERAL)))

    served = serve(one, request([*conversation(1), user(image, "look")], system=system, cache_control=dict(EPHEMERAL)))

    assert read(served) == first.prompt.pieces[0].tokens


@requirement("simulator:cache:marks")
def test_the_top_level_mark_lands_on_the_last_block_that_can_be_cached() -> None:
    thinking: JsonObject = {"type": "thinking", "thinking": "hm", "signature": "s"}
    one = provider()
    body = request(
        [user(LONG), assistant(thinking)],
        model="claude-opus-4-8",
        thinking={"type": "adaptive"},
        cache_control={**HOUR},
    )

    served = serve(one, body)

    (breakpoint_,) = served.outcome.explanation.breakpoints
    assert (breakpoint_.path, breakpoint_.automatic, breakpoint_.ttl) == ("messages.0.content.0", True, "1h")


@requirement("simulator:cache:marks")
def test_an_hours_prefix_and_a_short_lived_rest_are_billed_apart() -> None:
    one = provider()
    body = request(conversation(1), system=[text(LONG, HOUR)], cache_control=dict(EPHEMERAL))

    usage = serve(one, body).outcome.usage
    sizes = [piece.tokens for piece in serve(one, body).prompt.pieces]

    assert (usage.written_1h_tokens, usage.written_5m_tokens) == (sizes[0], sizes[1])
    late = serve(one, body, MINUTE * 20).outcome.usage
    assert (late.read_tokens, late.written_5m_tokens, late.written_1h_tokens) == (sizes[0], sizes[1], 0)


@requirement("simulator:cache:marks")
def test_a_mark_before_the_place_that_was_read_buys_nothing() -> None:
    one = provider()
    first = serve(one, marked(conversation(2)))
    early = [_marked_message(conversation(1)[0], is_marked=True), *conversation(2)[1:]]

    covered = serve(one, marked(early))

    assert (read(covered), written(covered)) == (written(first), 0)
    assert read(serve(one, marked([*conversation(1), assistant("another word")]))) == 0


@requirement("simulator:cache:explains-itself")
def test_a_miss_names_the_first_block_that_changed() -> None:
    one = provider()
    serve(one, marked(conversation(4)))
    other = conversation(4)
    other[2] = user("edited")

    served = serve(one, marked(other))

    change = served.outcome.explanation.change
    assert reason(served) == "changed"
    assert change is not None
    assert (change.level, change.path, change.same_blocks) == ("messages", "messages.2.content.0", 2)


@requirement("simulator:cache:explains-itself")
def test_a_miss_names_the_setting_that_changed() -> None:
    one = provider()
    serve(one, marked(conversation(1)))

    served = serve(one, {**marked(conversation(1)), "output_config": {"effort": "max"}})

    change = served.outcome.explanation.change
    assert change is not None
    assert (change.path, change.settings) == (None, ("effort=max",))


@requirement("simulator:cache:explains-itself")
def test_the_first_request_found_nothing_because_nothing_was_cached() -> None:
    assert reason(serve(provider(), marked(conversation(1)))) == "nothing_cached"


def test_a_cleared_cache_has_forgotten_everything() -> None:
    one = provider()
    serve(one, marked(conversation(1)))

    one.cache.clear()

    assert read(serve(one, marked(conversation(1)))) == 0
