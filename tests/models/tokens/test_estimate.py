from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import (
    Block,
    CompactionBlock,
    DocumentBlock,
    Image,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from reverie.messages.entries import SystemBlock, ToolSpec
from reverie.messages.message import Message, Role, assistant, user
from reverie.messages.view import Item, ItemKind, View
from reverie.models.profiles import Tokenizer, profile
from reverie.models.tokens.estimate import (
    weigh_block,
    weigh_message,
    weigh_request,
    weigh_text,
    weigh_tool,
    weigh_view,
)
from reverie.models.tokens.media import FLAT_MEDIA_TOKENS
from reverie.models.tokens.rates import RATES, rates_for
from tests.requirements import requirement

OLD = RATES[Tokenizer.OLD]
SONNET = profile("claude-sonnet-4-5")
SENTENCE = "The importer skips a damaged record and names the line. "

words = st.text(max_size=120)
blocks: st.SearchStrategy[Block] = st.one_of(
    words.map(Text),
    words.map(Thinking),
    words.map(RedactedThinking),
    st.dictionaries(words, words | st.integers() | st.none(), max_size=4).map(lambda data: ToolUse("t", "Bash", data)),
    words.map(lambda text: ToolResult("t", text)),
    words.map(lambda text: ToolResult("t", (Text(text), Image({"type": "url"})))),
    words.map(lambda text: DocumentBlock({"type": "text", "data": text})),
    words.map(CompactionBlock),
    words.map(lambda text: Opaque({"type": "new", "x": text})),
)
messages = st.lists(blocks, max_size=5).map(lambda content: Message(Role.USER, tuple(content)))


@requirement("tokens:estimate:laws")
@given(st.lists(messages, max_size=5), st.sampled_from(list(Tokenizer)))
def test_messages_weigh_together_what_they_weigh_apart(many: list[Message], tokenizer: Tokenizer) -> None:
    rates = RATES[tokenizer]
    apart = sum(weigh_message(one, rates) for one in many)
    assert weigh_request(SONNET, messages=many, rates=rates) == pytest.approx(apart + rates.request * bool(many), abs=1)


@requirement("tokens:estimate:laws")
@given(messages, blocks)
def test_one_block_more_never_weighs_less(message: Message, block: Block) -> None:
    longer = Message(message.role, (*message.content, block))
    assert 0 < weigh_message(message, OLD) <= weigh_message(longer, OLD)


@requirement("tokens:estimate:kinds")
def test_newer_models_cut_the_same_text_into_more_tokens() -> None:
    old, new = (weigh_text(SENTENCE * 20, rates_for(profile(name))) for name in ("claude-opus-4-6", "claude-opus-4-7"))
    assert new / old == pytest.approx(1.25, abs=0.06)


@requirement("tokens:estimate:kinds")
def test_han_text_weighs_far_more_than_four_bytes_to_a_token() -> None:
    text = "记忆不是一堆文件，而是知道什么时候该想起什么。" * 20
    assert weigh_text(text, OLD) > 0.7 * len(text)
    assert weigh_text(text, RATES[Tokenizer.OTHER]) < 1.1 * len(text)


@requirement("tokens:estimate:kinds")
def test_a_tool_call_weighs_more_than_its_json() -> None:
    call = ToolUse("t", "Bash", {"command": "ls -la", "description": "List files"})
    bare = weigh_text("ls -la", OLD) + weigh_text("List files", OLD)
    assert weigh_block(call, OLD) == pytest.approx(bare + OLD.call + 2 * OLD.parameter)


@requirement("tokens:estimate:kinds")
def test_a_tool_result_is_weighed_by_what_the_model_sees() -> None:
    plain = ToolResult("t", SENTENCE)
    parts = ToolResult("t", (Text(SENTENCE), Image({"type": "url", "url": "https://example.com"})))
    assert weigh_block(plain, OLD) == pytest.approx(OLD.result + weigh_text(SENTENCE, OLD))
    assert weigh_block(parts, OLD) == pytest.approx(weigh_block(plain, OLD) + OLD.image_most_tokens)


@requirement("tokens:estimate:kinds")
def test_documents_are_weighed_as_text_as_pages_or_flat() -> None:
    assert weigh_block(DocumentBlock({"type": "text", "data": SENTENCE}), OLD) == weigh_text(SENTENCE, OLD)
    assert weigh_block(DocumentBlock({"type": "url", "url": "https://example.com"}), OLD) == FLAT_MEDIA_TOKENS
    assert weigh_block(DocumentBlock({"type": "content", "content": [SENTENCE]}), OLD) > weigh_text(SENTENCE, OLD)


def test_a_signature_weighs_nothing_and_hidden_reasoning_something() -> None:
    assert weigh_block(Thinking("", "signature" * 50), OLD) == 0
    assert weigh_block(RedactedThinking("x" * 1_000), OLD) == 100


def test_a_block_of_an_unknown_kind_is_weighed_as_json() -> None:
    assert weigh_block(Opaque({"type": "new", "text": SENTENCE}), OLD) > weigh_text(SENTENCE, OLD)


def test_carrying_tools_costs_a_prompt_of_its_own() -> None:
    tool = ToolSpec("read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}})
    bare = weigh_request(SONNET, messages=[user("hi")])
    armed = weigh_request(SONNET, tools=[tool], messages=[user("hi")])
    assert armed - bare == pytest.approx(SONNET.tool_prompt_tokens + weigh_tool(tool, OLD), abs=1)


def test_a_tool_that_the_provider_describes_itself_has_its_known_weight() -> None:
    memory = ToolSpec("memory", extra={"type": "memory_20250818"})
    assert weigh_request(SONNET, tools=[memory], messages=[user("What do you know?")]) == pytest.approx(1_581, rel=0.02)


def test_an_empty_request_weighs_nothing() -> None:
    assert weigh_request(SONNET) == 0
    assert weigh_view(View(), SONNET) == 0


def test_a_view_weighs_its_system_text_its_tools_and_its_messages() -> None:
    system, tools = (SystemBlock(SENTENCE),), (ToolSpec("read"),)
    spoken = (user(SENTENCE), assistant(SENTENCE))
    items = tuple(Item(str(number), ItemKind.TYPED, message) for number, message in enumerate(spoken))
    view = View(items, system, tools)
    assert weigh_view(view, SONNET) == weigh_request(SONNET, system=system, tools=tools, messages=spoken)
