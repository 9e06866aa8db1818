"""The law that a memory says what was said: same negations, numbers, names and conditions as the words it quotes.

`find_mismatch` compares one stored text with its source; `keep_as_said` holds a topic against its quotes and puts the
source sentence in the place of what differs. Pure, for many languages, and deliberately suspicious: a false alarm costs
a paraphrase, a miss costs a memory that says the opposite. It knows nothing of the rules or models that wrote a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import field, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import TypeAlias

from reverie.memory.topics.polarity_words import (
    ANSWER,
    CJK,
    CLAUSE_END,
    CONDITIONS,
    CONFIRMATION,
    HAN_DIGITS,
    HAN_NUMBER,
    IDENTIFIER,
    LASTING_LEAD,
    LIMITS,
    NAME,
    NEGATIONS,
    NO_NAMES,
    NUMBER,
    NUMBER_WORDS,
    PERSON,
    RESOLVED,
    SENTENCE,
    STOPWORDS,
    UNKNOWN_SCRIPT,
    VERB_NEXT,
)
from reverie.memory.topics.value import Topic, Trust
from reverie.values import value

_COMPARED_CHARS = 10_000
"""Nobody says more in one sentence; a longer text is compared as far as this."""
TITLE_CHARS = 100
"""A sentence up to this length is its own title where it cannot be shortened safely."""


class MismatchKind(StrEnum):
    """In what a stored text differs from its source."""

    negation = "negation"
    number = "number"
    name = "name"
    condition = "condition"


@value
class Mismatch:
    """A difference in meaning between a stored text and its source."""

    kind: MismatchKind
    words: tuple[str, ...]
    """What is missing, was added, or stands with another word."""

    def __str__(self) -> str:
        return f"another {self.kind} than its source ({', '.join(self.words)})"


def find_mismatch(source: str, stored: str, *, is_title: bool = False) -> Mismatch | None:
    """The first difference in meaning between a text and the words that it was made of.

    A title may leave things out, but what it mentions must not be inverted, and nothing may be added. Sentences of the
    source that the stored text does not touch may be missing, unless they limit the one before.
    """
    if _folded(source).strip(" .!。！") == _folded(stored).strip(" .!。！"):
        return None
    source, stored = source[:_COMPARED_CHARS], stored[:_COMPARED_CHARS]
    said, kept = _read(source), _read(_without_resolved_dates(source, stored))
    if not said.is_understood and not is_title:
        # Negation in this script is not known: only the words themselves are sure to mean the same.
        return None if _folded(source) in _folded(stored) else Mismatch(MismatchKind.negation, (source,))
    touched = said if is_title else _touched(said, kept)
    checks = [_inverted(said, kept), *_added(said, kept, is_title=is_title)]
    if not is_title:
        checks += _missing(touched, kept)
    return next((found for found in checks if found), None)


def keep_as_said(topic: Topic) -> Topic:
    """The topic, or with the words of its source for name, description and body where one of them differs in meaning.

    A topic that quotes nothing has no source to differ from, and is returned as it is.
    """
    quotes = [quote for each in topic.sources if (quote := (each.quote or "").strip())]
    source = "\n".join(quote for quote in quotes if not is_confirmation(quote))
    if not source:
        # What an approval approves of is the agent's wording, not the user's.
        is_worded_by_agent = bool(quotes) and topic.trust is Trust.said
        return replace(topic, trust=Trust.inferred) if is_worded_by_agent else topic
    if find_mismatch(source, topic.description) or find_mismatch(source, _statements(source, topic.body)):
        sentence = _nearest(source, f"{topic.name}\n{topic.description}")
        return replace(topic, name=make_title(sentence), description=" ".join(sentence.split()), body=source)
    if find_mismatch(source, topic.name, is_title=True):
        return replace(topic, name=make_title(_nearest(source, topic.description)))
    return topic


def is_confirmation(text: str) -> bool:
    """Whether a text only approves of what was before it: `yes`, `perfect, exactly like that`."""
    return bool(_compiled(rf"(?:{CONFIRMATION}(?!\w)|[\s,.!，。！、;:])+").fullmatch(_folded(text)))


def make_title(sentence: str, limit: int = TITLE_CHARS) -> str:
    """A sentence as a title: whole where it is short, else cut with an ellipsis, never before a negation of it."""
    text = " ".join(sentence.split()).strip(" .。!！,，;；:：")
    text = text[:1].upper() + text[1:]
    if len(text) <= limit:
        return text
    last = max((found.end() for found in _negations(_masked(text))), default=0)
    if last <= limit - 2:
        return _cut(text, limit - 1) + "…"
    tail = text[max(last - limit // 3, 0) :]
    return f"{_cut(text, limit // 3)} … {_cut(tail.partition(' ')[2] or tail, limit // 2)}".rstrip() + "…"


_SCRIPT_SHARE = 0.3
"""From this share of letters on a text is of a script whose negations are not known here."""
_LIMITING = ("only", "except")
_Side: TypeAlias = tuple[int, frozenset[str]]
"""How many negations a clause has, and which conditions turn its meaning round."""


@value
class _Marks:
    """What a text says that must not change."""

    negations: int = 0
    negation_words: tuple[str, ...] = ()
    conditions: frozenset[str] = frozenset()
    numbers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    flat: str = ""
    """Folded, for looking up a word in any case."""
    sides: dict[str, frozenset[_Side]] = field(default_factory=dict)
    """Word → how the clauses are negated and limited in which it stands."""
    is_understood: bool = True
    text: str = ""


@lru_cache(maxsize=512)
def _read(text: str) -> _Marks:
    masked = _masked(text)
    negations = tuple(found[0] for found in _negations(masked))
    letters = [char for char in text if char.isalpha()]
    unknown = sum(bool(_compiled(UNKNOWN_SCRIPT).match(char)) for char in letters)
    return _Marks(
        len(negations),
        negations,
        frozenset(name for name, words in CONDITIONS.items() if _compiled(words).search(masked)),
        _numbers(text),
        _names(text),
        _folded(text),
        _sides(masked),
        unknown <= _SCRIPT_SHARE * len(letters),
        text,
    )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: the tables are large, and most commands never compare anything."""
    return re.compile(pattern, re.VERBOSE) if "\n" in pattern else re.compile(pattern)


def _folded(text: str) -> str:
    flat = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").casefold()
    return " ".join(flat.split())


def _masked(text: str) -> str:
    """The text folded, identifiers made single words (`--no-verify` negates nothing), without a `no` that answers."""
    plain = _compiled(IDENTIFIER).sub(lambda found: re.sub(r"\W+", "_", f"_{found[0]}_"), text)
    pieces = []
    for sentence in _compiled(SENTENCE).split(plain):
        flat = _folded(sentence).strip(" \"'*>-")
        flat = _compiled(rf"\A(?:{ANSWER})(?:\s*[,.!;:，。！、]+|\s+[—–-]+\s|\s*[—–]|\Z)\s*").sub("", flat)
        pieces.append(_compiled(rf"\A{LASTING_LEAD}").sub("", flat))
    return "\n".join(pieces)


def _negations(masked: str) -> Iterator[re.Match[str]]:
    return _compiled(NEGATIONS).finditer(masked)


def _numbers(text: str) -> tuple[str, ...]:
    flat = _folded(text)
    found = [(each.start(), each[0].strip("+").replace(",", "")) for each in _compiled(NUMBER).finditer(flat)]
    found += [(each.start(), _han_number(each[0])) for each in _compiled(HAN_NUMBER).finditer(flat)]
    words = re.finditer(r"[^\W\d_]+", flat)
    found += [(each.start(), NUMBER_WORDS[each[0]]) for each in words if each[0] in NUMBER_WORDS]
    return tuple(dict.fromkeys(number for _, number in sorted(found)))


def _han_number(text: str) -> str:
    return "".join(HAN_DIGITS.get(char, char) for char in text)


def _names(text: str) -> tuple[str, ...]:
    """Identifiers, and what is written with a capital letter within a sentence or like a person at its beginning."""
    found = [(each.start(), each[0]) for each in _compiled(IDENTIFIER).finditer(text)]
    found += [(each.start(), each[0]) for each in _compiled(PERSON).finditer(text)]
    at = 0
    for sentence in _compiled(SENTENCE).split(text):
        at = text.index(sentence, at)
        opening = re.match(r"[\W_]*", sentence)
        start = opening.end() if opening else 0
        for each in _compiled(NAME).finditer(sentence):
            is_first = each.start() <= start or bool(
                re.search(r"[:：\"“]\W*\Z", sentence[max(0, each.start() - 4) : each.start()])
            )
            if _folded(each[0]) in NO_NAMES or (is_first and not _compiled(VERB_NEXT).match(sentence, each.end())):
                continue
            found.append((at + each.start(), each[0]))
    names = (_folded(name).strip("`").removesuffix("'s") for _, name in sorted(found))
    return tuple(dict.fromkeys(name for name in names if name))


def _sides(masked: str) -> dict[str, frozenset[_Side]]:
    sides: dict[str, set[_Side]] = {}
    for clause in _compiled(CLAUSE_END).split(masked):
        limits = frozenset(name for name in _LIMITING if _compiled(CONDITIONS[name]).search(clause))
        side = sum(1 for _ in _negations(clause)), limits
        for word in _words(clause):
            sides.setdefault(word, set()).add(side)
    return {word: frozenset(counts) for word, counts in sides.items()}


def _words(text: str) -> set[str]:
    """The words that carry meaning, cut to their stems: five letters, or pairs of characters without spaces."""
    plain = _compiled(NEGATIONS).sub(" ", text)
    spelled = _compiled(rf"(?:(?!{CJK})[^\W\d_]){{2,}}").findall(plain)
    words = {word[:5] for word in spelled if word not in STOPWORDS}
    for run in _compiled(rf"{CJK}+").findall(plain):
        words |= {run[start : start + 2] for start in range(len(run) - 1)}
    return words


def _without_resolved_dates(source: str, stored: str) -> str:
    """Without the calendar days that stand in brackets beside the words they were resolved from."""
    return _compiled(RESOLVED).sub(lambda found: found[0] if found[0].strip() in source else "", stored)


def _touched(said: _Marks, kept: _Marks) -> _Marks:
    """The sentences of a source that a stored text speaks of, with those behind them that limit what they say."""
    sentences = [each for each in _compiled(SENTENCE).split(said.text) if each.strip()]
    if len(sentences) <= 1:
        return said
    words = set(kept.sides)
    shares = [len(words & set(_read(each).sides)) / max(1, len(_read(each).sides)) for each in sentences]
    best = max(shares)
    if best == 0:
        return said
    chosen: list[str] = []
    previous = False
    for sentence, share in zip(sentences, shares, strict=True):
        limits = previous and bool(_compiled(LIMITS).match(_folded(sentence)))
        previous = limits or share >= min(best, 0.5)
        chosen += [sentence] if previous else []
    return _read("\n".join(chosen))


def _inverted(said: _Marks, kept: _Marks) -> Mismatch | None:
    """Whether a word stands in a negated clause on one side and never in such a one on the other."""
    wrong = [word for word, sides in kept.sides.items() if word in said.sides and not sides & said.sides[word]]
    return Mismatch(MismatchKind.negation, tuple(wrong)) if wrong else None


def _added(said: _Marks, kept: _Marks, *, is_title: bool) -> Iterator[Mismatch | None]:
    is_more = _most_negations(kept) > said.negations
    yield Mismatch(MismatchKind.negation, kept.negation_words) if is_more else None
    numbers = tuple(number for number in kept.numbers if number not in said.numbers)
    yield Mismatch(MismatchKind.number, numbers) if numbers else None
    names = tuple(name for name in kept.names if name not in said.flat)
    if is_title and _is_title_case(kept.text):
        names = ()
    yield Mismatch(MismatchKind.name, names) if names else None
    conditions = tuple(sorted(kept.conditions - said.conditions))
    yield Mismatch(MismatchKind.condition, conditions) if conditions else None


def _most_negations(kept: _Marks) -> int:
    return max((_read(each).negations for each in _compiled(SENTENCE).split(kept.text)), default=0)


def _missing(said: _Marks, kept: _Marks) -> Iterator[Mismatch | None]:
    yield Mismatch(MismatchKind.negation, said.negation_words) if kept.negations < said.negations else None
    numbers = tuple(number for number in said.numbers if number not in kept.numbers)
    yield Mismatch(MismatchKind.number, numbers) if numbers else None
    names = tuple(name for name in said.names if name not in kept.flat)
    yield Mismatch(MismatchKind.name, names) if names else None
    conditions = tuple(sorted(said.conditions - kept.conditions))
    yield Mismatch(MismatchKind.condition, conditions) if conditions else None
    for kind, mine, theirs in (
        (MismatchKind.number, said.numbers, kept.numbers),
        (MismatchKind.name, said.names, kept.names),
    ):
        shared = [each for each in theirs if each in mine]
        yield Mismatch(kind, tuple(shared)) if shared != [each for each in mine if each in theirs] else None


def _is_title_case(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{4,}", text)
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _statements(source: str, body: str) -> str:
    """The body without what is no statement of its own: where it applies, in the very words of the source."""
    flat = _folded(source)
    label = "**How to apply:**"
    kept = [
        each
        for each in body.split("\n\n")
        if not (each.startswith(label) and _folded(each.removeprefix(label)) in flat)
    ]
    return "\n".join(re.sub(r"\A\*\*[\w\s]+:\*\*\s*", "", each) for each in kept)


def _nearest(source: str, text: str) -> str:
    """The sentences of a source that a text speaks of, as they were said."""
    return _touched(_read(source), _read(text)).text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[:limit]
    space = head.rfind(" ")
    return (head[:space] if space > limit // 2 else head).rstrip(" ,;:，、")
