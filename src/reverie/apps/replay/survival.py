"""Checks which facts of a session are still in view after a compaction, and which are missing.

Reads messages and tool calls anew and looks at the text of the view. Neither the list that the compaction made nor its
receipt's word that something was kept counts as proof; only what the receipt itself calls left out is taken at its
word, because it names where that can be read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reverie.context.facts.outcomes import error_lines, last_line, outcome_of, output
from reverie.context.facts.rounds import RoundAction, course_of
from reverie.context.facts.shell import file_uses
from reverie.context.facts.stated import decisions
from reverie.context.facts.values import ActionOutcome
from reverie.context.receipt import Fate, ReceiptLine, Sort, receipts
from reverie.context.spans import chain, list_pinned, plain, spoken
from reverie.context.survive import is_instruction
from reverie.messages.blocks import Json
from reverie.messages.entries import Entry, UserEntry
from reverie.messages.listing import is_prompt
from reverie.messages.view import Item, View
from reverie.values import value

_PATHS = ("file_path", "notebook_path")
_SHORTEST_DECISION_CHARS = 12
_LABEL_CHARS = 60
_JOINED = frozenset("/-_.")
"""Letters that make a path before or behind another path a different one."""


@value
class Expected:
    """One thing that must be there."""

    sort: Sort
    text: str
    pointer: str = ""
    """The id of the message that said it."""

    def __str__(self) -> str:
        flat = " ".join(self.text.split())
        return f"{self.sort.value} {self.pointer}".strip() + f": {flat[:_LABEL_CHARS]}"


@value
class Survival:
    """What became of everything that must survive."""

    expected: int
    absent: tuple[Expected, ...]
    """What does not stand in the view."""
    lost: tuple[Expected, ...]
    """What of this the view does not list as left out either, with where it can be read."""


def lost(entries: Sequence[Entry], view: View) -> tuple[Expected, ...]:
    """What the conversation of a view holds and the view neither tells nor lists as left out."""
    return measure_survival(entries, view).lost


def measure_survival(entries: Sequence[Entry], view: View) -> Survival:
    """Look for everything that the conversation of a view holds in the view itself."""
    whole = chain(entries, view.leaf)
    view_text = _flat("\n".join(plain(item) for item in view.items))
    there = {item.uuid for item in view.items if item.uuid}
    written = receipts(whole)
    left_out = written[-1].of(Fate.PART, Fate.OUT) if written else ()
    expected = tuple(dict.fromkeys(collect_expected(whole)))
    absent = tuple(one for one in expected if not _stands(one, view_text, there))
    return Survival(
        len(expected), absent, tuple(one for one in absent if not any(_lists(line, one) for line in left_out))
    )


def collect_expected(whole: Sequence[Entry]) -> Iterable[Expected]:
    """Everything that must survive of a conversation, from its first entry on."""
    items = spoken(whole)
    by_id = {item.uuid: item for item in items}
    for entry in whole:
        if isinstance(entry, UserEntry) and is_prompt(entry):
            yield Expected(Sort.REQUEST, entry.message.text, entry.envelope.uuid)
            yield from _collect_decisions(entry)
    yield from (Expected(Sort.PIN, plain(by_id[uuid]), uuid) for uuid in list_pinned(whole) if uuid in by_id)
    yield from (Expected(Sort.INSTRUCTIONS, plain(item)) for item in items if is_instruction(item))
    yield from _done(items)


def _collect_decisions(entry: UserEntry) -> Iterable[Expected]:
    for quote in decisions(entry.message.text):
        if len(quote) >= _SHORTEST_DECISION_CHARS:
            yield Expected(Sort.DECISION, quote)


def _done(items: Sequence[Item]) -> Iterable[Expected]:
    tasks: list[dict[str, Json]] = []
    plan = ""
    for action in (action for one in course_of(items).rounds for action in one.actions):
        name = action.call.name
        if name == "TodoWrite":
            tasks = _tasks(action) or tasks
        elif name == "ExitPlanMode":
            plan = action.get_text("plan") or plan
        elif name == "Skill":
            yield Expected(Sort.SKILL, action.get_text("skill", "command", "name"))
        else:
            yield from _files_and_errors(action)
    for task in tasks:
        if task.get("status") != "completed":
            yield Expected(Sort.TASK, str(task.get("content") or task.get("subject") or ""))
    if plan:
        yield Expected(Sort.PLAN, plan)


def _files_and_errors(action: RoundAction) -> Iterable[Expected]:
    named = [action.get_text(*_PATHS), *(use.path for use in file_uses(action.get_text("command")))]
    yield from (Expected(Sort.FILE, path) for path in named if path)
    if outcome_of(action) is ActionOutcome.FAILED:
        shown = output(action)
        yield from (Expected(Sort.TROUBLE, line) for line in error_lines(shown) or last_line(shown))


def _tasks(action: RoundAction) -> list[dict[str, Json]]:
    todos = action.call.input.get("todos")
    return [one for one in todos if isinstance(one, dict)] if isinstance(todos, list) else []


def _stands(expected: Expected, view_text: str, there: set[str]) -> bool:
    if expected.pointer in there:
        return True
    probe = _flat(expected.text)
    at = view_text.find(probe)
    while expected.sort is Sort.FILE and at >= 0 and not _is_whole(view_text, at, at + len(probe)):
        at = view_text.find(probe, at + 1)
    return at >= 0


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or before in _JOINED) and not (after.isalnum() or after in {"/", "_"})


def _lists(line: ReceiptLine, expected: Expected) -> bool:
    if line.sort is not expected.sort:
        return False
    if expected.pointer:
        return line.pointer == expected.pointer
    flat = " ".join(expected.text.split())
    return line.label == flat or (line.label.endswith("…") and flat.startswith(line.label[:-1]))


def _flat(text: str) -> str:
    """Text as it is compared: quoting marks at the start of lines and all spacing apart."""
    return " ".join(word for line in text.splitlines() for word in line.lstrip("> ").split())
