"""The data behind inspection commands as plain rows; the command line and the terminal only draw them.

`context_report` says what fills a window now (`window_history` what filled it at each request). Nothing here reads a
file, knows a colour or rounds for display.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from reverie.context.activity import subject
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
from reverie.messages.chain import is_headless
from reverie.messages.entries import Entry, envelope_of
from reverie.messages.view import Item, ItemKind, View, project
from reverie.models.profiles import NO_OVERRIDES, Profile, ProfileOverride, profile
from reverie.models.tokens.count import TokenCount, count, model_of
from reverie.models.tokens.estimate import weigh_block, weigh_text, weigh_tool
from reverie.models.tokens.rates import rates_for
from reverie.models.tokens.usage import bill, totals
from reverie.values import value

UNSEEN = "not in the file: system prompt, tools"
"""What the provider counted and the transcript does not show."""

LOST = "not in the file: earlier messages, system prompt"
"""The same for a file whose beginning is missing."""

BIGGEST = 10
"""How many single items are named."""


@value
class ContextPart:
    """One kind of content and its weight."""

    kind: str
    tokens: int


@value
class Big:
    """One of the heaviest single items."""

    label: str
    kind: str
    tokens: int
    message: str
    """The id of the entry it stands in."""


@value
class ContextReport:
    """What fills a window."""

    messages: int
    tool_calls: int
    tool_results: int
    tokens: int
    parts: tuple[ContextPart, ...]
    biggest: tuple[Big, ...]
    model: str | None
    counted: TokenCount


def context_report(
    entries: Sequence[Entry],
    *,
    model: str | None = None,
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> ContextReport:
    """Weigh a session as it would be sent next, to `model` or to the one that answered last."""
    view = project(entries)
    name = model or model_of(view) or ""
    facts = profile(name, overrides)
    counted = count(view, facts, entries=entries)
    parts, biggest = _weights(view, facts, counted.tokens, LOST if is_headless(entries) else UNSEEN)
    return ContextReport(
        messages=len(view.messages),
        tool_calls=sum(len(item.message.tool_uses) for item in view.items),
        tool_results=sum(len(item.message.tool_results) for item in view.items),
        tokens=counted.tokens,
        parts=parts,
        biggest=biggest,
        model=name or None,
        counted=counted,
    )


@value
class SubagentRow:
    """One sub-agent of a session."""

    id: str
    messages: int
    tokens: int
    cost_usd: float | None


def subagent_rows(
    session: str,
    transcripts: Iterable[tuple[str, Sequence[Entry]]],
    overrides: Mapping[str, ProfileOverride] = NO_OVERRIDES,
) -> tuple[SubagentRow, ...]:
    """The sub-agents of a session among these transcripts, by agent id; those of other sessions are passed over."""
    rows = []
    for agent, entries in transcripts:
        if not any(envelope.session == session for entry in entries if (envelope := envelope_of(entry)) is not None):
            continue
        report = context_report(entries, overrides=overrides)
        spent = bill(totals(entries, sidechains=True), overrides)
        rows.append(SubagentRow(agent, report.messages, report.tokens, spent))
    return tuple(rows)


def _weights(view: View, facts: Profile, total: int, unseen: str) -> tuple[tuple[ContextPart, ...], tuple[Big, ...]]:
    """The weight of each kind, which add up to the total, and the heaviest items."""
    rates = rates_for(facts)
    calls = {call.id: call for item in view.items for call in item.message.tool_uses}
    sums: Counter[str] = Counter()
    sums["system prompt"] = round(sum(weigh_text(block.text, rates) for block in view.system))
    sums["tools"] = round(sum(weigh_tool(tool, rates) for tool in view.tools))
    bigs: list[Big] = []
    for item in view.items:
        for block in item.message.content:
            tokens = round(weigh_block(block, rates))
            kind = _kind(block, item, calls)
            sums[kind] += tokens
            bigs.append(Big(_label(block, item, calls), kind, tokens, item.uuid))
    seen = sum(sums.values())
    if total > seen:
        sums["provider overhead" if view.system else unseen] = total - seen
    elif seen:
        sums = Counter({kind: round(tokens * total / seen) for kind, tokens in sums.items()})
    parts = tuple(ContextPart(kind, tokens) for kind, tokens in sums.most_common() if tokens > 0)
    bigs.sort(key=lambda big: -big.tokens)
    return parts, tuple(bigs[:BIGGEST])


def _kind(block: Block, item: Item, calls: Mapping[str, ToolUse]) -> str:
    match block:
        case ToolResult():
            call = calls.get(block.tool_use_id)
            return f"{call.name} results" if call else "tool results"
        case ToolUse():
            return "tool calls"
        case Thinking() | RedactedThinking():
            return "thinking"
        case Image() | DocumentBlock():
            return "images and documents"
        case CompactionBlock():
            return "summary"
        case Text() | Opaque():
            return _NAMES[item.kind] if item.kind is not ItemKind.ATTACHMENT else f"attachment: {item.label or 'other'}"


_NAMES = {
    ItemKind.TYPED: "your messages",
    ItemKind.META: "injected messages",
    ItemKind.RESULT: "injected messages",
    ItemKind.REPLY: "replies",
    ItemKind.SUMMARY: "summary",
    ItemKind.FOLD: "folded history",
    ItemKind.ATTACHMENT: "attachments",
}


def group_of(block: Block, item: Item) -> str:
    """The kind of content as a plot shows it: one of `GROUPS`."""
    match block:
        case ToolResult():
            return "tool results"
        case ToolUse():
            return "tool calls"
        case CompactionBlock():
            return "summaries"
        case Text() | Opaque():
            if item.label in _MEMORY_ATTACHMENTS:
                return "instructions and memories"
            return _GROUP_OF_ITEM[item.kind]
        case Image() | DocumentBlock():
            return "attachments"
        case _:
            return "replies"


GROUPS = (
    "system prompt and tools",
    UNSEEN,
    "instructions and memories",
    "summaries",
    "your messages",
    "replies",
    "tool calls",
    "tool results",
    "attachments",
)
"""Kinds of content in the order in which a request has them, more or less."""
_MEMORY_ATTACHMENTS = frozenset({"instructions", "nested_memory", "relevant_memories"})
_GROUP_OF_ITEM = {
    ItemKind.TYPED: "your messages",
    ItemKind.META: "attachments",
    ItemKind.RESULT: "attachments",
    ItemKind.REPLY: "replies",
    ItemKind.SUMMARY: "summaries",
    ItemKind.FOLD: "summaries",
    ItemKind.ATTACHMENT: "attachments",
}


def _label(block: Block, item: Item, calls: Mapping[str, ToolUse]) -> str:
    match block:
        case ToolResult():
            call = calls.get(block.tool_use_id)
            return f"{call.name} {subject(call)}".strip() if call else "a tool result"
        case ToolUse():
            return f"{block.name} call {subject(block)}".strip()
        case Text(text):
            return f"{_NAMES[item.kind]}: {' '.join(text.split())[:60]}"
        case _:
            return _kind(block, item, calls)
