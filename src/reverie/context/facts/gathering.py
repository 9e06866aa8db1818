"""Gather the facts of a conversation, all at once or as it grows.

Pure and deterministic, from the transcript and never from a summary. `FactCollector` is a fold: gathering a beginning
and then the rest gives what gathering all gives. A long session is therefore walked once and not at every compaction.

`SeenIdentifiers` notes which identifiers were written and which only seen, round by round, and the lines of results
that showed them. Of each only the newest lines are kept that could ever be told, so that a long conversation is never
walked again and its text is not held twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Self, TypeAlias

from reverie.context.activity import action as in_words
from reverie.context.activity import subject
from reverie.context.facts.outcomes import cut, error_lines, last_line, outcome_of, output, telling_lines
from reverie.context.facts.outline import is_bare_punctuation, lines_of
from reverie.context.facts.rounds import SHELL, Course, FactRound, RoundAction
from reverie.context.facts.shell import covers, file_uses
from reverie.context.facts.stated import (
    SHORT_ANSWER_CHARS,
    decisions,
    question,
    split_clauses,
    statements,
    strip_machine_text,
)
from reverie.context.facts.terms import terms, terms_of_line
from reverie.context.facts.touched import Files, file_tool
from reverie.context.facts.values import (
    ActionOutcome,
    AssistantStatement,
    Deed,
    Delegation,
    Facts,
    Lookup,
    RoundSummary,
    ShellCommand,
    Term,
    Todo,
    ToolEvidence,
    Trouble,
    UserDecision,
    UserRequest,
)
from reverie.messages.blocks import Json, ToolUse
from reverie.messages.view import Item

_SHELLS = frozenset({SHELL, "PowerShell", "bash", "shell"})
_AGENTS = frozenset({"Task", "Agent"})
_SILENT = frozenset({"TodoWrite", "ExitPlanMode", "Skill"})
"""Tools whose input is the fact; what they answer says nothing."""
LOOKUP_LINES = 6
SHORT_DECISION_BYTES = 12
"""A shorter sentence says something only as the answer to a question."""
LONGEST_COMMAND_CHARS = 400


def gather(items: Sequence[Item]) -> Facts:
    """Everything that happened in these items."""
    return FactCollector().extend(items).facts()


class FactCollector:
    """The facts of a conversation that grows."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        """All that was taken in."""
        self._begin()

    def _begin(self) -> None:
        self._course = Course()
        self._files = Files()
        self._commands: dict[str, ShellCommand] = {}
        self._lookups: dict[tuple[str, str], Lookup] = {}
        self._troubles: dict[tuple[str, str], Trouble] = {}
        self._unresolved: dict[tuple[str, str], int] = {}
        """Troubles that nothing has been fine after, with the number of `_fine` that were looked at for it."""
        self._fine: list[tuple[int, str]] = []
        self._todos: tuple[Todo, ...] = ()
        self._plan = ""
        self._skills: dict[str, None] = {}
        self._delegations: list[Delegation] = []
        self._requests: list[UserRequest] = []
        self._decisions: list[UserDecision] = []
        self._statements: list[AssistantStatement] = []
        self._steps: list[RoundSummary] = []
        self._asked: dict[int, set[str]] = {}
        """Identifiers of requests, by the number of the round that answers."""
        self._seen = SeenIdentifiers()
        self._facts: Facts | None = None

    def extend(self, items: Sequence[Item]) -> Self:
        """Take in the items that follow."""
        if not items:
            return self
        self._facts = None
        self.items.extend(items)
        if not self._course.extend(items):
            self._begin()
            self._course.extend(self.items)
        for item, number in self._course.typed[len(self._requests) :]:
            self._take_request(item, number)
        if self._steps:
            # What the system added after a round belongs to its span.
            last = self._course.rounds[len(self._steps) - 1]
            self._steps[-1] = replace(self._steps[-1], last=last.last, size_bytes=last.size_bytes)
        for fact_round in self._course.rounds[len(self._steps) :]:
            self._take(fact_round)
        return self

    def facts(self) -> Facts:
        """What was gathered so far; asked for several times by one compaction, made once."""
        if self._facts is None:
            self._facts = self._build_facts()
        return self._facts

    def _build_facts(self) -> Facts:
        course = self._course
        steps = tuple(self._steps)
        rounds = len(course.rounds)
        waiting = self._asked.get(rounds, set())
        self._look_for_what_was_fine()
        return Facts(
            requests=tuple(self._requests),
            files=self._files.values(),
            commands=tuple(sorted(self._commands.values(), key=lambda one: one.last)),
            lookups=tuple(sorted(self._lookups.values(), key=lambda one: one.last)),
            troubles=tuple(self._trace_trouble(key, one, steps) for key, one in self._troubles.items()),
            decisions=tuple(self._decisions),
            todos=self._todos,
            plan=self._plan,
            skills=tuple(self._skills),
            delegations=tuple(self._delegations),
            statements=tuple(self._statements),
            evidence=self._seen.evidence(waiting),
            steps=steps,
            earlier=tuple(course.summaries),
            terms=self._seen.terms(rounds, waiting),
            rounds=rounds,
            ids=tuple(item.uuid for item in self.items),
        )

    def _take_request(self, item: Item, number: int) -> None:
        after = question(self._course.rounds[number - 1].said) if number else ""
        request = UserRequest(item.uuid, item.message.text, number, after)
        self._requests.append(request)
        self._decisions.extend(_decisions(request))
        self._asked.setdefault(number, set()).update(terms(request.text))

    def _take(self, fact_round: FactRound) -> None:
        """Note what a round did."""
        used = self._asked.pop(fact_round.number, set()) | terms(fact_round.said)
        seen: set[str] = set()
        sources: list[tuple[str, list[Row]]] = []
        self._steps.append(_step(fact_round))
        self._statements.extend(AssistantStatement(text, fact_round.number) for text in statements(fact_round.said))
        for action in fact_round.actions:
            for value in action.call.input.values():
                used |= terms(value if isinstance(value, str) else str(value))
            shown = output(action)
            rows = list(lines_of(shown))
            seen.update(*(_terms_of(row) for _, row in rows))
            where = self._take_action(action, fact_round, shown)
            if where is not None:
                sources.append((where, rows))
        self._seen.take(fact_round.number, used, seen, sources)

    def _take_action(self, action: RoundAction, fact_round: FactRound, shown: str) -> str | None:
        """Note what an action did; returns the file, command or search that gave what came back, if that tells."""
        name, outcome = action.call.name, outcome_of(action)
        path = self._files.take(action, fact_round.number)
        kind, _ = file_tool(action)
        where = path or action.get_text("command") or subject(action.call) or name
        if name == "TodoWrite":
            self._todos = _todos(action.call.input.get("todos")) or self._todos
        elif name == "ExitPlanMode":
            self._plan = action.get_text("plan") or self._plan
        elif name == "Skill":
            self._skills[action.get_text("skill", "command", "name")] = None
        elif name in _AGENTS:
            self._delegations.append(_delegation(action, fact_round.number))
        elif name in _SHELLS:
            self._take_command(action, fact_round.number, outcome, shown)
        elif not kind:
            self._take_lookup(action, fact_round.number, shown)
        if name in _SILENT:
            return None
        self._take_trouble(shown, _short(where), fact_round.number, outcome)
        return _short(where)

    def _take_command(self, action: RoundAction, number: int, outcome: ActionOutcome, shown: str) -> None:
        text = action.get_text("command").strip()
        times = self._commands[text].times + 1 if text in self._commands else 1
        telling = telling_lines(shown) if action.answered else ()
        self._commands[text] = ShellCommand(text, outcome, telling, times, number)

    def _take_lookup(self, action: RoundAction, number: int, shown: str) -> None:
        about = subject(action.call, 200)
        rows = [cut(row) for row in shown.split("\n") if row.strip()]
        lookup = Lookup(action.call.name, about, tuple(rows[:LOOKUP_LINES]), max(0, len(rows) - LOOKUP_LINES), number)
        self._lookups[(action.call.name, about)] = lookup

    def _take_trouble(self, shown: str, where: str, number: int, outcome: ActionOutcome) -> None:
        if outcome is not ActionOutcome.FAILED:
            self._fine.append((number, where))
            return
        for line in error_lines(shown) or last_line(shown):
            key = (line, where)
            earlier = self._troubles.pop(key, None)
            self._troubles[key] = Trouble(line, where, number, times=earlier.times + 1 if earlier else 1)
            self._unresolved[key] = len(self._fine)

    def _look_for_what_was_fine(self) -> None:
        for (line, where), looked_at in list(self._unresolved.items()):
            since = self._troubles[(line, where)].round
            if any(n > since and (place == where or covers(place, where)) for n, place in self._fine[looked_at:]):
                del self._unresolved[(line, where)]
            else:
                self._unresolved[(line, where)] = len(self._fine)

    def _trace_trouble(self, key: tuple[str, str], trouble: Trouble, steps: Sequence[RoundSummary]) -> Trouble:
        after = [step for step in steps[trouble.round + 1 : trouble.round + 3] if step.deeds or step.said]
        return replace(trouble, followed=_in_one(after[0]) if after else "", resolved=key not in self._unresolved)


def _decisions(request: UserRequest) -> Iterable[UserDecision]:
    stated = decisions(request.text)
    answer = strip_machine_text(request.text)
    if not stated and request.after and 0 < len(answer) <= SHORT_ANSWER_CHARS:
        stated = (" ".join(answer.split()),)
    for quote in stated:
        if len(quote.encode("utf-8", "replace")) < SHORT_DECISION_BYTES and not request.after:
            continue
        yield UserDecision(quote, request.uuid, request.round, request.after)


def _step(fact_round: FactRound) -> RoundSummary:
    first_clause = next(iter(split_clauses(fact_round.said)), "")
    deeds = tuple(_to_deed(action) for action in fact_round.actions if action.call.name not in _SILENT)
    return RoundSummary(fact_round.first, fact_round.last, first_clause, deeds, fact_round.size_bytes)


def _to_deed(action: RoundAction) -> Deed:
    failed = outcome_of(action) is ActionOutcome.FAILED
    command = action.get_text("command") if action.call.name in _SHELLS else ""
    files = tuple(dict.fromkeys(use.path for use in file_uses(command)))
    return Deed(in_words(ToolUse("", action.call.name, {})), subject(action.call, LONGEST_COMMAND_CHARS), files, failed)


def _in_one(step: RoundSummary) -> str:
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


def _delegation(action: RoundAction, number: int) -> Delegation:
    first_line = next((cut(row) for row in action.result.split("\n") if row.strip()), "")
    about = action.get_text("description") or subject(action.call)
    return Delegation(about, action.get_text("subagent_type", "agent_type"), first_line, number)


EVIDENCE_PER_TERM = 2
OFTEN_SEEN = 2
SHORTEST_EVIDENCE_CHARS = 6
LONGEST_EVIDENCE_CHARS = 240

Row: TypeAlias = tuple[int | None, str]
"""A line of a result with its number, where the print has one."""
Source: TypeAlias = tuple[str, Sequence[Row]]
"""What a file, command or search gave."""
_Line: TypeAlias = tuple[int, int, ToolEvidence]
"""A line behind its place: the number of its source, and the negative number of its row there."""
_NEVER = Term()


class SeenIdentifiers:
    """The identifiers of a conversation, and the lines that tell of them."""

    def __init__(self) -> None:
        self._terms: dict[str, Term] = {}
        self._newest: dict[str, tuple[_Line, ...]] = {}
        """The lines of the newest results that hold a name, the first ones of each."""
        self._used: dict[str, tuple[_Line, ...]] = {}
        """The same as it was when the name was last written."""
        self._sources = 0

    def take(self, number: int, used: set[str], seen: set[str], sources: Iterable[Source]) -> None:
        """Note what a round wrote and what came back; rounds come in order, each once."""
        for where, rows in sources:
            self._take_source(number, where, rows)
        for name in used:
            self._terms[name] = _count_use(self._terms.get(name, _NEVER), number)
            if name in self._newest:
                self._used[name] = self._newest[name]
        for name in seen - used:
            term = self._terms.get(name, _NEVER)
            self._terms[name] = Term(term.used, term.seen + 1, term.last_used, number)

    def terms(self, number: int, used: Collection[str]) -> dict[str, Term]:
        """All identifiers, when those in `used` stand in a round of that number which has not come yet."""
        terms_by_name = dict(self._terms)
        terms_by_name.update((name, _count_use(terms_by_name.get(name, _NEVER), number)) for name in used)
        return terms_by_name

    def evidence(self, used: Collection[str]) -> tuple[ToolEvidence, ...]:
        """Lines with names that were written then or later, or that tools show again and again.

        Each name is told by a few lines at most, of the newest results.
        """
        evidence: dict[tuple[int, int], ToolEvidence] = {}
        for name, newest in self._newest.items():
            lines = newest if name in used or _comes_back(name, self._terms[name]) else self._used.get(name, ())
            for source, row, line in lines:
                evidence[(source, row)] = line
        return tuple(evidence[place] for place in sorted(evidence))

    def _take_source(self, number: int, where: str, rows: Sequence[Row]) -> None:
        self._sources += 1
        firsts: dict[str, list[_Line]] = {}
        for place, (at, row) in enumerate(rows):
            line = row.strip()
            if not SHORTEST_EVIDENCE_CHARS <= len(line) <= LONGEST_EVIDENCE_CHARS or is_bare_punctuation(line):
                continue
            entry: _Line | None = None
            for name in terms_of_line(line):
                own = firsts.setdefault(name, [])
                if len(own) < EVIDENCE_PER_TERM:
                    entry = entry or (self._sources, -place, ToolEvidence(line, where, number, at))
                    own.append(entry)
        for name, lines in firsts.items():
            self._newest[name] = (*lines, *self._newest.get(name, ()))[:EVIDENCE_PER_TERM]


def _count_use(term: Term, number: int) -> Term:
    return Term(term.used + 1, term.seen, number, term.last_seen)


def _comes_back(name: str, term: Term) -> bool:
    """Whether a name stands in several results; sizes and durations do so by accident."""
    return term.seen >= OFTEN_SEEN and not name[0].isdigit()
