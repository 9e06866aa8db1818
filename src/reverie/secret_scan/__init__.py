"""What must never be stored or leave this machine: keys, tokens and passwords in a text.

A list of precise rules (`rules`, judged by `plausible`) that is always on, behind a search for keywords in the text
as it is seen (`visible`); the `secrets` extra adds a second, larger engine when a caller asks for it. Findings carry
the rule and the place, never the text. Who refuses or redacts is the caller's decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from reverie.secret_scan.plausible import is_placeholder
from reverie.secret_scan.rules import IN_CONTEXT, TOKEN_MIN_CHARS, TOKENS
from reverie.secret_scan.visible import INVISIBLE, lines_of, without
from reverie.values import value

__all__ = ["Finding", "redact", "scan"]


@value
class Finding:
    """A secret, by place."""

    rule: str
    start: int
    end: int
    line: int
    """Counted from 1."""


def scan(text: str, *, thorough: bool = False) -> list[Finding]:
    """Find secrets, in text order; `thorough` adds the engine of the `secrets` extra.

    Raises: `ImportError` when `thorough` is asked for and the extra is not installed.
    """
    visible, to_text = (text, int) if text.isascii() else without(INVISIBLE, text)
    found = [*_tokens(visible), *_in_context(visible), *_tokens_across_lines(visible)]
    spans = [(to_text(start), to_text(end - 1) + 1, rule) for start, end, rule in found]
    if thorough:
        spans += _spans_of_second_engine(text)
    apart = _apart(spans)
    lines = lines_of((start for start, _, _ in apart), text)
    return [Finding(rule, start, end, line) for (start, end, rule), line in zip(apart, lines, strict=True)]


def redact(text: str, *, thorough: bool = False) -> str:
    """The text with every secret replaced by the name of its rule."""
    parts, done = [], 0
    for finding in scan(text, thorough=thorough):
        parts += [text[done : finding.start], f"[secret: {finding.rule}]"]
        done = finding.end
    return "".join([*parts, text[done:]])


_Span: TypeAlias = tuple[int, int, str]

_TOKEN_BY_KEYWORD = [(keyword, rule) for rule in TOKENS for keyword in rule.keywords]
_LINE_BREAK = re.compile(r"\\?\r?\n[ \t>]*")


def _tokens(text: str) -> list[_Span]:
    words = "\n".join(word for word in text.split() if len(word) >= TOKEN_MIN_CHARS)
    # A plain comprehension over the keywords, because this runs on every text that is stored.
    possible = dict.fromkeys(rule for keyword, rule in _TOKEN_BY_KEYWORD if keyword in words)
    return [
        (*match.span(), rule.name)
        for rule in possible
        if rule.pattern().search(words)
        for match in rule.pattern().finditer(text)
        if rule.accepts(match)
    ]


def _tokens_across_lines(text: str) -> list[_Span]:
    if not _tokens("".join(line.strip(" \t\r>\\") for line in text.split("\n"))):
        return []
    joined, origin = without(_LINE_BREAK, text)
    return [(origin(start), origin(end - 1) + 1, rule) for start, end, rule in _tokens(joined)]


def _in_context(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters, and positions would shift
        lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for rule in IN_CONTEXT:
        for keyword in rule.keywords:
            place = lowered.find(keyword)
            while place >= 0:
                match = rule.pattern().match(text, place)
                if match and rule.accepts(match):
                    yield *match.span(rule.pattern().groupindex.get("secret", 0)), rule.name
                place = lowered.find(keyword, place + 1)


def _apart(spans: Iterable[_Span]) -> list[_Span]:
    """Spans that do not overlap: of those that do, the union, under the name of the rule that stands first."""
    order = {rule.name: number for number, rule in enumerate([*TOKENS, *IN_CONTEXT])}
    result: list[_Span] = []
    for start, end, rule in sorted(spans):
        if result and start < result[-1][1]:
            first, last, other = result[-1]
            result[-1] = first, max(last, end), min(other, rule, key=lambda name: order.get(name, len(order)))
        else:
            result.append((start, end, rule))
    return result


def _spans_of_second_engine(text: str) -> Iterator[_Span]:
    import betterleaks

    for found in betterleaks.scan_string(text):
        # Its generic rule takes any identifier for a key; ours is stricter and has already run.
        if found.rule_id == "generic-api-key" or not found.match.value or is_placeholder(found.match.value):
            continue
        for match in re.finditer(re.escape(found.match.value), text):
            yield *match.span(), found.rule_id
