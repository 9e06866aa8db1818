"""Finds candidates in a user's message without a model, in the order of the text.

Rules know what people say plainly. `classify.py` lets in what no rule found but reads like something lasting, and
doubts what a rule found but reads like something else. Deterministic. What is stored is the matter of `gate.py`.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date

from reverie.memory.extraction.candidate import Doubt, MemoryCandidate, RefusalReason, UserMessage
from reverie.memory.extraction.classify import SentenceReading, classify_sentences
from reverie.memory.extraction.cues import CUES, infer_type
from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.extraction.phrases import (
    ABOUT_TEXT,
    ASKING,
    AT_WORK,
    GENERAL,
    GUARD,
    LASTING,
    PERSONA,
    POLITE,
    REASON,
    REPORTED,
    TAKEN_BACK,
    TENTATIVE,
    Cue,
    pattern,
)
from reverie.memory.extraction.signals import find_language
from reverie.memory.extraction.typed import Sentence, find_typed_sentences, own_words
from reverie.memory.extraction.wording import Wording, build_wording, depends, gives_reason, statement
from reverie.memory.topics.topic import MemoryType, Trust
from reverie.patterns import lazy_regex

SHORTEST_CHARS = 14
SHORTEST_HAN_CHARS = 6
"""A shorter sentence says nothing that holds on its own."""
_QUOTATION = "▯▯"
_JOINED_CHARS = 90
"""A short order to go on as before means little without the sentence before it."""
_FOLLOWING = 2
"""As many sentences after a statement may belong to it."""
_WORDS_ON_ITS_OWN = 4
"""`Merge commits from now on.` has fewer: it continues the rule before it."""
_REFERS_BACK = lazy_regex(r"\b(?:it|them|those|these)\W*\Z", re.IGNORECASE)
_READING = "reading"
_BY_READING = {kind: Cue(_READING, kind, pattern(r"\A")) for kind in MemoryType}
LONGEST_TALK_CHARS = 600
_MOSTLY = 0.7
SURE = {"en": 0.87, "zh": 0.9, "other": 0.85}
"""From here on a sentence is let in that no rule found, by language: so nineteen of twenty memories are right."""
SURE_ALONE = {"zh": 0.94, "other": 0.75}
"""The same for a message of one sentence: it has nothing around it that speaks for it."""
SURE_BESIDE = 0.93
"""The same next to a sentence that reads more like a memory: it mostly leads up to that one or explains it."""
SURE_IN_MANY = 0.95
"""The same in a message of many sentences, which is mostly a plan or a story."""
_FEW_SENTENCES = 5
_BRIEF = 2
UNLIKELY = 0.5
"""Below this a sentence is turned down that a rule found."""
UNLIKELY_ALONE = 0.07
"""The same where it is the whole message: there the rule decides nearly alone."""
_UNLIKELY_ON_WORK = 0.1
"""The same for a rule on the agent's work in a short message."""
_ABOUT_PROGRAM = frozenset({"product", "build", "once", "said", "hypothetical", "others"})
"""Without these a rule on commits, tests or answers is one for the agent and not a requirement."""
_REASONS = (
    (frozenset({"hypothetical", "maybe"}), RefusalReason.unsettled),
    (frozenset({"said", "others", "quoted"}), RefusalReason.reported),
)
_REPLY_CHARS = 200
"""How much of what the agent said is kept with an approval of it."""
_THEN_DO = lazy_regex(
    r"[,;]\s(?:so\s|and\s|please\s|then\s)*(?:look\sat|check\sthe|open\s(?:it|the)|fix|try|give\sme|show\sme|follow\sit|clean|add|implement|build"
    r"|write\s(?:it|an?|the)|change|delete|raise|bump|rename|move\s(?:it|the)|stream|pull|prepare|finish)\b(?![^,]*\b(?:when|if|whenever|before|always)\b)",
    re.IGNORECASE,
)
"""A fact that leads up to a request is told for the request."""
_OWN_PLAN = lazy_regex(
    r"\A\W*(?:ok(?:ay)?,?\s|and\s|so\s|well,?\s)*(?:let\sme\b|i(?:'ll|\swill|'m\sgoing\sto)\s(?:try|look|have|check|do|go|take|give|see|test|read|ask)\b"
    r"|lass\smich\b|laisse[sz]?-moi\b|déjame\b)",
    re.IGNORECASE,
)
"""What the person is about to do themselves."""
_TASK = lazy_regex(r"\b(?:please|fix|look|can\syou|could\syou|let'?s)\b|请|帮", re.IGNORECASE)


def find_candidates(message: UserMessage) -> tuple[MemoryCandidate, ...]:
    """What one message holds that may be worth a memory."""
    spoken = find_typed_sentences(message.text)
    if any(PERSONA.search(sentence.plain) for sentence in spoken):
        return ()
    readings = classify_sentences(spoken, is_answer=bool(message.reply_to.strip()))
    needed, unlikely = _choose_thresholds(message.text, len(spoken))
    candidates: list[MemoryCandidate] = []
    taken = 0
    for number, sentence in enumerate(spoken):
        if sentence.start < taken:
            continue
        reading = readings[number]
        rule = cue_of(sentence, message, _next(message.text, spoken, number))
        beside = max(each.worth for each in readings[max(0, number - 1) : number + 2])
        is_beside = beside > reading.worth and beside >= needed
        cue = rule or _cue_by_reading(sentence, reading, max(needed, SURE_BESIDE) if is_beside else needed)
        if cue is None:
            continue
        first = _with_what_is_meant(message.text, spoken, number, taken)
        last = _with_its_example(message.text, spoken, number)
        last, reason = _with_what_follows(message, spoken, spoken.index(last), cue)
        start, end = first.start, (reason or last).end
        taken = end
        approves = _find_approved(message, reading)
        candidate = _candidate(message, cue, message.text[start : last.end], reason, message.text[start:end], approves)
        doubt = _find_withdrawal(spoken, number) or _doubt(cue, reading, unlikely, is_brief=len(spoken) <= _BRIEF)
        candidates.append(replace(candidate, doubt=doubt))
    return tuple(candidates)


def _cue_by_reading(sentence: Sentence, reading: SentenceReading, needed: float) -> Cue | None:
    """What lets a sentence in that no rule knows: it reads like something lasting."""
    plain = sentence.plain
    is_barred = plain.rstrip().endswith((":", "：")) or "maybe" in reading.signals or _says_nothing(sentence)
    is_barred = is_barred or any(words.search(plain) for words in (TAKEN_BACK, _OWN_PLAN))
    return None if reading.worth < needed or is_barred else _BY_READING[reading.type]


def _choose_thresholds(text: str, sentences: int) -> tuple[float, float]:
    """How surely a sentence must read like something lasting if no rule found it, and if one did.

    In briefs and pasted text nearly all is for the task, so the rules decide alone.
    """
    own = own_words(text)
    if len(own) > LONGEST_TALK_CHARS or len(own) < _MOSTLY * len(text.strip()):
        return math.inf, UNLIKELY
    language = find_language(own)
    if sentences == 1:
        return SURE_ALONE.get(language, SURE_ALONE["other"]), UNLIKELY_ALONE
    sure = SURE.get(language, SURE["other"]) if sentences <= _FEW_SENTENCES else SURE_IN_MANY
    return sure, UNLIKELY


def _find_approved(message: UserMessage, reading: SentenceReading) -> str:
    """What the agent had done, where the person wants it done like that again: its last words before a question."""
    if not message.reply_to.strip() or "keepon" not in reading.signals:
        return ""
    spoken = find_typed_sentences(message.reply_to)
    sentences = [each.text for each in spoken if not each.asks] or [each.text for each in spoken]
    text = " ".join(" ".join(sentences[-2:]).split())
    return text if len(text) <= _REPLY_CHARS else text[: _REPLY_CHARS - 1].rpartition(" ")[0] + "…"


def _find_withdrawal(spoken: tuple[Sentence, ...], number: int) -> Doubt | None:
    """Whether the person withdraws a sentence, within it or right after; at its beginning `no wait` means another."""
    words = [match[0] for match in TAKEN_BACK.finditer(spoken[number].plain) if match.start() >= SHORTEST_CHARS // 2]
    words += [
        match[0] for each in spoken[number + 1 : number + 1 + _FOLLOWING] if (match := TAKEN_BACK.search(each.plain))
    ]
    return Doubt(RefusalReason.unsettled, f"taken back: {words[0].strip()}") if words else None


def _doubt(cue: Cue, reading: SentenceReading, unlikely: float, *, is_brief: bool) -> Doubt | None:
    """What speaks against a candidate of the rules; one that the person asks to remember is taken at its word."""
    is_about_work = "output" in reading.signals and _ABOUT_PROGRAM.isdisjoint(reading.signals)
    limit = min(unlikely, _UNLIKELY_ON_WORK) if is_brief and is_about_work else unlikely
    if cue.name in {_READING, "place in code", "remember"} or reading.worth >= limit:
        return None
    reason = next((reason for signals, reason in _REASONS if signals & reading.signals), RefusalReason.transient)
    return Doubt(reason, f"reads unlike something lasting ({reading.worth:.2f})")


def _says_nothing(sentence: Sentence) -> bool:
    plain = sentence.plain
    is_open = sentence.asks or ASKING.search(plain) or TENTATIVE.search(plain)
    is_others = REPORTED.search(plain) or ABOUT_TEXT.search(plain)
    return _is_short(plain) or bool(is_others) or bool(is_open and not POLITE.search(plain))


def cue_of(sentence: Sentence, message: UserMessage, following: Sentence | None = None) -> Cue | None:
    """The rule that takes a sentence for something lasting, if any; its reason may stand in the one that follows."""
    plain = sentence.plain
    if _says_nothing(sentence):
        return None
    if AT_WORK.search(plain):
        return None
    is_tied = bool(GUARD.search(plain))
    for cue in CUES:
        if not cue.matches(plain) or (is_tied and not cue.overrides_guards):
            continue
        if cue.type is not MemoryType.feedback and cue.name != "remember" and _THEN_DO.search(plain):
            continue
        if cue.needs_day and not _names_a_coming_day(plain, message):
            continue
        is_grounded = any(words.search(plain) for words in (REASON, GENERAL, LASTING))
        if cue.needs_reason and not is_grounded and not (following and gives_reason(following.text)):
            continue
        return cue
    return None


def _names_a_coming_day(plain: str, message: UserMessage) -> bool:
    if message.when is None:
        return resolve_dates(plain, None).is_relative
    last = resolve_dates(plain, message.when.date()).last
    return last is not None and last > message.when.date()


def _is_short(plain: str) -> bool:
    own = plain.replace("▯", "").strip()
    return len(plain.strip()) < (SHORTEST_CHARS if own.isascii() else SHORTEST_HAN_CHARS)


def _next(text: str, spoken: tuple[Sentence, ...], number: int) -> Sentence | None:
    """The sentence after one, if nothing that is not the person's stands between them and it is no question."""
    after = spoken[number + 1] if number + 1 < len(spoken) else None
    is_apart = after is None or after.asks or bool(text[spoken[number].end : after.start].strip())
    return None if is_apart else after


def _with_what_is_meant(text: str, spoken: tuple[Sentence, ...], number: int, taken: int) -> Sentence:
    """The sentence with which a memory begins: the one before, where `keep doing it` refers to that."""
    sentence = spoken[number]
    before = spoken[number - 1] if number and _next(text, spoken, number - 1) else None
    refers = LASTING.search(sentence.plain) and any(
        word in f" {sentence.plain.lower()} "
        for word in (" it ", " this way", " like that", " that way", " doing that", " do that", "这个方式", "这样")
    )
    if before and refers and len(sentence.plain) <= _JOINED_CHARS and before.start >= taken and not before.asks:
        return before
    return sentence


def _with_its_example(text: str, spoken: tuple[Sentence, ...], number: int) -> Sentence:
    """The sentence with which the statement ends: the next one when that begins with a quotation."""
    after = _next(text, spoken, number)
    return after if after and after.plain.startswith(_QUOTATION) else spoken[number]


def _with_what_follows(
    message: UserMessage, spoken: tuple[Sentence, ...], number: int, cue: Cue
) -> tuple[Sentence, Sentence | None]:
    """The sentence with which a statement ends, and the one that gives its reason."""
    for _ in range(_FOLLOWING):
        after = _next(message.text, spoken, number)
        if after is None or GUARD.search(after.plain) or REPORTED.search(after.plain) or _TASK.search(after.plain):
            break
        own = cue_of(after, message)
        is_reason = cue.type is not MemoryType.user and gives_reason(after.text)
        if is_reason and (own is None or _REFERS_BACK.search(after.plain)):
            return spoken[number], after
        if own is not None and not (own.name == "lasting" and _is_continued(after.plain)):
            break
        if own is None and not depends(after.text) and not spoken[number].text.endswith((";", "；")):
            break
        number += 1
    return spoken[number], None


def _is_continued(plain: str) -> bool:
    """Whether little is said besides that it lasts."""
    rest = LASTING.sub(" ", plain)
    return rest.isascii() and len(rest.split()) < _WORDS_ON_ITS_OWN


def _is_to_come(prose: Wording, day: date | None) -> bool:
    return bool(prose.last_day and day and prose.last_day > day)


def _candidate(
    message: UserMessage, cue: Cue, text: str, reason: Sentence | None, quote: str, approves: str
) -> MemoryCandidate:
    kind = infer_type(statement(text)) if cue.name in {"remember", "mention"} else cue.type
    day = message.when.date() if message.when else None
    prose = build_wording(kind, text, reason.text if reason else "", day, approves=approves)
    return MemoryCandidate(
        kind,
        prose.name,
        prose.description,
        prose.body,
        quote,
        message.message,
        message.session,
        # What an approval approves of is the agent's wording, not the user's.
        trust=Trust.inferred if approves else Trust.said,
        cue=cue.name,
        approves=approves,
        observed=day,
        expires=prose.last_day
        if cue.name == "deadline" or (cue.name == _READING and _is_to_come(prose, day))
        else None,
    )
