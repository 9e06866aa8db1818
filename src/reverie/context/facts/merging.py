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
        merge_ranges(older.ranges + newer.ranges),
        tuple(symbols.values()),
        older.changes + newer.changes,
        newer.last,
    )


def _merge_commands(older: Sequence[ShellCommand], newer: Sequence[ShellCommand]) -> tuple[ShellCommand, ...]:
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
