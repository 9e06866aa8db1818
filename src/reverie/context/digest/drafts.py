"""Facts as candidate lines. Says nothing about which are taken; that is `choose`.

Paths are written relative to the folder that most of them share, which the digest names once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from math import exp2

from reverie.amounts import format_count
from reverie.context.digest.line import DigestLine, DigestTopic
from reverie.context.facts.outcomes import cut
from reverie.context.facts.shell import program_of
from reverie.context.facts.terms import base_name, terms_of_line
from reverie.context.facts.values import ActionOutcome, Deed, Facts, RoundSummary, ShellCommand, ToolEvidence, Touched
from reverie.context.spans import short_ids
from reverie.patterns import lazy_regex

SPAN_BYTES = 9_500
"""One line of the index stands for at most so much, which is below 4,000 tokens also of dense code: one read."""
COMMAND_CHARS = 180
SPAN_CHARS = 150
DEED_CHARS = 120
MOST_EXCERPTS = 200
MOST_OUTPUT = 25
"""Lines of one file, and of the output of one command; more would be a copy and not a digest."""
BRIEF_CHARS = 50
_FINDS = lazy_regex(
    r"\b(?:because|cause|found|issue|problem|fix(?:ed|es)?|wrong|works?|fail(?:s|ed|ing)?|instead|must|need|correct|bug|error"
    r"|now|next|should|turns out)\b|原因|因为|问题|修复|なので|原因は|問題",
    re.IGNORECASE,
)


class DraftLines:
    """All candidate lines of some facts."""

    def __init__(self, facts: Facts, quoted: Collection[str] = ()) -> None:
        self._facts = facts
        self._quoted = quoted
        """Requests that stand in the digest word for word; what they decide need not be said twice."""
        self.short = short_ids(facts.ids)
        """Ids as the digest writes them."""
        self.root = common_root([one.path for one in facts.files])

    def lines(self) -> list[DigestLine]:
        """Every line that could be written."""
        return [
            *self._decisions(),
            *self._concepts(),
            *self._files(),
            *self._commands(),
            *self._lookups(),
            *self._troubles(),
            *self._statements(),
            *self._delegations(),
            *self._tasks(),
            *self._earlier(),
        ]

    def spans(self) -> list[DigestLine]:
        """The index of the whole conversation in pieces of one read each, oldest first."""
        return [
            DigestLine(DigestTopic.SPAN, (number,), self._span(span), key=span[0].first)
            for number, span in enumerate(spans_of(self._facts.steps))
        ]

    def format_path(self, path: str) -> str:
        """A path as the digest writes it."""
        return path.removeprefix(self.root + "/") if self.root else path

    def name(self, uuid: str) -> str:
        """An id as the digest writes it."""
        return self.short.get(uuid, uuid)

    def _recency(self, number: int) -> float:
        return exp2(-(self._facts.rounds - 1 - number) / 12)

    def _decisions(self) -> Iterable[DigestLine]:
        for number, decision in enumerate(self._facts.decisions):
            asked_before = f" (asked: “{cut(decision.after, 120)}”)" if decision.after else ""
            yield DigestLine(
                DigestTopic.DECISION, (decision.round, number), f"“{decision.quote}”{asked_before}",
                terms_of_line(decision.quote), floor=0.4 if decision.uuid in self._quoted else 2.0,
            )  # fmt: skip

    def _concepts(self) -> Iterable[DigestLine]:
        kinds = Counter(_kind(one.path) for one in self._facts.files if _kind(one.path))
        programs: Counter[str] = Counter()
        for command in self._facts.commands:
            programs[program_of(command.text)] += command.times
        if kinds:
            text = ", ".join(f"{kind} ({times})" for kind, times in kinds.most_common(8))
            yield DigestLine(DigestTopic.CONCEPT, (0,), f"files by kind: {text}", floor=3.0)
        if programs:
            text = ", ".join(f"{name} ({times})" for name, times in programs.most_common(10) if name)
            yield DigestLine(DigestTopic.CONCEPT, (1,), f"programs run: {text}", frozenset(programs), floor=3.0)

    def _files(self) -> Iterable[DigestLine]:
        excerpts: dict[str, list[ToolEvidence]] = {}
        for evidence in self._facts.evidence:
            excerpts.setdefault(evidence.where, []).append(evidence)
        for place, touched in enumerate(self._facts.files):
            yield self._file(touched, place)
            own = frozenset({touched.path, base_name(touched.path)})
            for number, symbol in enumerate(touched.symbols):
                at = f" :{symbol.line}" if symbol.line else ""
                mark = "*" if symbol.changed else ""
                yield DigestLine(
                    DigestTopic.SYMBOL, (place, symbol.line or number), f"{mark}{symbol.text}{at}",
                    terms_of_line(symbol.text) | {symbol.name} - own,
                    floor=0.15 * self._recency(symbol.round) * (2.0 if symbol.changed else 1.0), under=touched.path,
                )  # fmt: skip
            for number, change in enumerate(touched.changes):
                failed = " (failed)" if change.outcome is ActionOutcome.FAILED else ""
                for sign, rows in (("-", change.removed), ("+", change.added)):
                    for row, text in enumerate(rows):
                        yield DigestLine(
                            DigestTopic.CHANGE, (place, number, sign == "+", row), f"{sign} {text}{failed}",
                            terms_of_line(text), floor=0.2 * self._recency(change.round) if sign == "+" else 0.0,
                            factor=1.1 if sign == "+" else 0.8, under=touched.path,
                        )  # fmt: skip
            for number, evidence in enumerate(excerpts.pop(touched.path, [])[-MOST_EXCERPTS:]):
                text = f"{evidence.number}: {evidence.line}" if evidence.number else evidence.line
                where = (place, evidence.number or 0, number)
                yield DigestLine(DigestTopic.EXCERPT, where, text, terms_of_line(evidence.line), under=touched.path)

    def _file(self, touched: Touched, place: int) -> DigestLine:
        done = ", ".join(kind if times == 1 else f"{kind} ×{times}" for kind, times in touched.operations)
        ranges = ", ".join(f"{first}-{last}" for first, last in touched.ranges[:6])
        read = f"; lines {ranges}" if ranges else ""
        text = f"{self.format_path(touched.path)} ({done}{read})"
        worth = 1.5 if touched.is_changed else 0.6
        return DigestLine(
            DigestTopic.FILE, (place,), text, frozenset({touched.path, base_name(touched.path)}) | terms_of_line(text),
            floor=worth * (0.4 + self._recency(touched.last)), key=touched.path,
        )  # fmt: skip

    def _commands(self) -> Iterable[DigestLine]:
        files = {one.path for one in self._facts.files}
        outputs: dict[str, list[tuple[int, str]]] = {}
        for evidence in self._facts.evidence:
            if evidence.where not in files:
                outputs.setdefault(evidence.where, []).append((evidence.round, evidence.line))
        for command in self._facts.commands:
            key = cut(" ".join(command.text.split()), 400)
            yield self._command(command, key)
            for number, (_, text) in enumerate(outputs.pop(key, [])[-MOST_OUTPUT:]):
                if text not in command.telling:
                    yield DigestLine(
                        DigestTopic.OUTPUT, (command.last, number + 1), text, terms_of_line(text), under=key
                    )

    def _command(self, command: ShellCommand, key: str) -> DigestLine:
        times = f" ×{command.times}" if command.times > 1 else ""
        went = "" if command.outcome is ActionOutcome.OK else f" {command.outcome}"
        telling = " | ".join(command.telling[-2:])
        text = f"`{cut(' '.join(command.text.split()), COMMAND_CHARS)}`{times}{went}" + (
            f": {telling}" if telling else ""
        )
        return DigestLine(
            DigestTopic.COMMAND, (command.last, 0), text, terms_of_line(text),
            floor=(0.5 + 0.2 * min(command.times, 5)) * self._recency(command.last), key=key,
        )  # fmt: skip

    def _lookups(self) -> Iterable[DigestLine]:
        for number, lookup in enumerate(self._facts.lookups):
            excerpt = " | ".join(cut(row, 120) for row in lookup.found[:3])
            more = f" (and {format_count(lookup.more, 'more line')})" if lookup.more else ""
            text = f"{lookup.tool} {lookup.subject}".strip() + (f": {excerpt}{more}" if excerpt else "")
            yield DigestLine(
                DigestTopic.LOOKUP,
                (lookup.last, number),
                text,
                terms_of_line(text),
                floor=0.3 * self._recency(lookup.last),
            )

    def _troubles(self) -> Iterable[DigestLine]:
        for number, trouble in enumerate(self._facts.troubles):
            where = cut(self.format_path(trouble.where), 100)
            times = f" ×{trouble.times}" if trouble.times > 1 else ""
            then = f"; then {cut(self._shorter(trouble.followed), DEED_CHARS)}" if trouble.followed else ""
            state = "fine later" if trouble.resolved else "not seen to be fine later"
            text = f"{trouble.line}{times} — in {where}{then} ({state})"
            yield DigestLine(
                DigestTopic.TROUBLE, (trouble.round, number), text, terms_of_line(text),
                floor=(0.8 if trouble.resolved else 2.5) * (0.3 + self._recency(trouble.round)),
            )  # fmt: skip

    def _statements(self) -> Iterable[DigestLine]:
        for number, statement in enumerate(self._facts.statements):
            tells = 0.5 if _FINDS.search(statement.text) else 0.1
            yield DigestLine(
                DigestTopic.STATEMENT, (statement.round, number), statement.text, terms_of_line(statement.text),
                floor=tells * self._recency(statement.round), factor=1.2,
            )  # fmt: skip

    def _delegations(self) -> Iterable[DigestLine]:
        for number, delegation in enumerate(self._facts.delegations):
            kind = f" [{delegation.kind}]" if delegation.kind else ""
            text = f"{delegation.description}{kind}: {delegation.outcome}"
            yield DigestLine(DigestTopic.DELEGATION, (delegation.round, number), text, terms_of_line(text), floor=2.0)

    def _tasks(self) -> Iterable[DigestLine]:
        for number, todo in enumerate(self._facts.todos):
            open_ = todo.status != "completed"
            yield DigestLine(
                DigestTopic.TODO, (number,), f"[{todo.status}] {todo.text}", terms_of_line(todo.text),
                floor=50.0 if open_ else 0.3,
            )  # fmt: skip
        if self._facts.plan:
            yield DigestLine(DigestTopic.PLAN, (0,), self._facts.plan, terms_of_line(self._facts.plan), floor=50.0)
        for number, skill in enumerate(self._facts.skills):
            yield DigestLine(DigestTopic.SKILL, (number,), f"skill {skill}", floor=20.0)

    def _earlier(self) -> Iterable[DigestLine]:
        for number, text in enumerate(self._facts.earlier):
            for row, line in enumerate(text.split("\n")):
                if line.strip():
                    yield DigestLine(DigestTopic.EARLIER, (number, row), line, terms_of_line(line), floor=0.3)

    def _shorter(self, text: str) -> str:
        return text.replace(self.root + "/", "") if self.root else text

    def in_words(self, deed: Deed) -> str:
        """A deed as a person would say it."""
        about = cut(self.format_path(deed.subject), DEED_CHARS)
        return f"{deed.verb} {about}".strip() + (" (failed)" if deed.failed else "")

    def _span(self, span: Sequence[RoundSummary]) -> str:
        seen = dict.fromkeys(brief(deed) for step in span for deed in step.deeds)
        statement = next((step.said for step in span if step.said), "") if not seen else ""
        about = "; ".join(seen) or statement
        return f"[{self.name(span[0].first)}-{self.name(span[-1].last)}] {cut(about, SPAN_CHARS)}"


def spans_of(steps: Sequence[RoundSummary]) -> list[list[RoundSummary]]:
    """Steps in runs of at most one read each; a step that is larger stands alone."""
    spans: list[list[RoundSummary]] = []
    size = 0
    for step in steps:
        if not spans or size + step.size_bytes > SPAN_BYTES:
            spans.append([])
            size = 0
        spans[-1].append(step)
        size += step.size_bytes
    return spans


def brief(deed: Deed) -> str:
    """A deed in two or three words: the name of a file, the program of a command and the files it names."""
    if deed.verb == "ran":
        names = [base_name(path) for path in deed.files[:2]]
        return " ".join([program_of(deed.subject).split(" ")[0], *names]) if names else program_of(deed.subject)
    about = base_name(deed.subject) if "/" in deed.subject and " " not in deed.subject else deed.subject
    return cut(f"{deed.verb} {about}".strip(), BRIEF_CHARS)


def common_root(paths: Sequence[str]) -> str:
    """The folder that most absolute paths share, or nothing."""
    folders = Counter[str]()
    absolute = [path for path in paths if path.startswith("/")]
    for path in absolute:
        parts = path.split("/")
        for depth in range(3, len(parts)):
            folders["/".join(parts[:depth])] += 1
    wide = [(folder, count) for folder, count in folders.items() if count >= max(2, 0.6 * len(absolute))]
    return max(wide, key=lambda one: (len(one[0]), one[0]), default=("", 0))[0]


def _kind(path: str) -> str:
    name = base_name(path)
    return "." + name.rsplit(".", 1)[1] if "." in name.strip(".") else ""
