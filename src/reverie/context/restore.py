"""What returns after a compaction besides the must-survive list: plan, skills, files, instructions, and whatever the
caller brings (deferred tools, agent listing, MCP instructions, words of hooks).

Everything is an attachment with a limit, for every path of compaction alike. A file's text is asked of
the caller; without an answer it is what the conversation last showed of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from reverie.context.cut import Weigh, shorten_text
from reverie.context.facts.rounds import RoundAction, course_of
from reverie.context.facts.shell import file_uses
from reverie.context.facts.touched import edits_of, file_tool
from reverie.context.survive import is_instruction
from reverie.messages.blocks import JsonObject, nothing_more
from reverie.messages.reminder import escape_reminder_tags
from reverie.messages.view import Item
from reverie.settings import CompactionSettings
from reverie.values import value

FILE_FRACTION = 0.05
FILES_FRACTION = 0.05
FILES_FRACTION_MORE = 0.10
REFERENCE_EFFECTIVE_TOKENS = 180_000
SKILLS_FRACTION = 0.15
INSTRUCTIONS_FRACTION = 0.15
"""Shares of E that bind where the fixed budgets would fill a small window. The share of all files grows
with the window: `bench.fidelity` shows that in a small one a longer summary tells more than a second file."""


@value
class RestoredAttachment:
    """One attachment to come: its kind, what the model reads, and data for those who look it up."""

    kind: str
    text: str
    data: JsonObject = field(default_factory=nothing_more)
    is_required: bool = False
    """It returns however little room there is: without it the session would go on by other rules."""


@value
class InvokedSkill:
    """A skill that was invoked; the store of these outlives every compaction."""

    name: str
    text: str
    path: str = ""


@value
class RestoreContext:
    """What a compaction needs to know and cannot see in the transcript."""

    plan: str = ""
    """The plan in force; without one the newest that was put to the user counts."""
    skills: tuple[InvokedSkill, ...] = ()
    """All that were invoked, the most recent last."""
    returning: tuple[RestoredAttachment, ...] = ()
    """What the caller puts back after every compaction, rendered."""
    discovered_tools: tuple[str, ...] = ()
    """Deferred tools that had been loaded."""
    read_text: Callable[[str], str | None] | None = None
    """The present text of a file, or None when it is gone."""
    instructions: str = ""
    """What the project's files ask of a summary."""
    reloads_instructions: bool = False
    """Whether the caller reads the instruction files anew itself."""


NO_SURROUNDINGS = RestoreContext()


@dataclass(slots=True)
class _Seen:
    """A file as the conversation last showed it."""

    text: str = ""
    edits: list[str] = field(default_factory=list)
    order: int = 0


def collect_restored(
    items: Sequence[Item],
    around: RestoreContext,
    settings: CompactionSettings,
    *,
    effective_tokens: int,
    weigh: Weigh,
    beside: Collection[str] = (),
) -> list[RestoredAttachment]:
    """Everything that returns, the most important first. `beside` names files that stay in view anyway."""
    restored = list(around.returning)
    if around.plan:
        restored.append(
            RestoredAttachment("plan_file_reference", f"The plan in force:\n\n{around.plan}", is_required=True)
        )
    if not around.reloads_instructions:
        restored += _instructions(items, int(effective_tokens * INSTRUCTIONS_FRACTION), weigh)
    restored += _skills(around.skills, settings, effective_tokens, weigh)
    restored += _files(items, around, settings, effective_tokens, weigh, beside)
    return restored


def recent_files(items: Sequence[Item]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Files whose text was shown, the most recent first: path, text, and the new lines of later edits."""
    seen: dict[str, _Seen] = {}
    order = 0
    for round_ in course_of(items).rounds:
        for action in round_.actions:
            order += 1
            for path, text, edits in _find_file_texts(action):
                file = seen.setdefault(path, _Seen())
                file.order = order
                if text:
                    file.text, file.edits = text, []
                file.edits += edits
    newest = sorted(((one, path) for path, one in seen.items()), key=lambda pair: -pair[0].order)
    return [(path, one.text, tuple(one.edits)) for one, path in newest if one.text or one.edits]


def _find_file_texts(action: RoundAction) -> Iterable[tuple[str, str, list[str]]]:
    """What an action tells of the text of files."""
    if action.failed:
        return
    kind, path = file_tool(action)
    if kind == "read":
        yield path, action.result, []
    elif kind == "wrote":
        yield path, edits_of(action)[0][1], []
    elif kind == "edited":
        yield path, "", [new for _, new in edits_of(action) if new]
    elif not path and action.get_text("command"):
        uses = file_uses(action.get_text("command"))
        for use in uses:
            if use.kind == "wrote" and use.content:
                yield use.path, use.content, []
        # The output of one command about one file is that file's text, or a piece of it.
        if len(uses) == 1 and uses[0].kind == "read":
            yield uses[0].path, action.result, []


def _files(
    items: Sequence[Item],
    around: RestoreContext,
    settings: CompactionSettings,
    effective_tokens: int,
    weigh: Weigh,
    beside: Collection[str],
) -> Iterable[RestoredAttachment]:
    growth = FILES_FRACTION_MORE * min(1.0, effective_tokens / REFERENCE_EFFECTIVE_TOKENS)
    tokens_left = min(settings.restore_files_total_tokens, int(effective_tokens * (FILES_FRACTION + growth)))
    each = min(settings.restore_file_tokens, int(effective_tokens * FILE_FRACTION))
    chosen = [one for one in recent_files(items) if one[0] not in beside][: settings.restore_files]
    for path, text, edits in chosen:
        current = around.read_text(path) if around.read_text is not None else None
        body = escape_reminder_tags(current if current is not None else _format_last_seen(text, edits))
        shown = shorten_text(body, min(each, tokens_left), weigh, f"read {path} for the rest")
        weight = weigh(shown)
        if not body or weight > tokens_left:
            continue
        tokens_left -= weight
        title = f"{path}, as it is now:" if current is not None else f"{path}, as it was last seen here:"
        yield RestoredAttachment("file", f"{title}\n{shown}", {"filename": path})


def _format_last_seen(text: str, edits: Sequence[str]) -> str:
    if not edits:
        return text
    later = "\n".join(f"[edited after that; new lines:]\n{new}" for new in edits)
    return f"{later}\n[before these edits it read:]\n{text}" if text else later


def _skills(
    skills: Sequence[InvokedSkill], settings: CompactionSettings, effective_tokens: int, weigh: Weigh
) -> Iterable[RestoredAttachment]:
    """The most recent first; the start of each is kept, the oldest are left out."""
    tokens_left = min(settings.restore_skills_total_tokens, int(effective_tokens * SKILLS_FRACTION))
    for skill in reversed({skill.name: skill for skill in skills}.values()):
        most = min(settings.restore_skill_tokens, tokens_left)
        shown = shorten_text(skill.text, most, weigh, f"read {skill.path or 'the skill'} for the rest")
        weight = weigh(shown)
        if weight <= tokens_left:
            tokens_left -= weight
            text = f"The skill {skill.name} was invoked in this session. It says:\n\n{shown}"
            yield RestoredAttachment("invoked_skills", text, {"name": skill.name})


def _instructions(items: Sequence[Item], limit_tokens: int, weigh: Weigh) -> Iterable[RestoredAttachment]:
    """The instruction files that were loaded, each once, as they were shown."""
    tokens_left = limit_tokens
    for text, item in {item.message.text: item for item in items if is_instruction(item)}.items():
        weight = weigh(text)
        if weight <= tokens_left:
            tokens_left -= weight
            yield RestoredAttachment(item.label, text)
