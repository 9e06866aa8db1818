"""Words a memory from the user's sentence: title, statement, reason and use, in the user's own words.

Nothing is added but the labels `**Why:**` and `**How to apply:**`, and days beside relative dates; nothing is left out
but what leads up to the statement, and only where negations, numbers, names and conditions stay.
"""

from __future__ import annotations

import re
from datetime import date

from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.extraction.phrases import LABEL, REASON
from reverie.memory.extraction.titles import NAME_CHARS, write_title
from reverie.memory.topics.polarity import find_mismatch
from reverie.memory.topics.topic import MemoryType
from reverie.patterns import lazy_regex, split_sentences
from reverie.values import value

WHY = "**Why:**"
APPROVES = "**What was done:**"
DESCRIPTION_CHARS = 200
_FLAGS = re.VERBOSE | re.IGNORECASE

_LEAD = lazy_regex(
    rf"""\A(?:{LABEL}
      |(?:heads[\s-]up|psa|(?:\w+\s){{0,2}}(?:reminder|note|request)(?=:)|honestly|right|good|fair|fine|sure)\b[\s,.:;!—–-]+
      |
      (?:no(?:pe)?(?:[,.:;!—–]+|\s-)|nein[,.!]|不，|いいえ、)\s*
      |(?:(?:ok(?:ay)?|yes|yeah|so|and|but|also|well|hey|oh|hi|please|actually|btw|by\sthe\sway|thanks?|perfect|great|exactly
        |again|fyi|for\sthe\srecord|for\sfuture\sreference|as\sa\s(?:general\s)?rule(?:\sof\sthumb)?|then)\b[\s,.:;!—–-]*)
      |(?:please\s)?(?:remember|keep\sin\smind|bear\sin\smind|note)(?:\s(?:that|this))?[\s:,]+
      |(?:from\snow\son|from\shere\son|going\sforward|in\sgeneral|in\s(?:the\s)?future)[\s,:]+
      |i\swant\syou\sto\s|make\ssure\s(?:that\s)?you\s|make\ssure\sto\s|you\s(?:should|must)\s
      |(?:好的?|嗯|对|就是这样|那么|另外|还有)[，,。\s]+|(?:请|你?要)?(?:记住|记得)[：:，,\s]*|(?:从现在开始|以后|今后|从今以后)[，,]?|请(?=\S)
      |(?:bitte|merk\sdir|ab\sjetzt|und|aber)[\s:,]+|覚えておいて[：:、,\s]*|これからは[、,]?
    )""",
    _FLAGS,
)
_LABEL = lazy_regex(rf"\A(?:{LABEL})\s*", _FLAGS)
_WHY = lazy_regex(
    r"""(?:[,;—–-]\s*|\s+)(?P<mark>because|since(?!\s\d)|so\sthat|otherwise|or\selse|as\sotherwise|weil|(?<!sei\s)denn|sonst|porque|ya\sque|(?:que\s)?si\sno|sinon|parce\sque|parce\squ'|puisque?|car)\b[,\s]*
        (?:of\s)?(?P<why>.{6,})\Z
      |[，,；]?\s*(?:因为|由于|否则|不然)(?P<han>.{3,})\Z|[，,](?P<last>上次.{3,})\Z""",
    _FLAGS | re.DOTALL,
)
_WHY_FIRST = lazy_regex(r"\A(?:because|since|as)\s(?P<why>[^,]{6,}),\s|\A(?:因为|由于)(?P<han>[^，]{3,})，", _FLAGS)
_ASIDE = lazy_regex(
    r",\s(?P<why>(?:it|they|that|the|other|otherwise|analytics|release|mocks?)\s(?!is\b.{0,3}\Z|means\b)[^,]{8,})\Z",
    _FLAGS,
)
_HOW = lazy_regex(
    r"""\b(?P<how>(?:when(?:ever)?|before|after|while|if|every\stime|each\stime)\s(?:you|i|we|\w+ing)\b[^,;.]{2,60}
      |before\s\w+ing\s[^,;.]{2,50}
      |(?:in|for)\s(?:integration\stests|unit\stests|tests|code|commit\smessages|commits|pull\srequests|prs|refactors?
      |refactoring|docs|reviews|production|this\srepo(?:'s\s\w+)?|this\sproject))\b
      |(?P<han>(?:改|写|提交|安装|回答|测试|发布|部署|重构)[^，。]{0,12}(?:时|之前|之后|的时候))""",
    _FLAGS,
)
_NOT_THERE = lazy_regex(
    r"\b(?:except|unless|not|outside|even|hate|love|like|dislike|mind|than|from|stand|only)(?:\s(?:it|for))*\s*\Z",
    re.IGNORECASE,
)
_NEXT_REASON = lazy_regex(
    r"""\A(?:because|since|otherwise|that'?s\s(?:because|what|why|how)|the\sreason|it\sonce|last\s(?:time|week|month|quarter|year|spring|summer|autumn|fall|winter)|we\shad
      |we\sonce|mocks?\s|this\sonce|i\s(?:don'?t\slike|can|never|hate|already|keep)|because\sof|that\sway|nobody|everyone|people)\b
      |\A[^?]{0,60}?\b(?:hid|broke|burn(?:ed|t)\sus|bit\sus|leaked|slipped|went\sdown|(?:cost|took)\s(?:me|us|hours|days|weeks|an?|half)
      |got\s(?:burn(?:ed|t)|bitten)|it'?s\swhat|rel(?:y|ies)\son|depends?\son)\b
      |\A(?:因为|否则|不然|上次|之前|这样)|\A(?:weil|denn|sonst|letztes\smal|porque|si\sno|la\sotra\svez|sinon|car|parce|la\sdernière\sfois)\b
      |\A(?:前回|なぜなら|理由は|以前)|(?:から|ため)(?:です|だ)[。！]?\Z""",
    _FLAGS,
)
_DEPENDS = lazy_regex(
    r"""\A(?:(?:it|they|that|those|these)(?:'s|'re|\s(?:is|are|was|were|has|have|belongs?|goes?|go|must|should|can|may|appl(?:y|ies)
      |holds?|includes?|means?|makes?|helps?|keeps?|saves?|counts?|need|needs))
      |but(?!\s(?:now|first|please|can|could|why|what))|not\s(?!now)|only\s(?!now)|until|otherwise|even|including|except|unless|same\s(?:for|goes)|likewise|neither|nor|both|for\sexample|applies|exceptions?|that\smeans)\b
      |\Ae\.g\.|\A(?:但|不过|只有|仅|否则|包括|除了|除非|同样|例如|比如|它们?|也)|\A(?:aber\snicht|nur|sonst|auch|außer|gilt|das\sgilt)\b
      |\A(?:ただし|でも|以外)""",
    _FLAGS,
)
_BECAUSE = lazy_regex(
    r"""(?:[,;—–-]\s*|\s+)(?:because|since(?!\s\d)|so\sthat|otherwise|or\selse|weil|(?<!sei\s)denn|sonst|porque|ya\sque|(?:que\s)?si\sno|sinon|parce\sque|parce\squ'|puisque?|car)\b.*
      |[，,；]?\s*(?:因为|由于|否则|不然)[^，]{3,}.*|:\s(?:an?|the|it|they|we|our|that|last)\s[^:]{6,}\Z""",
    _FLAGS | re.DOTALL,
)
_BEGINS = r"""\b(?:after|from|since|starting(?:\son)?|as\sof|ab|nach)\s(?:[^\s,;.]+\s){0,4}?\(?DAY
    |DAY[)）]?\s?(?:之后|以后|后|起|から|以降)"""
_I_DID = lazy_regex(
    r"""\A(?:i(?:'ve|\shave)?\s(?:also\s|now\s|already\s|just\s)?|ich\shabe?\s(?:ihnen\s|dir\s|jetzt\s)?|he\s|j'ai\s|我(?:已经|先|把)?)""",
    _FLAGS,
)
_CLAUSE_END = lazy_regex(r"[,;:]\s+|[—–，；：、]\s*|\s[-–—]\s")


@value
class Wording:
    """The prose of a memory."""

    name: str
    description: str
    body: str
    last_day: date | None = None
    is_relative: bool = False
    """Whether the sentence had dates that depend on the day it was said."""


def reason_of(body: str) -> str:
    """The paragraph of a memory that says why, or nothing."""
    return next((each for each in body.split("\n\n") if each.startswith(WHY)), "")


def tells_why(body: str) -> bool:
    """Whether a memory gives a reason, in a paragraph of its own or within its sentences."""
    return bool(reason_of(body) or REASON.search(body))


def with_reason(body: str, reason: str) -> str:
    """A memory with the reason that it lacked, behind its statement."""
    first, *rest = body.strip().split("\n\n")
    return "\n\n".join([first, reason, *rest])


def gives_reason(sentence: str) -> bool:
    """Whether a sentence is there to give the reason for the one before it."""
    return bool(_NEXT_REASON.search(sentence.strip()))


def depends(sentence: str) -> bool:
    """Whether a sentence only makes sense after the one before it."""
    return bool(_DEPENDS.search(sentence.strip()))


def main_clause(text: str) -> str:
    """A statement without the reason that it gives."""
    return _BECAUSE.sub("", text.strip()).strip(" .。!！,，;；:：") or text


def statement(sentence: str) -> str:
    """The sentence on one line without what leads up to it, as far as nothing of its meaning lies in the lead."""
    flat = " ".join(sentence.split())
    while (lead := _LEAD.match(flat)) and len(flat) - lead.end() >= 4:
        rest = flat[lead.end() :].lstrip(" ,.:;!—–-")
        if find_mismatch(flat, rest):
            break
        flat = rest
    return flat


def build_wording(kind: MemoryType, sentence: str, reason: str, said_on: date | None, *, approves: str = "") -> Wording:
    """The text of a memory made of one sentence, and of a second one that gives the reason.

    `approves` is what the agent had done, where the sentence asks to go on like that: the memory is about this.
    """
    plain = statement(sentence)
    dated = resolve_dates(plain, said_on)
    extra = resolve_dates(" ".join(reason.split()), said_on)
    whole = _capital(dated.text)
    short = _cut(whole, DESCRIPTION_CHARS)
    body = [whole]
    if kind in {MemoryType.feedback, MemoryType.project}:
        why = extra.text or _why(dated.text)
        body += [f"{WHY} {_capital(why)}"] if why else []
        how = _HOW.search(plain)
        use = how and (how["how"] or how["han"]).strip()
        body += [f"**How to apply:** {_capital(use)}"] if how and use and _applies(plain, how.start(), use) else []
    elif extra.text:
        body.append(extra.text)
    if approves:
        body.insert(1, f"{APPROVES} {approves}")
        short = _cut(f"{short.rstrip(' .。!')}: {approves}", DESCRIPTION_CHARS)
    days = [day for day in (dated.last, extra.last) if day and not _begins(dated.text, day)]
    return Wording(
        name_approved(approves) if approves else write_title(_LABEL.sub("", dated.text)),
        short if approves or not find_mismatch(whole, short) else whole,
        "\n\n".join(body),
        max(days, default=None),
        dated.is_relative or extra.is_relative,
    )


def name_approved(done: str) -> str:
    """A title for what the agent had done: its words without `I have`, up to where a clause ends."""
    first = split_sentences(done)[0]
    bare = _I_DID.sub("", first, count=1)
    ends = [match.start() for match in _CLAUSE_END.finditer(bare) if 16 <= match.start() <= NAME_CHARS]
    return _cut(_capital(bare[: ends[-1]] if ends and len(bare) > NAME_CHARS else bare).strip(" .。!"), NAME_CHARS)


def _applies(sentence: str, start: int, use: str) -> bool:
    """Whether words of a sentence say where its rule applies, and not where it does not."""
    means = re.search(r"\bi\s(?:do\snot\s|don'?t\s)?mean\b", sentence, re.IGNORECASE)
    return not means and len(use) < len(sentence) and not _NOT_THERE.search(sentence[:start])


def _begins(text: str, day: date) -> bool:
    """Whether something begins on a day, and so does not end with it."""
    return bool(re.search(_BEGINS.replace("DAY", day.isoformat()), text, _FLAGS))


def _why(text: str) -> str:
    for sentence in split_sentences(text):
        for pattern in (_WHY, _WHY_FIRST, _ASIDE):
            match = pattern.search(sentence.rstrip(" .。!"))
            if match:
                return next(part for name, part in match.groupdict().items() if part and name != "mark").strip()
    return ""


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ")
    return (head[:space] if space > limit // 2 else head).rstrip(" ,;:，、") + "…"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
