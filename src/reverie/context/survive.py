"""One list of what must survive, for every way of reducing a history.

It is made before, from the whole transcript and never from an earlier summary; checked after, against the text of the
new view; and what is missing is brought back: word for word where the limits allow, else by beginning, end and pointer,
else by pointer. Each survivor ends up as a line of the receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from reverie.amounts import format_count
from reverie.context.cut import Weigh, head_and_tail
from reverie.context.facts import FactCollector, Facts, gather
from reverie.context.receipt import Fate, ReceiptLine, Sort
from reverie.context.spans import chain, list_pinned, plain, short_ids, spoken
from reverie.messages.entries import Entry
from reverie.messages.reminder import escape_reminder_tags
from reverie.messages.view import Item, ItemKind
from reverie.values import value

INSTRUCTION_KINDS = frozenset({"instructions", "nested_memory"})
"""Attachments that hold the project's instruction files."""

_LABEL_CHARS = 60
_PART_TOKENS = 160
"""What stays of a message that is shown in part; less in small windows."""
_LEAST_PART_TOKENS = 24
_TELLING_CHARS = 24
"""A shorter text may stand in a summary without being the message."""
_SPACE = re.compile(r"\s+")


REMEMBERED = 2
"""Conversations whose facts are kept between two compactions."""
_gathered: list[FactCollector] = []
_gathering = Lock()


@value
class Survivor:
    """One thing that must survive."""

    sort: Sort
    label: str
    text: str
    """What is put in when it is missing."""
    probe: str
    """What the new view must hold for it to count as kept."""
    pointer: str = ""


@value
class MustSurvive:
    """The list, with the conversation that it was taken from."""

    items: tuple[Item, ...]
    """Everything that was said, through all compactions."""
    facts: Facts
    survivors: tuple[Survivor, ...]
    short: Mapping[str, str]
    """The ids of the items as pointers show them."""
    rereads: bool = True
    """Whether the model can read messages again by these ids; else no text says so."""


@value
class SurvivalLimits:
    """How much may be brought back, in tokens."""

    user: int
    """Typed messages together, those already visible included."""
    pins: int
    facts: int
    """Plan, tasks, decisions, skills, errors, files."""
    listed: int
    """Of these the errors and files: the summary has told those that matter, and all can be read again by subject."""


@value
class Carried:
    """What is brought back, as text, and the account of every survivor."""

    text: str
    lines: tuple[ReceiptLine, ...]


@value
class _Told:
    """A survivor and how it is shown."""

    survivor: Survivor
    fate: Fate
    text: str = ""

    @property
    def line(self) -> ReceiptLine:
        return ReceiptLine(self.survivor.sort, self.fate, self.survivor.label, self.survivor.pointer)


def must_survive(
    entries: Sequence[Entry], leaf: str | None = None, skills: Iterable[str] = (), *, rereads: bool = True
) -> MustSurvive:
    """Make the list for the conversation that ends at a leaf; `skills` are those that were invoked besides."""
    whole = chain(entries, leaf)
    items = spoken(whole)
    facts = facts_of(items)
    by_id = {item.uuid: item for item in items}
    pins = [by_id[uuid] for uuid in list_pinned(whole) if uuid in by_id]
    return MustSurvive(items, facts, tuple(_survivors(facts, items, pins, skills)), short_ids(by_id), rereads)


def facts_of(items: tuple[Item, ...]) -> Facts:
    """The facts of a conversation. What is known of its beginning is remembered, so that only the rest is read."""
    if not _gathering.acquire(blocking=False):
        # Another conversation is being read in another thread; waiting for it may take longer.
        return gather(items)
    try:
        collector = next((one for one in _gathered if _begins(items, one.items)), None)
        if collector is None:
            collector = FactCollector()
        else:
            _gathered.remove(collector)
        _gathered.append(collector)
        del _gathered[:-REMEMBERED]
        return collector.extend(items[len(collector.items) :]).facts()
    except BaseException:
        # Whatever stopped it, half of an item may have been taken in.
        _gathered.clear()
        raise
    finally:
        _gathering.release()


def _begins(items: Sequence[Item], beginning: Sequence[Item]) -> bool:
    """Whether the items begin with those known; mostly their content is the same object, and need not be read."""
    return len(beginning) <= len(items) and all(
        one.uuid == other.uuid and (one.message.content is other.message.content or one.message == other.message)
        for one, other in zip(beginning, items, strict=False)
    )


def is_instruction(item: Item) -> bool:
    """Whether an item is an instruction file of the project."""
    return item.kind is ItemKind.ATTACHMENT and item.label in INSTRUCTION_KINDS


def divide(must: MustSurvive, items: Sequence[Item]) -> tuple[list[Survivor], list[Survivor]]:
    """Those that a view holds and those that it lacks.

    A message counts as there when it is itself among the items, or when its text is, to the letter; a text of a few
    words must stand beside its id, because it would be found by accident.
    """
    ids = {item.uuid for item in items if item.uuid}
    visible = "\n".join(map(plain, items))
    flat = _flat(visible)
    present: list[Survivor] = []
    missing: list[Survivor] = []
    for survivor in must.survivors:
        if survivor.sort not in (Sort.REQUEST, Sort.PIN):
            is_there = _holds(flat, _flat(survivor.probe))
        elif len(survivor.probe) < _TELLING_CHARS:
            is_there = f"[{must.short.get(survivor.pointer, survivor.pointer)}] {survivor.probe}" in visible
        else:
            is_there = survivor.probe in visible
        (present if is_there or (survivor.pointer in ids) else missing).append(survivor)
    return present, missing


def bring_back(must: MustSurvive, items: Sequence[Item], limits: SurvivalLimits, weigh: Weigh) -> Carried:
    """Check the list against the items of a view and write what they lack."""
    present, missing = divide(must, items)
    accounts = [_Told(one, Fate.KEPT) for one in present]
    spent = sum(weigh(one.text) for one in present if one.sort is Sort.REQUEST)
    requests = [one for one in missing if one.sort is Sort.REQUEST]
    words = _verbatim(requests, max(0, limits.user - spent), weigh, must, current=_current(must))
    # A pinned message that the user typed is there already.
    there = {one.survivor.pointer for one in words if one.fate is Fate.BACK}
    pins = [one for one in missing if one.sort is Sort.PIN and one.pointer not in there]
    accounts += words + [_Told(one, Fate.BACK) for one in missing if one.sort is Sort.PIN and one.pointer in there]
    pinned = _verbatim(pins, limits.pins, weigh, must, current="")
    others = [one for one in missing if one.sort not in (Sort.REQUEST, Sort.PIN)]
    # A decision stands in the message in which the user stated it.
    quoted = _flat(_render_sections(words, pinned, [], must))
    stated = [one for one in others if _holds(quoted, _flat(one.probe))]
    rest = _list_survivors([one for one in others if one not in stated], limits, weigh)
    accounts += [*pinned, *(_Told(one, Fate.BACK) for one in stated), *rest]
    return Carried(_render_sections(words, pinned, rest, must), tuple(one.line for one in accounts))


def _survivors(facts: Facts, items: Sequence[Item], pins: Sequence[Item], skills: Iterable[str]) -> Iterable[Survivor]:
    for request in facts.requests:
        yield Survivor(Sort.REQUEST, _label(request.text), request.text, request.text, request.uuid)
    for item in pins:
        text = plain(item)
        yield Survivor(Sort.PIN, _label(text), text, text, item.uuid)
    if facts.plan:
        yield Survivor(Sort.PLAN, _label(facts.plan), facts.plan, facts.plan)
    for todo in facts.open_todos:
        yield Survivor(Sort.TASK, _label(todo.text), f"[{todo.status}] {todo.text}", todo.text)
    for decision in facts.decisions:
        yield Survivor(Sort.DECISION, _label(decision.quote), decision.quote, decision.quote, decision.uuid)
    for trouble in sorted(facts.troubles, key=lambda one: (one.resolved, -one.round)):
        then = f" → {trouble.followed}" if trouble.followed else ""
        state = " (fine later)" if trouble.resolved else ""
        trouble_text = (
            f"{trouble.line} (in {trouble.where}){then}{state}" if trouble.where else f"{trouble.line}{then}{state}"
        )
        yield Survivor(
            Sort.TROUBLE, _label(trouble.line), escape_reminder_tags(trouble_text), trouble.line, trouble.where
        )
    for file in sorted(facts.files, key=lambda one: (not one.is_changed, -one.last)):
        done = ", ".join(name if times == 1 else f"{name} {times} times" for name, times in file.operations)
        yield Survivor(Sort.FILE, _label(file.path), f"{file.path}: {done}", file.path, file.path)
    for skill in dict.fromkeys([*facts.skills, *skills]):
        yield Survivor(Sort.SKILL, _label(skill), skill, skill, skill)
    for item in {plain(item): item for item in items if is_instruction(item)}.values():
        text = plain(item)
        yield Survivor(Sort.INSTRUCTIONS, _label(text), f"instructions [{item.uuid}]", text, item.uuid)


def _current(must: MustSurvive) -> str:
    request = must.facts.current_request
    return request.uuid if request else ""


def _verbatim(
    survivors: Sequence[Survivor], limit_tokens: int, weigh: Weigh, must: MustSurvive, *, current: str
) -> list[_Told]:
    """Texts word for word within the limit; beyond it the longest in part, the older of two first, then the oldest
    only by pointer. The current request gives way last.
    """
    shown = [_Told(one, Fate.BACK, one.text) for one in survivors]
    weights = [weigh(one.text) for one in shown]
    total = sum(weights)
    part_tokens = max(_LEAST_PART_TOKENS, min(_PART_TOKENS, limit_tokens // 8))

    def last(number: int) -> bool:
        return shown[number].survivor.pointer == current

    for number in sorted(range(len(shown)), key=lambda n: (last(n), -weights[n], n)):
        if total <= limit_tokens or weights[number] <= part_tokens:
            continue
        survivor = shown[number].survivor
        whole = f"the whole message is [{must.short.get(survivor.pointer, survivor.pointer)}]"
        pointer = whole if must.rereads else "the middle is left out"
        # The current request is what the work goes on with: it keeps all that the others leave.
        most = max(part_tokens, limit_tokens - total + weights[number]) if last(number) else part_tokens
        part = head_and_tail(survivor.text, most, weigh, pointer)
        total += weigh(part) - weights[number]
        weights[number] = weigh(part)
        shown[number] = _Told(survivor, Fate.PART, part)
    for number in sorted(range(len(shown)), key=lambda n: (last(n), n)):
        if total <= limit_tokens:
            break
        total -= weights[number]
        shown[number] = _Told(shown[number].survivor, Fate.OUT)
    return shown


def _list_survivors(survivors: Sequence[Survivor], limits: SurvivalLimits, weigh: Weigh) -> list[_Told]:
    """One line each while the limits last; a long text gives way to shorter ones after it."""
    accounts: list[_Told] = []
    tokens_left, left_for_lists = limits.facts, limits.listed
    for survivor in survivors:
        weight = weigh(survivor.text)
        is_list = survivor.sort in (Sort.TROUBLE, Sort.FILE)
        if survivor.sort is Sort.INSTRUCTIONS or weight > (
            min(tokens_left, left_for_lists) if is_list else tokens_left
        ):
            accounts.append(_Told(survivor, Fate.OUT))
            continue
        tokens_left -= weight
        left_for_lists -= weight if is_list else 0
        accounts.append(_Told(survivor, Fate.BACK, survivor.text))
    return accounts


_TITLES = {
    Sort.PLAN: "Plan",
    Sort.TASK: "Open tasks",
    Sort.DECISION: "Decisions of the user",
    Sort.TROUBLE: "Errors and what followed",
    Sort.FILE: "Files",
    Sort.SKILL: "Skills that were used",
}


def _render_sections(words: list[_Told], pins: list[_Told], rest: list[_Told], must: MustSurvive) -> str:
    sections = [
        _quote_messages("What the user wrote, word for word and in order", words, must),
        _quote_messages("Pinned", pins, must),
    ]
    for sort, title in _TITLES.items():
        rows = [one.text for one in rest if one.survivor.sort is sort and one.fate is Fate.BACK]
        if sort is Sort.PLAN:
            sections.append("\n".join([f"# {title}", *rows]) if rows else "")
        elif rows:
            sections.append("\n".join([f"# {title}", *(f"- {row}" for row in rows)]))
    return "\n\n".join(filter(None, sections))


def _quote_messages(title: str, accounts: list[_Told], must: MustSurvive) -> str:
    """Messages with their ids; a run of those left out becomes one line."""
    if not accounts:
        return ""
    rows = [f"# {title}"]
    run: list[str] = []

    def close() -> None:
        if run:
            again = f", from [{run[0]}] to [{run[-1]}], can be read again by id"
            rows.append(f"[{format_count(len(run), 'message')}{again if must.rereads else ' left out here'}]")
            run.clear()

    for account in accounts:
        name = must.short.get(account.survivor.pointer, account.survivor.pointer)
        if account.fate is Fate.OUT:
            run.append(name)
            continue
        close()
        rows.append(f"[{name}] {account.text}")
    close()
    return "\n".join(rows)


def _holds(text: str, probe: str) -> bool:
    """Whether a text holds the probe as words of its own: `a.py` is not in `data.py`, nor in `lib/a.py`."""
    at = text.find(probe)
    while probe and at >= 0:
        before, after = text[at - 1 : at], text[at + len(probe) : at + len(probe) + 1]
        if not (before.isalnum() or before in {"/", "-", "_", "."}) and not (after.isalnum() or after in {"/", "_"}):
            return True
        at = text.find(probe, at + 1)
    return not probe


def _label(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= _LABEL_CHARS else flat[: _LABEL_CHARS - 1] + "…"


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
