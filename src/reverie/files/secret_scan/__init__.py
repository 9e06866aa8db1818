"""Finds secrets in a text: keys, tokens and passwords that must not be stored or sent.

One scanner for every path. Precise rules (`rules`) and what a sentence says of a random word, both judged by
`plausible`, are always on, behind a search for keywords in the text as it is seen (`visible`). Where the `secrets`
extra is installed, its larger engine looks as well at every text with a word that it could take for a secret.
Findings carry the rule and the place, never the text. Who refuses or redacts is the caller's decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from reverie.files.secret_scan.plausible import (
    is_called_secret,
    is_hash,
    is_identifier,
    is_made_by_machine,
    is_placeholder,
)
from reverie.files.secret_scan.rules import (
    IN_CONTEXT,
    NAMED_SECRET,
    TOKENS,
    VALUE_MAX_CHARS,
    VALUE_MIN_CHARS,
    begins_word,
)
from reverie.files.secret_scan.visible import INVISIBLE, has_invisible, lines_of, without
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
    visible, to_text = without(INVISIBLE, text) if has_invisible(text) else (text, int)
    plain = visible.encode("ascii", "replace")  # one byte for each character, so that places stay
    words = _long_words(plain)
    findings = list(_in_context(visible, plain))
    if b"\n" in plain:
        findings += _tokens_across_lines(visible, plain, words)
    if words:
        by_machine = list(_words_of_machines(plain, words))
        findings += _tokens(visible, words)
        findings += ((start, end, NAMED_SECRET) for start, end in by_machine if is_called_secret(visible, start, end))
        findings += _spans_of_engine(visible, by_machine)
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

_TOKEN_BY_KEYWORD = [(keyword, rule) for rule in TOKENS for keyword in rule.keywords]
_LINE_BREAK = re.compile(r"\\?\r?\n[ \t>]*")
_OF_TOKENS = bytes(
    char if chr(char) in "_-./+=~:%|@" or (char < 128 and chr(char).isalnum()) else 32 for char in range(256)
)
_OF_VALUES = _OF_TOKENS.translate(bytes(32 if chr(char) in ":%|@" else char for char in range(256)))
_CHARS_BEFORE, _CHARS_AFTER = 120, 60
"""Characters around a word that can tell the engine what it is; it is slow, so the rest is kept from it."""


def _long_words(plain: bytes) -> list[bytes]:
    return [word for word in plain.translate(_OF_TOKENS).split() if len(word) >= VALUE_MIN_CHARS]


def _words_of_machines(plain: bytes, words: list[bytes]) -> Iterator[tuple[int, int]]:
    """The places of words that no person made up."""
    values_by_word = {word: values for word in set(words) if (values := _values_in(word))}
    view, place = b" " + plain.translate(_OF_TOKENS) + b" ", 0
    for word in words if values_by_word else ():
        if word in values_by_word:
            place = view.index(b" " + word + b" ", place)
            for value in values_by_word[word]:
                start = place + word.index(value)
                yield start, start + len(value)


def _values_in(word: bytes) -> list[bytes]:
    parts = [part.rstrip(b".=-/").lstrip(b".-+=") for part in word.translate(_OF_VALUES).split()]
    return [
        part
        for part in parts
        if VALUE_MIN_CHARS <= len(part) <= VALUE_MAX_CHARS
        if not part.isalpha() and is_made_by_machine(part.decode("ascii"))
    ]


def _tokens(text: str, words: Iterable[bytes]) -> list[_Span]:
    joined = b"\n".join(set(words)).decode("ascii")
    # A plain comprehension over the keywords, because this runs on every text that is stored.
    possible = dict.fromkeys(rule for keyword, rule in _TOKEN_BY_KEYWORD if keyword in joined)
    return [
        (*match.span(), rule.name)
        for rule in possible
        if rule.pattern().search(joined)
        for match in rule.pattern().finditer(text)
        if begins_word(text, match.start()) and rule.accepts(match)
    ]


def _tokens_across_lines(text: str, plain: bytes, words: list[bytes]) -> list[_Span]:
    glued = b"".join([line.strip(b" \t\r>\\") for line in plain.split(b"\n")])
    new = set(_long_words(glued)).difference(words)
    if not _tokens(b"\n".join(new).decode("ascii"), new):
        return []
    joined, origin = without(_LINE_BREAK, text)
    tokens = _tokens(joined, _long_words(joined.encode("ascii", "replace")))
    return [(origin(start), origin(end - 1) + 1, rule) for start, end, rule in tokens]


def _in_context(text: str, plain: bytes) -> Iterator[_Span]:
    lowered = plain.lower()
    for rule in IN_CONTEXT:
        for keyword in rule.keywords:
            for place in _places(keyword, text, lowered):
                match = rule.pattern().match(text, place)
                if match and rule.accepts(match):
                    yield *match.span(rule.pattern().groupindex.get("secret", 0)), rule.name


def _places(keyword: str, text: str, lowered: bytes) -> Iterator[int]:
    if keyword.isascii():
        keyword_bytes = keyword.encode()
        place = lowered.find(keyword_bytes)
        while place >= 0:
            yield place
            place = lowered.find(keyword_bytes, place + 1)
    elif not text.isascii():
        yield from (match.start() for match in re.finditer(f"(?i){keyword}", text))


def _spans_of_engine(text: str, words: list[tuple[int, int]]) -> Iterator[_Span]:
    """What the engine of the `secrets` extra finds around the given words; nothing where it is not installed."""
    words = [(start, end) for start, end in words if not (is_hash(text[start:end]) or is_identifier(text[start:end]))]
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
