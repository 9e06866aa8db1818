"""Gather the facts of a run of items, and join the facts of two runs.

Pure and deterministic. Gathering anew from the whole transcript is better than merging, and merging is better than
summarising a summary (critique 41).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from reverie.context.facts.outcomes import cut, error_lines, last_line, outcome_of, output, telling_lines
from reverie.context.facts.outline import is_bare_punctuation, lines_of
from reverie.context.facts.rounds import SHELL, Action, Course, Round, course_of
from reverie.context.facts.shell import covers, file_uses
from reverie.context.facts.stated import SHORT_ANSWER_CHARS, decisions, question, sentences, statements, typed_part
from reverie.context.facts.terms import terms, terms_of_line
from reverie.context.facts.touched import Files, file_tool, merged_ranges
from reverie.context.facts.values import (
    Command,
    Decision,
    Deed,
    Delegation,
    Evidence,
    Facts,
    Lookup,
    Outcome,
    Request,
    Statement,
    Step,
    Symbol,
    Term,
    Todo,
    Touched,
    Trouble,
)
from reverie.context.said import action as in_words
from reverie.context.said import subject
from reverie.messages.blocks import Json, ToolUse
from reverie.messages.view import Item

_SHELLS = frozenset({SHELL, "PowerShell", "bash", "shell"})
_AGENTS = frozenset({"Task", "Agent"})
_SILENT = frozenset({"TodoWrite", "ExitPlanMode", "Skill"})
"""Tools whose input is the fact; what they answer says nothing."""
LOOKUP_LINES = 6
EVIDENCE_PER_TERM = 2
OFTEN_SEEN = 2
SHORT_DECISION_BYTES = 12
"""A shorter sentence says something only as the answer to a question."""
SHORTEST_EVIDENCE_CHARS = 6
LONGEST_EVIDENCE_CHARS = 240
LONGEST_COMMAND_CHARS = 400

Row: TypeAlias = tuple[int | None, str]
"""A line of a result with its number, where the print has one."""


def gather(items: Sequence[Item]) -> Facts:
    """Everything that happened in these items."""
    course = course_of(items)
    gathering = _Gathering(course)
    for one in course.rounds:
        gathering.take(one)
    return replace(gathering.facts(), ids=tuple(item.uuid for item in items))


def merge(older: Facts, newer: Facts) -> Facts:
    """The facts of two runs of which one follows the other."""
    shift = older.rounds
    moved = _later(newer, shift)
    known = {request.uuid for request in older.requests}
    return Facts(
        requests=older.requests + tuple(one for one in moved.requests if one.uuid not in known),
        files=_merge_files(older.files, moved.files),
        commands=_merge_commands(older.commands, moved.commands),
        lookups=older.lookups + moved.lookups,
        troubles=older.troubles + moved.troubles,
        decisions=older.decisions + tuple(one for one in moved.decisions if one.uuid not in known),
        todos=newer.todos or older.todos,
        plan=newer.plan or older.plan,
        skills=tuple(dict.fromkeys(older.skills + newer.skills)),
        delegations=older.delegations + moved.delegations,
        statements=older.statements + moved.statements,
        evidence=older.evidence + moved.evidence,
        steps=older.steps + moved.steps,
        earlier=older.earlier + newer.earlier,
        terms=_merge_terms(older.terms, moved.terms),
        rounds=older.rounds + newer.rounds,
        ids=tuple(dict.fromkeys(older.ids + newer.ids)),
    )


class _Gathering:
    """The facts in the making."""

    def __init__(self, course: Course) -> None:
        self._course = course
        self._files = Files()
        self._commands: dict[str, Command] = {}
        self._lookups: dict[tuple[str, str], Lookup] = {}
        self._troubles: dict[tuple[str, str], Trouble] = {}
        self._fine: list[tuple[int, str]] = []
        self._todos: tuple[Todo, ...] = ()
        self._plan = ""
        self._skills: dict[str, None] = {}
        self._delegations: list[Delegation] = []
        self._sources: list[tuple[int, str, list[Row]]] = []
        self._used: dict[int, set[str]] = {}
        self._seen: dict[int, set[str]] = {}

    def take(self, one: Round) -> None:
        """Note what a round did."""
        used = self._used.setdefault(one.number, set())
        used |= terms(one.said)
        for action in one.actions:
            for value in action.call.input.values():
                used |= terms(value if isinstance(value, str) else str(value))
            shown = output(action)
            rows = list(lines_of(shown))
            self._seen.setdefault(one.number, set()).update(*(_terms_of(row) for _, row in rows))
            self._take_action(action, one, shown, rows)

    def facts(self) -> Facts:
        """What was gathered."""
        course = self._course
        steps = tuple(_step(one) for one in course.rounds)
        requests = tuple(
            Request(item.uuid, item.message.text, number, question(course.rounds[number - 1].said) if number else "")
            for item, number in course.typed
        )
        for request in requests:
            self._used.setdefault(request.round, set()).update(terms(request.text))
        known = self._terms()
        return Facts(
            requests=requests,
            files=self._files.values(),
            commands=tuple(sorted(self._commands.values(), key=lambda one: one.last)),
            lookups=tuple(sorted(self._lookups.values(), key=lambda one: one.last)),
            troubles=tuple(self._followed(one, steps) for one in self._troubles.values()),
            decisions=tuple(_decisions(requests)),
            todos=self._todos,
            plan=self._plan,
            skills=tuple(self._skills),
            delegations=tuple(self._delegations),
            statements=tuple(Statement(text, one.number) for one in course.rounds for text in statements(one.said)),
            evidence=tuple(_evidence(self._sources, known)),
            steps=steps,
            earlier=tuple(course.summaries),
            terms=known,
            rounds=len(course.rounds),
        )

    def _take_action(self, action: Action, one: Round, shown: str, rows: list[Row]) -> None:
        name, outcome = action.call.name, outcome_of(action)
        path = self._files.take(action, one.number)
        kind, _ = file_tool(action)
        where = path or action.given("command") or subject(action.call) or name
        if name == "TodoWrite":
            self._todos = _todos(action.call.input.get("todos")) or self._todos
        elif name == "ExitPlanMode":
            self._plan = action.given("plan") or self._plan
        elif name == "Skill":
            self._skills[action.given("skill", "command", "name")] = None
        elif name in _AGENTS:
            self._delegations.append(_delegation(action, one.number))
        elif name in _SHELLS:
            self._take_command(action, one.number, outcome, shown)
        elif not kind:
            self._take_lookup(action, one.number, outcome, shown)
        if name not in _SILENT:
            self._take_trouble(shown, _short(where), one.number, outcome)
            self._sources.append((one.number, _short(where), rows))

    def _take_command(self, action: Action, number: int, outcome: Outcome, shown: str) -> None:
        text = action.given("command").strip()
        times = self._commands[text].times + 1 if text in self._commands else 1
        telling = telling_lines(shown) if action.answered else ()
        self._commands[text] = Command(text, outcome, telling, times, number, action.given("description"))

    def _take_lookup(self, action: Action, number: int, outcome: Outcome, shown: str) -> None:
        about = subject(action.call, 200)
        rows = [cut(row) for row in shown.split("\n") if row.strip()]
        lookup = Lookup(
            action.call.name, about, tuple(rows[:LOOKUP_LINES]), max(0, len(rows) - LOOKUP_LINES), number, outcome
        )
        self._lookups[(action.call.name, about)] = lookup

    def _take_trouble(self, shown: str, where: str, number: int, outcome: Outcome) -> None:
        if outcome is not Outcome.FAILED:
            self._fine.append((number, where))
            return
        found = error_lines(shown) or last_line(shown)
        for line in found:
            known = self._troubles.pop((line, where), None)
            self._troubles[(line, where)] = Trouble(line, where, number, times=known.times + 1 if known else 1)

    def _followed(self, trouble: Trouble, steps: Sequence[Step]) -> Trouble:
        after = [step for step in steps[trouble.round + 1 : trouble.round + 3] if step.deeds or step.said]
        return replace(
            trouble,
            followed=_in_one(after[0]) if after else "",
            resolved=any(
                number > trouble.round and (where == trouble.where or covers(where, trouble.where))
                for number, where in self._fine
            ),
        )

    def _terms(self) -> dict[str, Term]:
        counted: dict[str, list[int]] = {}
        for number in sorted(self._used.keys() | self._seen.keys()):
            used = self._used.get(number, set())
            for name in sorted(used):
                one = counted.setdefault(name, [0, 0, -1, -1])
                one[0] += 1
                one[2] = number
            for name in sorted(self._seen.get(number, set()) - used):
                one = counted.setdefault(name, [0, 0, -1, -1])
                one[1] += 1
                one[3] = number
        return {name: Term(*one) for name, one in counted.items()}


def _decisions(requests: Sequence[Request]) -> Iterable[Decision]:
    for request in requests:
        stated = decisions(request.text)
        answer = typed_part(request.text)
        if not stated and request.after and 0 < len(answer) <= SHORT_ANSWER_CHARS:
            stated = (" ".join(answer.split()),)
        for quote in stated:
            if len(quote.encode("utf-8", "replace")) < SHORT_DECISION_BYTES and not request.after:
                continue
            yield Decision(quote, request.uuid, request.round, request.after)


def _evidence(sources: Sequence[tuple[int, str, list[Row]]], known: dict[str, Term]) -> Iterable[Evidence]:
    """Lines of results with terms that were written then or later, or that tools show again and again.

    The newest lines are looked at first, and each term is shown a few times at most.
    """
    shown: dict[str, int] = {}
    found: list[Evidence] = []
    for number, where, rows in reversed(sources):
        for at, row in rows:
            line = row.strip()
            if not SHORTEST_EVIDENCE_CHARS <= len(line) <= LONGEST_EVIDENCE_CHARS or is_bare_punctuation(line):
                continue
            wanted = [
                name
                for name in terms_of_line(line)
                if name in known
                and (known[name].last_used >= number or _comes_back(name, known[name]))
                and shown.get(name, 0) < EVIDENCE_PER_TERM
            ]
            if wanted:
                for name in wanted:
                    shown[name] = shown.get(name, 0) + 1
                found.append(Evidence(line, where, number, at))
    found.reverse()
    return found


def _comes_back(name: str, one: Term) -> bool:
    """Whether a name stands in several results; sizes and durations do so by accident."""
    return one.seen >= OFTEN_SEEN and not name[0].isdigit()


def _step(one: Round) -> Step:
    said = next(iter(sentences(one.said)), "")
    deeds = tuple(_deed(action) for action in one.actions if action.call.name not in _SILENT)
    return Step(one.first, one.last, said, deeds, one.number, one.size_bytes)


def _deed(action: Action) -> Deed:
    failed = outcome_of(action) is Outcome.FAILED
    command = action.given("command") if action.call.name in _SHELLS else ""
    files = tuple(dict.fromkeys(use.path for use in file_uses(command)))
    return Deed(in_words(ToolUse("", action.call.name, {})), subject(action.call, LONGEST_COMMAND_CHARS), files, failed)


def _in_one(step: Step) -> str:
    return "; ".join(f"{deed.verb} {deed.subject}".strip() for deed in step.deeds[:2]) or step.said


def _terms_of(row: str) -> frozenset[str]:
    """The identifiers of one line of a result; only lines that can become evidence are worth remembering."""
    line = row.strip()
    return terms_of_line(line) if len(line) <= LONGEST_EVIDENCE_CHARS else terms(line)


def _short(where: str) -> str:
    return cut(" ".join(where.split()), LONGEST_COMMAND_CHARS)


def _todos(value: Json) -> tuple[Todo, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        Todo(str(one.get("content") or one.get("subject") or ""), str(one.get("status") or "pending"))
        for one in value
        if isinstance(one, dict)
    )


def _delegation(action: Action, number: int) -> Delegation:
    came = next((cut(row) for row in action.result.split("\n") if row.strip()), "")
    about = action.given("description") or subject(action.call)
    return Delegation(about, action.given("subagent_type", "agent_type"), came, number)


def _later(facts: Facts, shift: int) -> Facts:
    """The same facts, some rounds further on."""
    return replace(
        facts,
        requests=tuple(replace(one, round=one.round + shift) for one in facts.requests),
        files=tuple(
            replace(
                one,
                last=one.last + shift,
                symbols=tuple(replace(symbol, round=symbol.round + shift) for symbol in one.symbols),
                changes=tuple(replace(each, round=each.round + shift) for each in one.changes),
            )
            for one in facts.files
        ),
        commands=tuple(replace(one, last=one.last + shift) for one in facts.commands),
        lookups=tuple(replace(one, last=one.last + shift) for one in facts.lookups),
        troubles=tuple(replace(one, round=one.round + shift) for one in facts.troubles),
        decisions=tuple(replace(one, round=one.round + shift) for one in facts.decisions),
        delegations=tuple(replace(one, round=one.round + shift) for one in facts.delegations),
        statements=tuple(replace(one, round=one.round + shift) for one in facts.statements),
        evidence=tuple(replace(one, round=one.round + shift) for one in facts.evidence),
        steps=tuple(replace(one, round=one.round + shift) for one in facts.steps),
        terms={
            name: replace(
                one,
                last_used=one.last_used + shift if one.used else -1,
                last_seen=one.last_seen + shift if one.seen else -1,
            )
            for name, one in facts.terms.items()
        },
    )


def _merge_files(older: Sequence[Touched], newer: Sequence[Touched]) -> tuple[Touched, ...]:
    known = {one.path: one for one in older}
    for one in newer:
        before = known.pop(one.path, None)
        known[one.path] = one if before is None else _merge_file(before, one)
    return tuple(known.values())


def _merge_file(older: Touched, newer: Touched) -> Touched:
    counts = dict(older.operations)
    for kind, times in newer.operations:
        counts[kind] = counts.get(kind, 0) + times
    symbols: dict[str, Symbol] = {one.name: one for one in older.symbols}
    for one in newer.symbols:
        before = symbols.pop(one.name, one)
        symbols[one.name] = replace(one, changed=one.changed or before.changed, line=one.line or before.line)
    return Touched(
        newer.path,
        tuple(counts.items()),
        merged_ranges(older.ranges + newer.ranges),
        tuple(symbols.values()),
        older.changes + newer.changes,
        newer.last,
    )


def _merge_commands(older: Sequence[Command], newer: Sequence[Command]) -> tuple[Command, ...]:
    known = {one.text: one for one in older}
    for one in newer:
        before = known.pop(one.text, None)
        known[one.text] = one if before is None else replace(one, times=one.times + before.times)
    return tuple(known.values())


def _merge_terms(older: Mapping[str, Term], newer: Mapping[str, Term]) -> dict[str, Term]:
    merged = dict(older)
    for name, one in newer.items():
        before = merged.get(name, Term())
        merged[name] = Term(
            before.used + one.used,
            before.seen + one.seen,
            max(before.last_used, one.last_used),
            max(before.last_seen, one.last_seen),
        )
    return merged
