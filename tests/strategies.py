"""Hypothesis strategies: conversations and transcripts of every shape that a session can take."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from reverie.messages.blocks import (
    Block,
    DocumentBlock,
    Image,
    Opaque,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from reverie.messages.entries import (
    AssistantEntry,
    AttachmentEntry,
    ClearEntry,
    CollapseEntry,
    Entry,
    Envelope,
    MarkEntry,
    NotesEntry,
    PromptEntry,
    SnipEntry,
    SpillDecision,
    SpillEntry,
    SystemBlock,
    ToolSpec,
    UserEntry,
)
from reverie.messages.message import Message, Role, Usage

texts = st.text(st.characters(codec="utf-8"), max_size=40)
spoken = texts.filter(lambda text: bool(text.strip()))
names = st.text("abcdefghijklmnop_", min_size=1, max_size=12)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(names, json_values, max_size=3)
sources = st.fixed_dictionaries({"type": st.just("base64"), "media_type": st.just("image/png"), "data": names})
simple_blocks: st.SearchStrategy[Any] = st.one_of(
    st.builds(Text, texts),
    st.builds(Image, sources),
    st.builds(DocumentBlock, sources),
    st.builds(Opaque, st.fixed_dictionaries({"type": st.just("later_kind"), "value": json_values})),
)
usages = st.builds(
    Usage,
    input_tokens=st.integers(0, 10_000),
    output_tokens=st.integers(0, 1_000),
    cache_read_tokens=st.integers(0, 100_000),
    cache_write_tokens=st.just(500),
    cache_write_1h_tokens=st.integers(0, 500),
)
blocks: st.SearchStrategy[Any] = st.one_of(
    simple_blocks,
    st.builds(Thinking, texts, names),
    st.builds(RedactedThinking, names),
    st.builds(ToolUse, names, names, json_objects),
    st.builds(ToolResult, names, texts | st.lists(simple_blocks, max_size=3).map(tuple), st.booleans()),
)


@st.composite
def envelopes(draw: st.DrawFn, uuid: str = "u1", parent: str | None = None) -> Envelope:
    return Envelope(
        uuid=uuid,
        parent=parent,
        session="5f0c954e-0000-4000-8000-000000000001",
        timestamp="2026-11-01T10:00:00.000Z",
        cwd=draw(st.sampled_from(["", "/home/user/project"])),
        git_branch=draw(st.sampled_from(["", "main"])),
        version="1",
        is_meta=draw(st.booleans()),
    )


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Any one entry that we write ourselves."""
    envelope = draw(envelopes())
    ids = st.lists(names, max_size=3).map(tuple)
    choices: list[st.SearchStrategy[Entry]] = [
        st.builds(
            UserEntry,
            st.just(envelope),
            st.builds(Message, st.just(Role.USER), st.lists(blocks, min_size=1, max_size=4).map(tuple)),
            st.booleans(),
            st.none() | st.just("typed"),
        ),
        st.builds(
            AssistantEntry,
            st.just(envelope),
            st.builds(Message, st.just(Role.ASSISTANT), st.lists(blocks, min_size=1, max_size=4).map(tuple)),
            st.none() | names,
            st.none() | names,
            st.none() | names,
            st.none() | st.just("end_turn"),
            st.none() | usages,
            st.booleans(),
        ),
        st.builds(AttachmentEntry, st.just(envelope), st.just("date_change"), st.lists(blocks, max_size=3).map(tuple)),
        st.builds(
            PromptEntry,
            st.just(envelope),
            st.lists(st.builds(SystemBlock, texts, st.just("static")), max_size=2).map(tuple),
            st.lists(st.builds(ToolSpec, names, texts, json_objects), max_size=2).map(tuple),
        ),
        st.builds(SnipEntry, st.just(envelope), ids, texts, st.integers(0, 100)),
        st.builds(
            SpillEntry,
            st.just(envelope),
            st.lists(st.builds(SpillDecision, names, st.none() | texts), max_size=2).map(tuple),
        ),
        st.builds(ClearEntry, st.just(envelope), ids, texts, st.just("time"), st.integers(0, 9)),
        st.builds(CollapseEntry, st.just(envelope), names, names, texts),
        st.builds(NotesEntry, st.just(envelope), st.none() | names, st.integers(0, 9)),
        st.builds(MarkEntry, st.just(envelope), names, json_objects),
    ]
    return draw(st.one_of(choices))


@st.composite
def conversations(draw: st.DrawFn, max_rounds: int = 6) -> list[Entry]:
    """A session as it grows on disk: turns with and without tools, replies in several records, interruptions."""
    made: list[Entry] = []
    counter = 0

    def envelope(*, meta: bool = False) -> Envelope:
        nonlocal counter
        counter += 1
        stamp = f"2026-11-01T10:{counter // 60 % 60:02d}:{counter % 60:02d}.000Z"
        parent = None if not made else _uuid(made[-1])
        return Envelope(f"e{counter}", parent, "s1", stamp, is_meta=meta)

    for number in range(draw(st.integers(1, max_rounds))):
        text = draw(spoken)
        made.append(UserEntry(envelope(meta=draw(st.booleans()) and number > 0), Message(Role.USER, (Text(text),))))
        for round_number in range(draw(st.integers(1, 3))):
            calls = draw(st.integers(0, 3))
            reply = f"msg_{number}_{round_number}"
            parts: list[Block] = [Text(draw(spoken))]
            parts += [ToolUse(f"call_{number}_{round_number}_{one}", "Read", {"n": one}) for one in range(calls)]
            usage = draw(usages)
            made.extend(
                AssistantEntry(envelope(), Message(Role.ASSISTANT, (part,)), reply, usage=usage) for part in parts
            )
            answered = calls if draw(st.integers(0, 9)) else max(0, calls - 1)
            for one in range(answered):
                result = ToolResult(f"call_{number}_{round_number}_{one}", draw(texts))
                made.append(UserEntry(envelope(), Message(Role.USER, (result,))))
            if not calls:
                break
    return made


def _uuid(entry: Any) -> str:
    return str(entry.envelope.uuid)
