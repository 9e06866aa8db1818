"""Finds secrets in a text: keys, tokens and passwords that must not be stored or sent.

One scanner for every path. Precise rules (`rules`) and what a sentence says of a random word, both judged by
`plausible`, are always on, behind a search for `keywords` in the text as it is seen (`visible`). Where the `secrets`
extra is installed, its larger engine looks as well at every text with a word that it could take for a secret.
Findings carry the rule and the place, never the text. Who refuses or redacts is the caller's decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from reverie.files.secret_scan.keywords import places_of_rules
from reverie.files.secret_scan.plausible import (
    has_random_part,
    is_called_secret,
    is_made_by_machine,
    is_placeholder,
)
from reverie.files.secret_scan.rules import (
    IN_CONTEXT,
    NAMED_SECRET,
    TOKENS,
    VALUE_MAX_CHARS,
    VALUE_MIN_CHARS,
    SecretRule,
    begins_word,
)
from reverie.files.secret_scan.visible import INVISIBLE, beyond_ascii, has_invisible, lines_of, without
from reverie.patterns import lazy_regex
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


def scan(text: str) -> list[Finding]:
    """Find secrets, in text order."""
    foreign = beyond_ascii(text)
    visible, to_text = without(INVISIBLE, text) if has_invisible(foreign) else (text, int)
    plain = visible.encode("ascii", "replace")  # one byte for each character, so that places stay
    view = b" " + plain.translate(_OF_TOKENS) + b" "
    words = _LONG_WORD.findall(view)
    distinct = set(words)
    findings = list(_in_context(visible, plain, foreign))
    if b"\n" in plain:
        findings += _tokens_across_lines(visible, plain, distinct)
    if words:
        by_machine = list(_words_of_machines(view, words, distinct))
        findings += _tokens(visible, distinct)
        findings += [
            (start, end, NAMED_SECRET) for start, end, _ in by_machine if is_called_secret(visible, start, end)
        ]
        findings += _spans_of_engine(visible, [(start, end) for start, end, is_unknown in by_machine if is_unknown])
    if not findings:
        return []
    apart = _apart((to_text(start), to_text(end - 1) + 1, rule) for start, end, rule in findings)
    lines = lines_of((start for start, _, _ in apart), text)
    return [Finding(rule, start, end, line) for (start, end, rule), line in zip(apart, lines, strict=True)]


def redact(text: str) -> str:
    """The text with every secret replaced by the name of its rule."""
    parts, done = [], 0
    for finding in scan(text):
        parts += [text[done : finding.start], f"[secret: {finding.rule}]"]
        done = finding.end
    return "".join([*parts, text[done:]])


_Span: TypeAlias = tuple[int, int, str]

_LINE_BREAK = lazy_regex(r"\\?\r?\n[ \t>]*")
_OF_TOKENS = bytes(
    char if chr(char) in "_-./+=~:%|@" or (char < 128 and chr(char).isalnum()) else 32 for char in range(256)
)
_OF_LINES = bytes(
    char if char == 10 or _OF_TOKENS[char] != 32 else 32 if chr(char) in " \t\r>\\" else 0 for char in range(256)
)
"""Line breaks stay, a space stands for what may be a margin of a line, and zero for all else between words."""
_OF_VALUES = _OF_TOKENS.translate(bytes(32 if chr(char) in ":%|@" else char for char in range(256)))
_LONG_WORD = lazy_regex(rb" ([^ ]{%d,})" % VALUE_MIN_CHARS)  # a literal first, which is found fastest
_REST_OF_WORD = lazy_regex(
    # Behind a line break; there are many of those, so one where both pieces are short is left out first.
    rb"\n(?:(?<=[^\0\n ]{7}\n)|(?<= \n)|(?<=[^\0\n ]\n)(?=[ \n]{0,99}+(?:[^\0\n ]{7}|[^\0\n ]+ *\n)))"
    rb"[ \n]{0,99}+[^\0\n ]++(?: *\n[ \n]{0,99}+[^\0\n ]++)*+"
)
_LONGEST_PIECE = 2000
_DIGIT_OR_CAPITAL = lazy_regex(rb"[A-Z0-9]")
_MARKS = "_-."
_CHARS_BEFORE, _CHARS_AFTER = 120, 60
"""Characters around a word that can tell the engine what it is; it is slow, so the rest is kept from it."""


def _words_of_machines(view: bytes, words: list[bytes], distinct: set[bytes]) -> Iterator[tuple[int, int, bool]]:
    """The places of words that no person made up, and whether the engine may know what they are."""
    values_by_word = {
        word: values for word in distinct if _DIGIT_OR_CAPITAL.search(word) and (values := _values_in(word))
    }
    place = 0
    for word in filter(values_by_word.__contains__, words):
        place = view.index(b" " + word + b" ", place)
        for start, end, is_unknown in values_by_word[word]:
            yield place + start, place + end, is_unknown


def _values_in(word: bytes) -> list[tuple[int, int, bool]]:
    values = []
    for part in word.translate(_OF_VALUES).split():
        value = part.rstrip(b".=-/").lstrip(b".-+=")
        if VALUE_MIN_CHARS <= len(value) <= VALUE_MAX_CHARS and not value.isalpha():
            plain = value.decode("ascii")
            if is_made_by_machine(plain):
                start = word.index(value)
                values.append((start, start + len(value), has_random_part(plain)))
    return values


@cache
def _keywords_by_mark() -> list[tuple[bytes, list[tuple[bytes, SecretRule]]]]:
    """Keywords of tokens by a character that the words with them need to have; most words have few of those."""
    marks: dict[bytes, list[tuple[bytes, SecretRule]]] = {}
    for rule in TOKENS:
        for keyword in rule.keywords:
            mark = next((char for char in keyword if char in _MARKS), "")
            marks.setdefault(mark.encode(), []).append((keyword.encode(), rule))
    return list(marks.items())


def _tokens(text: str, words: Iterable[bytes]) -> list[_Span]:
    found: dict[SecretRule, None] = {}
    for mark, keywords in _keywords_by_mark():
        joined = b"\n".join([word for word in words if mark in word] if mark else words)
        # A plain comprehension over the keywords, because this runs on every text that is stored.
        for rule in [rule for keyword, rule in keywords if keyword in joined] if joined else ():
            if rule not in found and rule.pattern().search(joined.decode("ascii")):
                found[rule] = None
    return [
        (*match.span(), rule.name)
        for rule in found
        for match in rule.pattern().finditer(text)
        if begins_word(text, match.start()) and rule.accepts(match)
    ]


def _tokens_across_lines(text: str, plain: bytes, words: set[bytes]) -> list[_Span]:
    new = _words_across_lines(plain).difference(words)
    if not new or not _tokens(b"\n".join(new).decode("ascii"), new):
        return []
    joined, origin = without(_LINE_BREAK, text)
    glued = b" " + joined.encode("ascii", "replace").translate(_OF_TOKENS)
    tokens = _tokens(joined, set(_LONG_WORD.findall(glued)))
    return [(origin(start), origin(end - 1) + 1, rule) for start, end, rule in tokens]


def _words_across_lines(plain: bytes) -> set[bytes]:
    """The long words that there are once line breaks are taken away, with the margins around them."""
    view = plain.translate(_OF_LINES)
    words = set()
    for match in _REST_OF_WORD.finditer(view):
        before = view[max(0, match.start() - _LONGEST_PIECE) : match.start()].rstrip(b" ")
        first = max(before.rfind(b"\0"), before.rfind(b" "), before.rfind(b"\n")) + 1
        words.add((before[first:] + match[0]).translate(None, b" \n"))
    return {word for word in words if len(word) >= VALUE_MIN_CHARS}


def _in_context(text: str, plain: bytes, foreign: bytes) -> Iterator[_Span]:
    for place, rule in places_of_rules(text, plain, foreign):
        match = rule.pattern().match(text, place)
        if match and rule.accepts(match):
            yield *match.span(match.re.groupindex.get("secret", 0)), rule.name


def _spans_of_engine(text: str, words: list[tuple[int, int]]) -> Iterator[_Span]:
    """What the engine of the `secrets` extra finds around the given words; nothing where it is not installed."""
    scan_string = _engine() if words else None
    if scan_string is None:
        return
    around = "\n\n".join(
        dict.fromkeys(text[max(0, start - _CHARS_BEFORE) : end + _CHARS_AFTER] for start, end in words)
    )
    # It takes UTF-8 up to the first NUL.
    for finding in scan_string(around.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")):
        secret = finding.match.value
        # Its generic rules take any identifier for a key; ours are stricter and have already run.
        if finding.rule_id.startswith("generic-") or not secret or is_placeholder(secret):
            continue
        for match in re.finditer(re.escape(secret), text):
            yield *match.span(), finding.rule_id


@cache
def _engine() -> Callable[[str], list[Any]] | None:
    try:
        import betterleaks
    except ImportError:
        return None
    return betterleaks.scan_string


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
