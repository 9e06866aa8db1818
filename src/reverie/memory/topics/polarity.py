"""Checks that a memory says what its quote says: same negations, numbers, names and conditions.

`find_mismatch` compares one stored text with its source; `keep_as_said` holds a topic against its quotes and puts the
source sentence in the place of what differs. Lists of words name what differs where they can; what they do not know is
caught by the rule behind them: a text leaves out of its source only what leads up to it, adds no word, and keeps the
order. Pure, for many languages, and deliberately suspicious: a false alarm costs a paraphrase, a miss costs a memory
that says the opposite. It knows nothing of the rules or models that wrote a text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from enum import StrEnum
from functools import cache, lru_cache
from typing import TypeAlias

from reverie.memory.topics.polarity_words import (
    ANSWER,
    CJK,
    CLAUSE_END,
    COMPARING,
    CONDITIONS,
    CONFIRMATION,
    EXCEPTING,
    HAN_DIGITS,
    HAN_NUMBER,
    IDENTIFIER,
    INFLECTIONS,
    LASTING_LEAD,
    LEAD,
    LIMITS,
    NAME,
    NEGATIONS,
    NEW_CLAUSE,
    NO_NAMES,
    NUMBER,
    NUMBER_WORDS,
    PERSON,
    RESOLVED,
    SPELLINGS,
    STOPWORDS,
    TAIL,
    TITLE_WORDS,
    UNKNOWN_SCRIPT,
    UNSAID,
    VERB_NEXT,
)
from reverie.memory.topics.value import Topic, Trust
from reverie.patterns import split_sentences
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
    wording = "wording"


@value
class PolarityMismatch:
    """A difference in meaning between a stored text and its source."""

    kind: MismatchKind
    words: tuple[str, ...]
    """What is missing, was added, or stands with another word."""

    def __str__(self) -> str:
        return f"another {self.kind} than its source ({', '.join(self.words)})"


def find_mismatch(source: str, stored: str, *, is_title: bool = False) -> PolarityMismatch | None:
    """The first difference in meaning between a text and the words that it was made of.

    A title may leave things out, but what it mentions must not be inverted, and nothing may be added. Sentences of the
    source that the stored text does not touch may be missing, unless they limit the one before.
    """
    if _fold_text(source).strip(" .!。！") == _fold_text(stored).strip(" .!。！"):
        return None
    source, stored = source[:_COMPARED_CHARS], stored[:_COMPARED_CHARS]
    source_marks, stored_marks = _read(source), _read(_strip_resolved_dates(source, stored))
    if not source_marks.is_understood and not is_title:
        # Negation in this script is not known: only the words themselves are sure to mean the same.
        return None if _fold_text(source) in _fold_text(stored) else PolarityMismatch(MismatchKind.negation, (source,))
    touched = source_marks if is_title else _select_related_sentences(source_marks, stored_marks)
    checks = [
        _find_inversion(source_marks, stored_marks),
        *_find_additions(source_marks, stored_marks, is_title=is_title),
    ]
    checks += [_find_dropped_condition(source_marks, stored_marks)] if is_title else _missing(touched, stored_marks)
    return next((mismatch for mismatch in checks if mismatch), None) or _find_rewording(
        touched, stored_marks, is_title=is_title
    )


def is_substituted(source: str, stored: str) -> bool:
    """Whether a text of nearly the same words has others in the place of some, or an order that says otherwise."""
    source_words, stored_words = _extract_words(source), _extract_words(stored)
    is_new = any(not _is_found(word, _places(source)) for word in stored_words)
    is_left_out = any(not _is_found(word, _places(stored)) for word in source_words)
    if is_new or is_left_out:
        return is_new and is_left_out
    return bool(_compile(COMPARING).search(_fold_text(source))) and not _is_selection(stored_words, _places(source))


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
    differs = find_mismatch(source, topic.description), _find_in_body(source, topic.body)
    if any(differs):
        sentence = _nearest(source, f"{topic.name}\n{topic.description}")
        is_reworded = all(each is None or each.kind is MismatchKind.wording for each in differs)
        added = _find_added_paragraphs(source, topic.body) if is_reworded else ()
        keeps_name = is_reworded and not find_mismatch(source, topic.name, is_title=True)
        name = topic.name if keeps_name else make_title(sentence)
        body = "\n\n".join((source, *added))
        return replace(topic, name=name, description=" ".join(sentence.split()), body=body)
    if find_mismatch(source, topic.name, is_title=True):
        return replace(topic, name=make_title(_nearest(source, topic.description)))
    return topic


def find_distortion(topic: Topic, old: Topic | None = None) -> PolarityMismatch | None:
    """In what a topic says otherwise than the words it quotes; None where it says what it said before.

    Of several quotes, as of a topic that was brought up to date, it need say what one of them says.
    """
    quotes = [quote for each in topic.sources if (quote := (each.quote or "").strip()) and not is_confirmation(quote)]
    before = [] if old is None else [each for each in (old.description, *_paragraphs(old.body)) if each.strip()]
    fresh = [each for each in _paragraphs(topic.body) if not any(_fold_text(old) in _fold_text(each) for old in before)]
    texts = [] if topic.description in before else [topic.description]
    mismatch: PolarityMismatch | None = None
    for source in dict.fromkeys(("\n".join(quotes), *quotes)) if quotes else ():
        mismatch = next(filter(None, (find_mismatch(source, each) for each in texts)), None)
        if fresh and _find_in_body(source, topic.body):
            mismatch = mismatch or _find_in_body(source, "\n\n".join(fresh))
        if old is None or old.name != topic.name:
            mismatch = mismatch or find_mismatch(source, topic.name, is_title=True)
        if mismatch is None:
            return None
    return mismatch


def count_negations(text: str) -> int:
    """How often a text says not."""
    return sum(1 for _ in _negations(_mask_identifiers(text)))


def stops_before_clause(source: str, stored: str) -> bool:
    """Whether a text is its source up to where a clause with a subject of its own begins."""
    said, bare = _fold_text(source), _fold_text(stored).strip(" .!。！")
    start = said.find(bare)
    return start >= 0 and bool(_compile(NEW_CLAUSE).match(said[start + len(bare) :]))


def is_confirmation(text: str) -> bool:
    """Whether a text only approves of what was before it: `yes`, `perfect, exactly like that`."""
    return bool(_compile(rf"(?:{CONFIRMATION}(?!\w)|[\s,.!，。！、;:])+").fullmatch(_fold_text(text)))


def make_title(sentence: str, limit: int = TITLE_CHARS) -> str:
    """A sentence as a title: whole where it is short, else cut with an ellipsis, never before a negation of it."""
    text = " ".join(sentence.split()).strip(" .。!！,，;；:：")
    text = text[:1].upper() + text[1:]
    if len(text) <= limit:
        return text
    last = max((match.end() for match in _negations(_mask_identifiers(text))), default=0)
    if last <= limit - 2:
        return _cut(text, limit - 1) + "…"
    if len(text) <= limit * 3 // 2:
        return text  # a little too long, which is better than a gap before its negation
    tail = text[max(last - limit // 3, 0) :]
    return f"{_cut(text, limit // 3)} … {_cut(tail.partition(' ')[2] or tail, limit // 2)}".rstrip() + "…"


_HOW = "**How to apply:**"
_SCRIPT_SHARE = 0.3
"""From this share of letters on a text is of a script whose negations are not known here."""
_LIMITING = ("only", "except", "at least", "at most", "may")
_STATEMENT_WORDS = 3
"""A title of fewer words names a subject and states nothing."""
_STEM_CHARS = 3
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
    masked = _mask_identifiers(text)
    negations = tuple(match[0] for match in _negations(masked))
    letters = [char for char in text if char.isalpha()]
    unknown = sum(bool(_compile(UNKNOWN_SCRIPT).match(char)) for char in letters)
    return _Marks(
        len(negations),
        negations,
        frozenset(name for name, words in CONDITIONS.items() if _compile(words).search(masked)),
        _numbers(text),
        _names(text),
        _fold_text(text),
        _sides(masked),
        unknown <= _SCRIPT_SHARE * len(letters),
        text,
    )


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: the tables are large, and most commands never compare anything."""
    return re.compile(pattern, re.VERBOSE) if "\n" in pattern else re.compile(pattern)


def _fold_text(text: str) -> str:
    flat = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'").casefold()
    return " ".join(flat.split())


def _mask_identifiers(text: str) -> str:
    """The text folded, identifiers made single words (`--no-verify` negates nothing), without a `no` that answers."""
    plain = _compile(IDENTIFIER).sub(lambda match: re.sub(r"\W+", "_", f"_{match[0]}_"), text)
    pieces = []
    for sentence in split_sentences(plain):
        flat = _fold_text(sentence).strip(" \"'*>-")
        flat = _compile(rf"\A(?:{ANSWER})(?:\s*[,.!;:，。！、]+|\s+[—–-]+\s|\s*[—–]|\Z)\s*").sub("", flat)
        pieces.append(_compile(rf"\A{LASTING_LEAD}").sub("", flat))
    return "\n".join(pieces)


def _negations(masked: str) -> Iterator[re.Match[str]]:
    return _compile(NEGATIONS).finditer(masked)


def _numbers(text: str) -> tuple[str, ...]:
    flat = _fold_text(text)
    numbers = [(each.start(), each[0].strip("+").replace(",", "")) for each in _compile(NUMBER).finditer(flat)]
    numbers += [(each.start(), _han_number(each[0])) for each in _compile(HAN_NUMBER).finditer(flat)]
    words = re.finditer(r"[^\W\d_]+", flat)
    numbers += [(each.start(), NUMBER_WORDS[each[0]]) for each in words if each[0] in NUMBER_WORDS]
    return tuple(dict.fromkeys(number for _, number in sorted(numbers)))


def _han_number(text: str) -> str:
    return "".join(HAN_DIGITS.get(char, char) for char in text)


def _names(text: str) -> tuple[str, ...]:
    """Identifiers, and what is written with a capital letter within a sentence or like a person at its beginning."""
    named_at = [(each.start(), each[0]) for each in _compile(IDENTIFIER).finditer(text)]
    named_at += [(each.start(), each[0]) for each in _compile(PERSON).finditer(text)]
    at = 0
    for sentence in split_sentences(text):
        at = text.index(sentence, at)
        opening = re.match(r"[\W_]*", sentence)
        start = opening.end() if opening else 0
        for each in _compile(NAME).finditer(sentence):
            is_first = each.start() <= start or bool(
                re.search(r"[:：\"“]\W*\Z", sentence[max(0, each.start() - 4) : each.start()])
            )
            if _fold_text(each[0]) in NO_NAMES or (is_first and not _compile(VERB_NEXT).match(sentence, each.end())):
                continue
            named_at.append((at + each.start(), each[0]))
    names = (_fold_text(name).strip("`").removesuffix("'s") for _, name in sorted(named_at))
    return tuple(dict.fromkeys(name for name in names if name))


def _sides(masked: str) -> dict[str, frozenset[_Side]]:
    sides: dict[str, set[_Side]] = {}
    for clause in _compile(CLAUSE_END).split(masked):
        limits = frozenset(name for name in _LIMITING if _compile(CONDITIONS[name]).search(clause))
        side = sum(1 for _ in _negations(clause)), limits
        for word in _words(clause):
            sides.setdefault(word, set()).add(side)
    return {word: frozenset(counts) for word, counts in sides.items()}


def _words(text: str) -> set[str]:
    """The words that carry meaning, cut to their stems: five letters, or pairs of characters without spaces."""
    plain = _compile(NEGATIONS).sub(" ", text)
    spelled = _compile(rf"(?:(?!{CJK})[^\W\d_]){{2,}}").findall(plain)
    words = {word[:5] for word in spelled if word not in STOPWORDS}
    for run in _compile(rf"{CJK}+").findall(plain):
        words |= {run[start : start + 2] for start in range(len(run) - 1)}
    return words


def _strip_resolved_dates(source: str, stored: str) -> str:
    """Without the calendar days that stand in brackets beside the words they were resolved from."""
    return _compile(RESOLVED).sub(lambda match: match[0] if match[0].strip() in source else "", stored)


def _select_related_sentences(source: _Marks, stored: _Marks) -> _Marks:
    """The sentences of a source that a stored text speaks of, with those behind them that limit what they say."""
    sentences = split_sentences(source.text)
    if len(sentences) <= 1:
        return source
    words = set(stored.sides)
    shares = [len(words & set(_read(each).sides)) / max(1, len(_read(each).sides)) for each in sentences]
    best = max(shares)
    if best == 0:
        return source
    chosen: list[str] = []
    previous = False
    for sentence, share in zip(sentences, shares, strict=True):
        limits = previous and bool(_compile(LIMITS).match(_fold_text(sentence)))
        previous = limits or share >= min(best, 0.5)
        chosen += [sentence] if previous else []
    return _read("\n".join(chosen))


def _find_inversion(source: _Marks, stored: _Marks) -> PolarityMismatch | None:
    """Whether a word stands in a negated clause on one side and never in such a one on the other."""
    wrong = [word for word, sides in stored.sides.items() if word in source.sides and not sides & source.sides[word]]
    if not wrong:
        return None
    negated = [word for word in wrong if not _counts(stored.sides[word]) & _counts(source.sides[word])]
    return PolarityMismatch(MismatchKind.negation if negated else MismatchKind.condition, tuple(negated or wrong))


def _counts(sides: frozenset[_Side]) -> set[int]:
    return {count for count, _ in sides}


def _find_additions(source: _Marks, stored: _Marks, *, is_title: bool) -> Iterator[PolarityMismatch | None]:
    is_more = _most_negations(stored) > source.negations
    yield PolarityMismatch(MismatchKind.negation, stored.negation_words) if is_more else None
    numbers = tuple(number for number in stored.numbers if number not in source.numbers)
    yield PolarityMismatch(MismatchKind.number, numbers) if numbers else None
    names = tuple(name for name in stored.names if name not in source.flat)
    if is_title and _is_title_case(stored.text):
        names = ()
    yield PolarityMismatch(MismatchKind.name, names) if names else None
    conditions = tuple(sorted(stored.conditions - source.conditions))
    yield PolarityMismatch(MismatchKind.condition, conditions) if conditions else None


def _most_negations(stored: _Marks) -> int:
    return max((_read(each).negations for each in split_sentences(stored.text)), default=0)


def _missing(source: _Marks, stored: _Marks) -> Iterator[PolarityMismatch | None]:
    yield (
        PolarityMismatch(MismatchKind.negation, source.negation_words) if stored.negations < source.negations else None
    )
    numbers = tuple(number for number in source.numbers if number not in stored.numbers)
    yield PolarityMismatch(MismatchKind.number, numbers) if numbers else None
    names = tuple(name for name in source.names if name not in stored.flat)
    yield PolarityMismatch(MismatchKind.name, names) if names else None
    conditions = tuple(sorted(source.conditions - stored.conditions))
    yield PolarityMismatch(MismatchKind.condition, conditions) if conditions else None
    for kind, mine, theirs in (
        (MismatchKind.number, source.numbers, stored.numbers),
        (MismatchKind.name, source.names, stored.names),
    ):
        shared = [each for each in theirs if each in mine]
        yield PolarityMismatch(kind, tuple(shared)) if shared != [each for each in mine if each in theirs] else None


def _find_dropped_condition(source: _Marks, stored: _Marks) -> PolarityMismatch | None:
    """Whether a title that is a statement of its own leaves out on what condition it holds."""
    stored_words = _extract_words(stored.text)
    if len(stored_words) < _STATEMENT_WORDS or not _is_selection(stored_words, _places(source.text)):
        return None
    missing = tuple(sorted(_select_related_sentences(source, stored).conditions - stored.conditions))
    if missing and stops_before_clause(source.text, stored.text):
        return None
    return PolarityMismatch(MismatchKind.condition, missing) if missing else None


def _find_rewording(source: _Marks, stored: _Marks, *, is_title: bool) -> PolarityMismatch | None:
    """Whether a text adds words, changes their order, or leaves out more than what leads up to a statement."""
    places = _places(source.text)
    is_free = is_title and not _compile(COMPARING).search(source.flat)
    for sentence in split_sentences(stored.text):
        words = [
            word
            for word in _extract_words(sentence)
            if not is_title or word not in TITLE_WORDS or _is_found(word, places)
        ]
        new = [word for word in words if not _is_found(word, places)]
        if new:
            return PolarityMismatch(MismatchKind.wording, tuple(new))
        if not is_free and not _is_selection(words, places):
            return PolarityMismatch(MismatchKind.wording, tuple(words))
    if is_title or stored.text.rstrip().endswith("…"):
        return None
    stored_places = _places(stored.text)
    left_out = tuple(word for word in _extract_words(source.text) if not _is_found(word, stored_places))
    return PolarityMismatch(MismatchKind.wording, left_out) if left_out else None


@lru_cache(maxsize=512)
def _extract_words(text: str) -> tuple[str, ...]:
    """The words of a text in order, without what leads up to a statement, follows it in courtesy, or says nothing."""
    words: list[str] = []
    for sentence in _mask_identifiers(text).split("\n"):
        plain = _compile(TAIL).sub("", _compile(rf"\A(?:{LEAD})+").sub("", sentence)) or sentence
        for pattern, spelled in SPELLINGS:
            plain = _compile(pattern).sub(spelled, plain)
        words += _compile(rf"{CJK}|\d+|(?:(?!{CJK})[^\W\d_])+|[$€£¥%]").findall(plain)
    return tuple(NUMBER_WORDS.get(word) or HAN_DIGITS.get(word) or word for word in words if word not in UNSAID)


@lru_cache(maxsize=64)
def _places(text: str) -> dict[str, list[int]]:
    """Where the words of a text stand in it, by each of their stems."""
    places: dict[str, list[int]] = {}
    for place, word in enumerate(_extract_words(text)):
        for stem in _stems(word):
            places.setdefault(stem, []).append(place)
    return places


def _is_found(word: str, places: dict[str, list[int]]) -> bool:
    return any(stem in places for stem in _stems(word))


def _is_selection(words: Iterable[str], places: dict[str, list[int]]) -> bool:
    """Whether words stand in a source in the same order."""
    last = -1
    for word in words:
        later = (next((place for place in places.get(stem, ()) if place > last), None) for stem in _stems(word))
        last = min((place for place in later if place is not None), default=-1)
        if last < 0:
            return False
    return True


@lru_cache(maxsize=4096)
def _stems(word: str) -> tuple[str, ...]:
    """The word, and without each ending that it may have."""
    shorter = (word.removesuffix(ending) for ending in INFLECTIONS if ending and word.endswith(ending))
    return (word, *(stem for stem in shorter if len(stem) >= _STEM_CHARS))


def _is_title_case(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{4,}", text)
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _paragraphs(body: str) -> list[str]:
    return body.strip().split("\n\n") if body.strip() else []


def _find_in_body(source: str, body: str) -> PolarityMismatch | None:
    """The first difference of a body; what it adds to the statement is not compared word by word."""
    whole = _statements(source, _paragraphs(body))
    mismatch = find_mismatch(source, whole)
    if mismatch is None or mismatch.kind is not MismatchKind.wording:
        return mismatch
    added = _find_added_paragraphs(source, body)
    return find_mismatch(source, _statements(source, [each for each in _paragraphs(body) if each not in added]))


def _find_added_paragraphs(source: str, body: str) -> tuple[str, ...]:
    """The paragraphs behind the first that speak of something else than the source, such as how to apply it."""
    return tuple(each for each in _paragraphs(body)[1:] if not _is_about(source, _statements(source, [each])))


def _is_about(source: str, text: str) -> bool:
    words = set(_extract_words(text))
    return 2 * sum(_is_found(word, _places(source)) for word in words) >= len(words)


def _statements(source: str, paragraphs: Iterable[str]) -> str:
    """Paragraphs without what is no statement of its own: where it applies, in the very words of the source."""
    flat = _fold_text(source)
    statements = []
    for each in paragraphs:
        use = _fold_text(each.removeprefix(_HOW)) if each.startswith(_HOW) else ""
        is_exception = _compile(rf"{EXCEPTING}{re.escape(use)}").search(flat) if use else None
        if not use or use not in flat or is_exception:
            statements.append(re.sub(r"\A\*\*[\w\s]+:\*\*\s*", "", each))
    return "\n".join(statements)


def _nearest(source: str, text: str) -> str:
    """The sentences of a source that a text speaks of, as they were said."""
    return _select_related_sentences(_read(source), _read(text)).text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[:limit]
    space = head.rfind(" ")
    return (head[:space] if space > limit // 2 else head).rstrip(" ,;:，、")
