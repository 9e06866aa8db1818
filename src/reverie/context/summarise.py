"""Ask for a summary, and never be left without one (spec 1 §11.1-2, §13).

The embedded summariser answers when the model fails, says nothing, says something that is no summary, or writes more
than it was to replace. A request that is itself too long is asked again with fewer rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie.context.prompt import fill, read_prompt
from reverie.context.stage import Scene
from reverie.errors import ContextTooLong
from reverie.messages.blocks import Block, Document, Image, Text, ToolResult
from reverie.messages.message import Message
from reverie.messages.rules import legal_cuts
from reverie.messages.view import Item, Kind
from reverie.ports import Ask, Flow, Reply
from reverie.settings import Compaction

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


@dataclass(frozen=True, slots=True)
class Written:
    """A summary and who wrote it."""

    text: str
    by: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be summarised, and how."""

    items: tuple[Item, ...]
    """What the summariser reads."""
    limit_tokens: int
    replaced_tokens: int
    """What the summary takes the place of; a longer one is none."""
    embedded: Callable[[], str]
    scope: str = ""
    instructions: str = ""
    peel_tail: bool = False
    """When the request is too long, leave out the newest rounds, which stay in view themselves, and not the oldest."""


def summarise(wanted: Wanted, scene: Scene, settings: Compaction) -> Flow[Written]:
    """Ask until there is a summary; the embedded one is the last word.

    The question stands behind the conversation exactly as it was sent, so that nearly all of it is read from the cache.
    """
    groups = by_round(wanted.items)
    for _ in range(settings.too_long_retries + 1):
        if not groups:
            break
        try:
            reply = yield _ask(wanted, [item for group in groups for item in group])
        except ContextTooLong as problem:
            groups = with_less(groups, problem.gap_tokens, scene, settings, tail=wanted.peel_tail)
            continue
        text = summary_of(reply)
        if text and scene.weigh_text(text) < wanted.replaced_tokens:
            return Written(text, reply.model)
        break
    return Written(wanted.embedded(), EMBEDDED)


def without_media(message: Message) -> Message:
    """The message with `[image]` and `[document]` in place of each."""
    content = tuple(map(_plain_block, message.content))
    return message if content == message.content else replace(message, content=content)


def by_round(items: Sequence[Item]) -> list[list[Item]]:
    """Whole rounds: a group ends where the history may be cut, before the next reply."""
    cuts = set(legal_cuts(items))
    groups: list[list[Item]] = []
    for number, item in enumerate(items):
        if not groups or (number in cuts and item.kind is Kind.REPLY and _has_reply(groups[-1])):
            groups.append([])
        groups[-1].append(item)
    return groups


def with_less(
    groups: list[list[Item]], gap_tokens: int | None, scene: Scene, settings: Compaction, *, tail: bool = False
) -> list[list[Item]]:
    """Without as many groups from one end as make up for the gap, or a fixed share when the gap is unknown."""
    if not gap_tokens:
        count = max(1, round(len(groups) * settings.too_long_drop_fraction))
    else:
        count = freed = 0
        for group in reversed(groups) if tail else groups:
            if freed >= gap_tokens:
                break
            freed += sum(map(scene.weigh, group))
            count += 1
    return groups[: len(groups) - count] if tail else groups[count:]


def summary_of(reply: Reply) -> str:
    """The summary in a reply without its analysis; empty when the reply is something else."""
    if reply.stop_reason == "refusal" or reply.message.tool_uses:
        return ""
    text = _ANALYSIS.sub("", reply.text)
    found = _SUMMARY.search(text)
    if found:
        return found[1].strip()
    text = text.strip()
    return text if sum(section in text for section in SECTIONS) >= _ENOUGH_SECTIONS else ""


def _ask(wanted: Wanted, items: Sequence[Item]) -> Ask:
    instructions = wanted.instructions.strip()
    prompt = fill(
        read_prompt("summary"),
        {
            "limit": f"{wanted.limit_tokens:,}",
            "scope": wanted.scope,
            "instructions": f"\nThe user asks for this in summaries:\n{instructions}" if instructions else "",
        },
    )
    return Ask(
        "summary",
        re.sub(r"\n{3,}", "\n\n", prompt).strip(),
        wanted.embedded,
        context=tuple(item.message for item in items),
        max_tokens=max(1, int(wanted.limit_tokens * _ROOM_FOR_ANALYSIS)),
        embedded_on_failure=True,
    )


def _plain_block(block: Block) -> Block:
    match block:
        case Image():
            return Text("[image]")
        case Document():
            return Text("[document]")
        case ToolResult(content=tuple() as parts):
            plain = tuple(
                Text("[image]" if isinstance(part, Image) else "[document]")
                if isinstance(part, Image | Document)
                else part
                for part in parts
            )
            return block if plain == parts else replace(block, content=plain)
        case _:
            return block


def _has_reply(group: Sequence[Item]) -> bool:
    return any(item.kind is Kind.REPLY for item in group)
