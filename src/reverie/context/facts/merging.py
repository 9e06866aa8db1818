"""Join the facts of two runs of a conversation of which one follows the other.

Gathering anew from the whole transcript is better than merging, and merging is better than summarising a summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reverie.context.facts.touched import merge_ranges
from reverie.context.facts.values import Facts, ShellCommand, Symbol, Term, Touched


def merge(older: Facts, newer: Facts) -> Facts:
    """The facts of two runs of which one follows the other."""
    shift = older.rounds
    moved = _later(newer, shift)
    request_ids = {request.uuid for request in older.requests}
    return Facts(
        requests=older.requests + tuple(one for one in moved.requests if one.uuid not in request_ids),
        files=_merge_files(older.files, moved.files),
        commands=_merge_commands(older.commands, moved.commands),
        lookups=older.lookups + moved.lookups,
        troubles=older.troubles + moved.troubles,
        decisions=older.decisions + tuple(one for one in moved.decisions if one.uuid not in request_ids),
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
    by_path = {one.path: one for one in older}
    for touched in newer:
        before = by_path.pop(touched.path, None)
        by_path[touched.path] = touched if before is None else _merge_file(before, touched)
    return tuple(by_path.values())


def _merge_file(older: Touched, newer: Touched) -> Touched:
    counts = dict(older.operations)
    for kind, times in newer.operations:
        counts[kind] = counts.get(kind, 0) + times
    symbols: dict[str, Symbol] = {one.name: one for one in older.symbols}
    for symbol in newer.symbols:
        before = symbols.pop(symbol.name, symbol)
        symbols[symbol.name] = replace(
            symbol, changed=symbol.changed or before.changed, line=symbol.line or before.line
        )
    return Touched(
        newer.path,
        tuple(counts.items()),
        merge_ranges(older.ranges + newer.ranges),
        tuple(symbols.values()),
        older.changes + newer.changes,
        newer.last,
    )


def _merge_commands(older: Sequence[ShellCommand], newer: Sequence[ShellCommand]) -> tuple[ShellCommand, ...]:
    by_text = {one.text: one for one in older}
    for command in newer:
        before = by_text.pop(command.text, None)
        by_text[command.text] = command if before is None else replace(command, times=command.times + before.times)
    return tuple(by_text.values())


def _merge_terms(older: Mapping[str, Term], newer: Mapping[str, Term]) -> dict[str, Term]:
    merged = dict(older)
    for name, term in newer.items():
        before = merged.get(name, Term())
        merged[name] = Term(
            before.used + term.used,
            before.seen + term.seen,
            max(before.last_used, term.last_used),
            max(before.last_seen, term.last_seen),
        )
    return merged
