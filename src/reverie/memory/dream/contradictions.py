"""Finds pairs of memories on one subject that cannot both be true. They are reported; nothing is changed.

Only what is said first counts, without its reason, and two statements must be about the very same thing: all their
words agree but for a no, a number or day, one of two opposites, or the order of a preference. A rule with one word more
is an exception, not a contradiction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from reverie.memory.dream.proposal import Contradiction
from reverie.memory.search.analyze import terms
from reverie.memory.search.stem import stem
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.draft import find_stated_when
from reverie.memory.topics.topic import Topic
from reverie.patterns import lazy_regex
from reverie.values import value

FEWEST_WORDS = 2
"""With fewer, two statements agree in their words by chance, unless their descriptions tell them not apart."""
_LARGEST_GROUP = 50
"""So many memories that differ in a number alone are a list, not contradictions."""

_END = lazy_regex(
    r"[.;!?](?=\s|\Z)|[。；！？\n]|\s[—–-]\s|[,(]?\s*\b(?:because|since|so that|due to|otherwise|weil|damit|denn)\b"
    r"|，?(?:因为|因為|以便|否则)|ので|ため",
    re.IGNORECASE,
)
_NO = lazy_regex(
    r"\b(?:no longer|not any ?more|no|not|never|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|shouldn'?t"
    r"|mustn'?t|avoid|stop|forbid\w*|prohibit\w*|nicht|kein\w*|nie(?:mals)?|vermeide\w*|verboten)\b"
    r"|不要|不再|不用|从不|不|别|勿|禁止|避免|没有|没|無|ないで|ない|ません|やめ|避け",
    re.IGNORECASE,
)
_HALF_NO = lazy_regex(
    r"\bnot (?:only|just|even|always|necessarily|yet)\b|\bno (?:matter|problem)\b|不仅|不只|不一定", re.IGNORECASE
)
_ELSEWHERE = lazy_regex(r"(?:it|this|that|they|he|she|these|those|there|es|sie|er)\b|它|这|那", re.IGNORECASE)
"""What such a statement is about was said before it."""
_MORE = lazy_regex(
    r"\b(?:any ?more|any longer|from (?:now|today) on|as of (?:now|today)|still|always|please|mehr|immer|stets|bitte"
    r"|ab (?:jetzt|heute|sofort)|künftig)\b|从现在起|从今以后|今后|今後は?|これからは?"
    r"|总是|始终|一定要|务必|必须|永远|一律|优先|请|使用|要|用|常に|必ず|いつも|絶対に?|決して|利用|使",
    re.IGNORECASE,
)
"""What makes a statement stronger or weaker and not another."""
_KANA = lazy_regex(r"[ぁ-んァ-ヶ]")
_HIRAGANA = lazy_regex(r"[ぁ-ん]+")
"""In Japanese the subject is in the other scripts: these tell form and tense."""
_LETTER_NAME = lazy_regex(r"(?<=\w )[A-HJ-Z]\b(?![\w'])")
_PREFERENCE = lazy_regex(
    r"\s*(?:,\s*(?:and\s+)?not|\binstead of|\brather than|(?<=\w)\s+over|\bstatt|而不是)\s+|而不是", re.IGNORECASE
)
_PREFERS = lazy_regex(r"\b(?:prefer\w*|choose|favou?r)\b", re.IGNORECASE)
_PAST = lazy_regex(
    r"\b(?:was|were|did|didn'?t|had|went|made|got|took|came|said|ran|met|bought|wrote|saw|won|lost|gave|began"
    r"|(?!need|speed|feed|seed|embed|shared?\b)\w{3,}ed(?= (?:on|at|with|\d|last|yesterday|the|a|an)\b)|yesterday|ago"
    r"|last (?:week|month|year)|war|wurde|hatte)\b|昨天|上周",
    re.IGNORECASE,
)
_PASSIVE = lazy_regex(r"\b(?:is|are|be|been|being|gets?|wird|werden)\s+(?:\w+\s+)?\w+ed\b", re.IGNORECASE)
_DAYS = (
    r"(?:周|星期|礼拜)[一二三四五六日天]|[月火水木金土日]曜日?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?"
)
_VALUE = lazy_regex(
    rf"(?<![a-z_0-9.#/-])\d+(?:[.,:/-]\d+)*(?=(?:ms|s|min|m|h|d|k|kb|mb|gb|px|%)?(?![a-z_0-9/-]))"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b"
    rf"|(?<![a-z])(?:{_DAYS})(?![a-z])",
    re.IGNORECASE,
)
_NUMBERED = lazy_regex(
    r"(?:#|\b(?:issue|ticket|bug|pr|mr|request|step|phase|stage|rule|item|part|chapter|section|sprint|milestone|task"
    r"|case|shard|replica|node|host|room|floor|line|page|figure|table|level|day|week|round|lesson|version)s?\s*#?)\s*\d",
    re.IGNORECASE,
)
"""Such a number is a name: two of them are two things."""
_OPPOSITES = {
    stem(word): (stem(one), side)
    for one, other in (
        ("before", "after"),
        ("with", "without"),
        ("enable", "disable"),
        ("include", "exclude"),
        ("manually", "automatically"),
        ("optional", "required"),
        ("mandatory", "voluntary"),
        ("uppercase", "lowercase"),
        ("on", "off"),
    )
    for side, word in enumerate((one, other))
}
_QUALITIES = {
    stem(word): (stem(one), side)
    for one, other in (
        ("single", "double"),
        ("short", "long"),
        ("public", "private"),
        ("light", "dark"),
        ("synchronous", "asynchronous"),
        ("relative", "absolute"),
        ("singular", "plural"),
        ("brief", "detailed"),
    )
    for side, word in enumerate((one, other))
}
"""Opposites only as what is wanted (`use short names`): as part of a subject they tell two things apart."""
_WANTED = lazy_regex(
    r"\b(?:use|prefer|write|keep|make|choose|want|like|verwend|nutz|benutz|schreib)(?:s|e|en|ing)?\s+(?:\w+\s+)?\Z",
    re.IGNORECASE,
)
_WISH = "(?:(?<=use )|(?<=prefer )|(?<=verwende )|(?<=nutze )|(?<=with ))"
_ONE_OF = {
    "indentation": (rf"{_WISH}tabs\b|制表符|タブ", rf"{_WISH}(?:spaces|leerzeichen)\b|空格|スペース"),
    "case": (r"\bsnake[_ -]case\b", r"\bcamel[_ -]?case\b", r"\bkebab[_ -]case\b", r"\bpascal[_ -]?case\b"),
    "language": tuple(
        rf"(?:(?<=\bin )|(?<=\bauf ))(?:{latin})\b|(?<!说)(?<!会)(?:{other})(?!を?話)"
        for latin, other in (
            ("english|englisch", "英文|英语|英語"),
            ("german|deutsch", "德文|德语|ドイツ語"),
            ("chinese|chinesisch", "中文|汉语|中国語"),
            ("japanese|japanisch", "日文|日语|日本語"),
            ("french|französisch", "法文|法语|フランス語"),
            ("spanish|spanisch", "西班牙语|スペイン語"),
        )
    ),
}
_ONE_OF_THEM = {
    (group, side): lazy_regex(pattern, re.IGNORECASE)
    for group, sides in _ONE_OF.items()
    for side, pattern in enumerate(sides)
}
"""Of such a group only one can be wanted."""
_EMPTY = frozenset(
    map(
        stem,
        (
            *("must", "should", "shall", "always", "please", "ever", "really", "just", "sure", "use", "user"),
            *("do", "directly", "any", "generally", "usually", "prefer", "favour", "allowed", "permitted", "welcome"),
            *(
                "benutze",
                "benutzen",
                "verwende",
                "verwenden",
                "nutze",
                "nutzen",
                "bevorzuge",
                "immer",
                "stets",
                "bitte",
            ),
            *("erlaubt", "wir"),
        ),
    )
)
"""Words without which a statement is the same."""


@value
class _Claim:
    """What a statement says, apart from what it is about."""

    is_negated: bool = False
    values: tuple[str, ...] = ()
    sides: tuple[tuple[str, int], ...] = ()
    is_short: bool = False
    rather: frozenset[str] = frozenset()
    """Of a preference, the words before what it is preferred to."""


def contradictions(topics: Sequence[Topic]) -> tuple[Contradiction, ...]:
    """What cannot both hold, in the order of paths."""
    groups: dict[object, list[tuple[Topic, str, _Claim]]] = defaultdict(list)
    for topic in topics:
        rule = first_statement(topic.body.strip() or topic.description)
        read = _read(rule)
        if read is not None:
            about = frozenset(normal(each) for each in topic.about)
            groups[about, read[0]].append((topic, rule, read[1]))
    contradictions_found = []
    for group in groups.values():
        if len(group) > _LARGEST_GROUP:
            continue
        for earlier, later in combinations(group, 2):
            if _are_apart(earlier[0], later[0], earlier[2], later[2]):
                continue
            for reason in _opposition(earlier[2], later[2]):
                old, new = sorted((earlier, later), key=lambda each: _age(each[0]))
                paths = old[0].path, new[0].path
                says = _short(old[1]), _short(new[1])
                contradictions_found.append(Contradiction(paths, says, reason, (_source(old[0]), _source(new[0]))))
    return tuple(sorted(contradictions_found, key=lambda each: each.paths))


def first_statement(text: str) -> str:
    """What is said first in a text, without why."""
    ends = (match.start() for match in _END.finditer(text))
    return next((part for end in ends if len(part := text[:end].strip()) > 1), text.strip())


def _read(rule: str) -> tuple[object, _Claim] | None:
    """What a statement is about, and what it says of it; None when it is too short or too vague to tell."""
    if _HALF_NO.search(rule) or _ELSEWHERE.match(rule):
        return None
    parts = _PREFERENCE.split(rule, maxsplit=1)
    if len(parts) == 2 and (_PREFERS.search(rule) or not re.search(r"\bover\b", rule)):
        rather, than = _words(parts[0]), _words(parts[1])
        both = rather | than
        return (("preference", both), _Claim(rather=rather)) if len(both) >= FEWEST_WORDS else None
    values: tuple[str, ...] = ()
    remaining = rule
    if not _NUMBERED.search(rule) and (not _PAST.search(rule) or _PASSIVE.search(rule)):
        values = tuple(match[0].casefold().rstrip("s") for match in _VALUE.finditer(rule))
        remaining = _VALUE.sub(" ", rule)
    chosen: list[tuple[str, int]] = []
    remaining = " ".join(_MORE.sub(_gap, _NO.sub(_gap, remaining)).split())
    for side, pattern in _ONE_OF_THEM.items():
        remaining, count = pattern.subn(_gap, remaining)
        chosen += [side] * bool(count)
    sides, statement = _sides(remaining)
    if _KANA.search(rule):
        statement = _HIRAGANA.sub("", statement)
    words = _words(statement) | frozenset(_LETTER_NAME.findall(statement))
    is_short = len(words) + len(values) < FEWEST_WORDS
    sides = tuple(sorted((*sides, *chosen)))
    if not words and not chosen:
        return None
    subject = words, len(values), tuple(name for name, _ in sides)
    return subject, _Claim(len(_NO.findall(rule)) % 2 == 1, values, sides, is_short=is_short)


def _gap(match: re.Match[str]) -> str:
    """Scripts without spaces are read in pairs of characters, which a gap would tear apart."""
    return " " if match[0].isascii() else ""


def _are_apart(mine_topic: Topic, their_topic: Topic, mine: _Claim, theirs: _Claim) -> bool:
    """Whether two memories hold in different situations, or of two short statements each is about another thing."""
    my_when, their_when = find_stated_when(mine_topic), find_stated_when(their_topic)
    if my_when is not None and their_when is not None and my_when != their_when:
        return True
    if not mine.is_short and not theirs.is_short:
        return False
    first, second = (_about(topic) for topic in (mine_topic, their_topic))
    return not (first <= second or second <= first)


def _about(topic: Topic) -> frozenset[str]:
    """The words of a description without those in which opposites may differ."""
    text = _MORE.sub(_gap, _NO.sub(_gap, topic.description))
    for pattern in _ONE_OF_THEM.values():
        text = pattern.sub(_gap, text)
    text = _sides(text)[1]
    return _words(_HIRAGANA.sub("", text) if _KANA.search(text) else text)


def _sides(text: str) -> tuple[tuple[tuple[str, int], ...], str]:
    """The opposites in a text, each with its side, and the text without them."""
    sides: list[tuple[str, int]] = []
    words: list[str] = []
    done = 0
    for match in re.finditer(r"[^\W\d_]+", text):
        word = stem(match[0].casefold())
        opposite = _OPPOSITES.get(word) or _QUALITIES.get(word)
        if opposite is not None and (word in _OPPOSITES or _WANTED.search(text[: match.start()])):
            sides.append(opposite)
            words.append(text[done : match.start()])
            done = match.end()
    return tuple(sorted(sides)), "".join([*words, text[done:]])


def _words(text: str) -> frozenset[str]:
    return frozenset(terms(text)) - _EMPTY


def _opposition(one: _Claim, other: _Claim) -> Iterator[str]:
    """Why two statements on one thing cannot both hold; nothing when they differ twice, which may agree."""
    if one.rather or other.rather:
        if one.rather - other.rather and other.rather - one.rather:
            yield "one prefers what the other does not"
        return
    sides = sum(mine != theirs for mine, theirs in zip(one.sides, other.sides, strict=True))
    differs = one.is_negated != other.is_negated, one.values != other.values, sides > 0
    match differs:
        case (True, False, False):
            yield "one says the opposite of the other"
        case (False, True, False):
            yield "they give different numbers or days for the same thing"
        case (False, False, True) if sides == 1:
            yield "one says the opposite of the other"


def _source(topic: Topic) -> str:
    day = f"on {topic.observed.isoformat()}" if topic.observed else ""
    session = next((f"in session {each.session}" for each in topic.sources if each.session), "")
    return " ".join(filter(None, (topic.trust and topic.trust.value, day, session)))


def _age(topic: Topic) -> tuple[str, str]:
    day = topic.observed
    return (day.isoformat() if day else "", topic.path)


def _short(text: str, limit_chars: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit_chars else flat[: limit_chars - 1] + "…"
