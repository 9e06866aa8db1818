"""The chapters of the demonstration. Every figure and every word in quotes comes from what the program just did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import count, islice
from pathlib import Path

from reverie.amounts import dollars, format_count, short_count
from reverie.apps.demo.compare import StrategyResult, compare_strategies, count_conversation_tokens
from reverie.apps.demo.home import (
    LAST_DAY,
    LONG_WINDOW,
    MODEL,
    REQUEST,
    Asked,
    DayReport,
    DemoHome,
)
from reverie.apps.demo.page import Page, cut
from reverie.apps.demo.project import BANKS
from reverie.apps.replay.survival import Expected
from reverie.context.receipt import Sort
from reverie.hosts.catalogue import read_any_entries
from reverie.memory.dream.dreams import Dreamt
from reverie.memory.dream.hunks import diff_of
from reverie.memory.dream.proposal import DreamStep, StepKind
from reverie.memory.extraction.learn import Learned
from reverie.memory.memory import Memory
from reverie.memory.topics.topic import MemoryType, Topic, parse_topic
from reverie.messages.entries import BoundaryEntry
from reverie.models.ledger import read_bookings, total
from reverie.settings import load

PARAPHRASE = "which monitoring page shows latency?"
"""Says in other words what one of the memories is about."""
_KINDS = {
    Sort.REQUEST: ("said", "said"),
    Sort.DECISION: ("decision", "decisions"),
    Sort.FILE: ("file", "files"),
    Sort.TROUBLE: ("error", "errors"),
}
_PROHIBITIONS = ("Never", "Don't", "Do not")
_DIFF_LINE = re.compile(r"[+-]\s*\w")
_FRONT_MATTER = re.compile(r"[+-]\s*(?!broken)[a-z_]+:")


def tell_weeks(home: DemoHome, page: Page) -> list[DayReport]:
    """Play the three weeks, and tell of each."""
    page.head("Three weeks of a small team")
    page.say(
        "Ledgerbird reads bank statements; Mira works on it with an agent. Sessions, tools, memory and window are "
        "those of the program. Only the model is simulated: it says what the script of a session has it say."
    )
    page.blank()
    reports: list[DayReport] = []
    banks = count(1)
    with page.working("the first Monday") as tell:
        for day in range(LAST_DAY + 1):
            tell(f"{home.clock.at(day, 8):%A, %d %B}")
            reports.append(home.play_day(day, lambda: tell(f"a long day: {next(banks)} of {len(BANKS)} banks")))
            if day < LAST_DAY:
                home.play_night(day)
    page.rows([_count_week(reports[start : start + 5], home) for start in range(0, LAST_DAY, 7)], right=(2, 3, 4, 5))
    return reports


def _count_week(days: Sequence[DayReport], home: DemoHome) -> tuple[str, ...]:
    learned = sum((day.learned for day in days), Learned())
    return (
        f"week {days[0].day // 7 + 1}",
        f"{home.clock.at(days[0].day, 8):%d %B}",
        format_count(sum(len(day.sessions) for day in days), "session"),
        f"{len(learned.saved)} learnt",
        f"{len(learned.updated)} brought up to date",
        f"{len(learned.refused)} refused",
    )


def tell_memories(home: DemoHome, reports: Sequence[DayReport], page: Page) -> None:
    """What was remembered, what was refused and why, and what nobody meant to be kept."""
    page.head("What was remembered, and what was not")
    with home.open_memory() as memory:
        topics = list(memory.topics())
        page.line("remembered, for example", "bold")
        rows = [(topic.type.value, topic.name) for topic in _one_of_each(topics) if topic.type is not None]
        page.rows(rows, first="green")
        page.blank()
        page.line("refused", "bold")
        for refusal in {each.rules[0]: each for each in memory.refusals()}.values():
            page.line(f"“{refusal.quote}”")
            page.line(refusal.rules[0], "yellow", indent=4)
        page.blank()
        page.line("left alone", "bold")
        page.rows(_find_left_alone(home, memory), first="yellow")
    updated = [topic for day in reports for topic in day.learned.updated]
    for topic in updated:
        page.blank()
        page.say(f"A rule that changed was changed, not added: “{topic.name}”.")


def _one_of_each(topics: Sequence[Topic]) -> list[Topic]:
    """One memory of each type, of feedback two; the oldest, and with a reason where there is one."""
    chosen: list[Topic] = []
    for kind in MemoryType:
        found = sorted(
            (topic for topic in topics if topic.type is kind and topic.sources),
            key=lambda topic: ("**Why:**" not in topic.body, topic.observed is None, str(topic.observed)),
        )
        chosen += islice(found, 2 if kind is MemoryType.feedback else 1)
    return chosen


def _find_left_alone(home: DemoHome, memory: Memory) -> list[tuple[str, str]]:
    """Words of the story that look like rules and are none; each is looked for in the memory."""
    once = "Commit this, and for now leave the rejects alone."
    in_file = (home.project / "deploy" / "README.md").read_text(encoding="utf-8").splitlines()[-1]
    texts = [f"{topic.description}\n{topic.body}" for topic in memory.topics()]
    rows = []
    for why, words, telling in (("an order for once", once, "leave the rejects"), ("words of a file", in_file, "curl")):
        kept = any(telling in text for text in texts)
        rows.append((f"{why}{', kept' if kept else ''}", f"“{words}”"))
    return rows


def tell_difference(before: Asked, after: Asked, page: Page) -> None:
    """The same request before anything was learnt, and three weeks later."""
    page.head("The same request, before and after")
    page.say(
        "The simulated model has one rule here: it mocks the database in a test, unless the request tells it not to. "
        "It reads nothing but the request."
    )
    page.blank()
    page.line(f"> {REQUEST}", "cyan")
    for when, asked in (("first day", before), ("three weeks later", after)):
        page.blank()
        recalled = f"recalled: {asked.recalled[0]}" if asked.recalled else "nothing recalled"
        page.line(f"{when}, {recalled}", "bold")
        for line in asked.written.splitlines():
            if "mock" in line or "connect()" in line:
                page.line(line, indent=4)


def tell_dream(dreamt: Dreamt, page: Page) -> None:
    """What a dream changed, as a diff, and what it leaves to people."""
    page.head("A dream: the memory is put in order at night")
    page.say(
        f"By rules, without a model: {dreamt.merged} merged, {dreamt.retired} archived, {dreamt.changed} changed; one "
        "commit, and `reverie undo` takes it back."
    )
    for step in dreamt.steps:
        page.blank()
        page.say(describe_step(step), "bold")
        for path, text in step.after.items():
            if text is not None and text == step.before[path]:
                page.line(parse_topic(path, text).body, indent=4)
        for line in diff_of([step]).splitlines():
            if _DIFF_LINE.match(line) and not _FRONT_MATTER.match(line):
                page.line(f"{line[0]} {line[1:]}", "green" if line[0] == "+" else "red", indent=2)
    for each in dreamt.contradictions:
        page.blank()
        page.say(f"left for you to decide: “{each.says[0]}” or “{each.says[1]}”", "bold")
        page.line(each.reason, indent=4)


def describe_step(step: DreamStep) -> str:
    """What a step does, with the names of the memories instead of their files."""
    topics = {path: parse_topic(path, text) for path, text in step.before.items() if text is not None}
    gone = " and ".join(f"“{topics[path].name}”" for path in step.archived)
    kept = " and ".join(f"“{topics[path].name}”" for path in step.written if path in topics)
    match step.kind:
        case StepKind.merge:
            return f"merged: {gone} says the same as {kept}"
        case StepKind.retire if kept:
            newest = max(str(topics[path].observed) for path in step.written)
            return f"contradiction resolved: {kept}, of {newest}, takes the place of {gone}"
        case StepKind.retire:
            return f"retired: {gone} held until {', '.join(str(topics[path].expires) for path in step.archived)}"
        case _:
            return f"changed: {kept}; {step.reason.rpartition(': ')[2]}"


def tell_long_session(home: DemoHome, transcript: Path, page: Page) -> list[StrategyResult]:
    """The long day under several strategies: what each costs and has forgotten."""
    tokens = count_conversation_tokens(transcript, MODEL)
    page.head(f"One long day: {tokens:,} tokens through a window of {LONG_WINDOW:,}")
    entries = read_any_entries(transcript)
    compactions = sum(isinstance(entry, BoundaryEntry) for entry in entries)
    page.say(
        f"{len(BANKS)} modules are read, changed and checked; the session is compacted {compactions} times. What is "
        "left at its end of what the user said and decided, of the files it touched and the errors it saw? The same "
        "recording, window, prices and questions for everybody; no model writes a summary."
    )
    page.blank()
    with page.working("the same day again") as tell:
        results = compare_strategies(
            transcript,
            MODEL,
            home.configuration.settings,
            LONG_WINDOW,
            lambda name: tell(f"the same day again: {name}"),
        )
    expected = results[0].survival.expected
    rows = [("", "cost", "forgot", f"of {expected}")]
    rows += [
        (each.name, dollars(each.cost_usd), str(len(each.survival.lost)), _count_kinds(each.survival.lost))
        for each in results
    ]
    page.rows(rows, right=(1, 2))
    page.blank()
    for each in results:
        if each.survival.lost:
            page.line(f"{each.name} forgot “{_choose_example(each.survival.lost).text}”", "dim")
    listed = len(results[0].survival.absent) - len(results[0].survival.lost)
    if listed:
        page.line(f"Reverie left out {format_count(listed, 'thing')} and says where to read it", "dim")
    return results


def _choose_example(lost: Sequence[Expected]) -> Expected:
    """What hurts most to forget: a prohibition, else a decision, else whatever comes first."""
    decisions = [each for each in lost if each.sort is Sort.DECISION]
    return next((each for each in decisions if each.text.startswith(_PROHIBITIONS)), (*decisions, *lost)[0])


def _count_kinds(lost: Sequence[Expected]) -> str:
    """Of which kinds the forgotten things are."""
    counted = Counter(each.sort for each in lost)
    return ", ".join(format_count(counted[sort], *nouns) for sort, nouns in _KINDS.items() if counted[sort])


def tell_cost(home: DemoHome, results: Sequence[StrategyResult], page: Page) -> None:
    """What the cache is worth, and what three weeks cost."""
    page.head("What it costs")
    ours = results[0]
    rows = [
        (
            "that day, the prompt cache kept",
            dollars(ours.cost_usd),
            f"{ours.cached_share:.0%} of the input was read from it",
        ),
        (
            "the same requests without it",
            dollars(ours.uncached_usd),
            f"{short_count(ours.input_tokens)} tokens at full price",
        ),
    ]
    bill = total(read_bookings(load.places(home.configuration).ledger))
    rows.append(("all three weeks", dollars(bill.cost_usd), format_count(bill.calls, "request")))
    page.rows(rows, right=(1,), first="")
    page.blank()
    page.say(f"List prices of {MODEL}; tokens counted and cached as the provider does it, by the simulator.", "dim")


def tell_meaning(home: DemoHome, by_words: Sequence[str], page: Page) -> None:
    """A request in other words than its memory, by words and with vectors."""
    page.head("With vectors: recall by meaning, on this machine")
    page.line(f"> {PARAPHRASE}", "cyan")
    rows = [("by words", cut(", ".join(by_words) or "nothing", 200))]
    rows.append(("with vectors", ", ".join(recall_names(home)) or "nothing"))
    page.rows(rows)


def recall_names(home: DemoHome) -> list[str]:
    """The best memory for the paraphrase."""
    with home.open_memory() as memory:
        return [hit.topic.name for hit in memory.recall(PARAPHRASE, limit=1)]
