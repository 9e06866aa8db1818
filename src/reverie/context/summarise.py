"""Ask for a summary, and never be left without one.

The embedded summariser answers when the model fails, says nothing, says something that is no summary, or writes more
than it was to replace. A request that is itself too long is asked again without its oldest rounds; the summary then
says what it was not made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from reverie.context.prompt import fill, read_prompt
from reverie.context.stage import StageContext
from reverie.errors import ContextTooLong
from reverie.messages.blocks import Block, DocumentBlock, Image, Text, ToolResult
from reverie.messages.message import Message, user
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, ItemKind
from reverie.models.ports import Ask, Flow, Reply
from reverie.settings import CompactionSettings
from reverie.values import value

EMBEDDED = "embedded"
"""Who wrote a summary that no model wrote."""

SECTIONS = (
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Files and Code Sections",
    "Errors and Fixes",
    "Problem Solving",
    "All User Messages",
    "Pending Tasks",
    "Current Work",
    "Optional Next Step",
)
_ENOUGH_SECTIONS = 3
"""A reply without tags still is a summary when it has so many of the headings; an apology or an error has none."""
_ANALYSIS = re.compile(r"<analysis>.*?(?:</analysis>|(?=<summary>))", re.DOTALL)
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)
_ROOM_FOR_ANALYSIS = 1.5
"""The answer holds the analysis too, which is not part of the summary's limit."""


@value
class WrittenSummary:
    """A summary and who wrote it."""

    text: str
    by: str
    unread: int = 0
    """How many of the oldest messages the writer did not see, because the request for the summary was too long."""


@value
class SummaryRequest:
    """What is to be summarised, and how."""

    items: tuple[Item, ...]
    """What the summariser reads."""
    limit_tokens: int
    replaced_tokens: int
    """What the summary takes the place of; a longer one is none."""
    embedded: Callable[[], str]
    scope: str = ""
    instructions: str = ""


def summarise(request: SummaryRequest, scene: StageContext, settings: CompactionSettings) -> Flow[WrittenSummary]:
    """Ask until there is a summary; the embedded one is the last word.

    The question stands behind the conversation exactly as it was sent, so that nearly all of it is read from the cache.
    """
    groups = by_round(request.items)
    for _ in range(settings.too_long_retries + 1):
        if not groups:
            break
        read = [item for group in groups for item in group]
        unread = len(request.items) - len(read)
        try:
            reply = yield _ask(request, read, unread)
        except ContextTooLong as problem:
            groups = with_less(groups, problem.gap_tokens, scene, settings)
            continue
        text = summary_of(reply)
        if text and scene.weigh_text(text) < request.replaced_tokens:
            return WrittenSummary(f"{_unread(unread)}\n\n{text}" if unread else text, reply.model, unread)
        break
    return by_structure(request)


def by_structure(request: SummaryRequest) -> WrittenSummary:
    """The summary that no model writes."""
    return WrittenSummary(request.embedded(), EMBEDDED)


def _unread(count: int) -> str:
    return f"[The {count:,} oldest messages did not fit into the request for this summary; it does not tell of them.]"


def without_media(message: Message) -> Message:
    """The message with `[image]` and `[document]` in place of each."""
    content = tuple(map(_plain_block, message.content))
    return message if content == message.content else replace(message, content=content)


def by_round(items: Sequence[Item]) -> list[list[Item]]:
    """Whole rounds: a group ends where the history may be cut, before the next reply."""
    cuts = set(legal_cuts(items))
    groups: list[list[Item]] = []
    for number, item in enumerate(items):
        if not groups or (number in cuts and item.kind is ItemKind.REPLY and _has_reply(groups[-1])):
            groups.append([])
        groups[-1].append(item)
    return groups


def with_less(
    groups: list[list[Item]], gap_tokens: int | None, scene: StageContext, settings: CompactionSettings
) -> list[list[Item]]:
    """Without as many of the oldest groups as make up for the gap, or a fixed share when the gap is unknown."""
    if not gap_tokens:
        return groups[max(1, round(len(groups) * settings.too_long_drop_fraction)) :]
    count = freed = 0
    for group in groups:
        if freed >= gap_tokens:
            break
        freed += sum(map(scene.weigh, group))
        count += 1
    return groups[count:]


def summary_of(reply: Reply) -> str:
    """The summary in a reply without its analysis; empty when the reply is something else."""
    if reply.stop_reason == "refusal" or reply.message.tool_uses:
        return ""
    text = _ANALYSIS.sub("", reply.text)
    match = _SUMMARY.search(text)
    if match:
        return match[1].strip()
    text = text.strip()
    return text if sum(section in text for section in SECTIONS) >= _ENOUGH_SECTIONS else ""


def _ask(request: SummaryRequest, items: Sequence[Item], unread: int) -> Ask:
    instructions = request.instructions.strip()
    prompt = fill(
        read_prompt("summary"),
        {
            "limit": f"{request.limit_tokens:,}",
            "scope": request.scope,
            "instructions": f"\nThe user asks for this in summaries:\n{instructions}" if instructions else "",
        },
    )
    return Ask(
        "summary",
        re.sub(r"\n{3,}", "\n\n", prompt).strip(),
        request.embedded,
        # A provider takes no conversation that begins with a reply, so a note stands for what was left out.
        context=(*((user(_unread(unread)),) if unread else ()), *(item.message for item in items)),
        max_tokens=int(request.limit_tokens * _ROOM_FOR_ANALYSIS),
        embedded_on_failure=True,
    )


def _plain_block(block: Block) -> Block:
    match block:
        case Image():
            return Text("[image]")
        case DocumentBlock():
            return Text("[document]")
        case ToolResult(content=tuple() as parts):
            plain = tuple(
                Text("[image]" if isinstance(part, Image) else "[document]")
                if isinstance(part, Image | DocumentBlock)
                else part
                for part in parts
            )
            return block if plain == parts else replace(block, content=plain)
        case _:
            return block


def _has_reply(group: Sequence[Item]) -> bool:
    return any(item.kind is ItemKind.REPLY for item in group)
