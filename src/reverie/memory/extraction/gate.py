"""The quality gate: whether a candidate may become a memory, whoever made it. Every refusal has a reason and a quote.

Pure. It is asked by embedded extraction, by what a model proposes, and by the permission of the fork, which shows it
each topic file before it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from datetime import date
from functools import cached_property

from reverie.files.secret_scan import redact, scan
from reverie.memory.extraction.candidate import MemoryCandidate, RefusalReason, RefusedCandidate
from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.extraction.known import KnownMatch, KnownTopics, Likeness
from reverie.memory.extraction.similarity import Similarity
from reverie.memory.search.analyze import terms
from reverie.memory.store.erased_sentences import normal, recognisable_sentences
from reverie.memory.topics.age import KEPT_DAYS_AFTER
from reverie.memory.topics.polarity import keep_as_said
from reverie.memory.topics.topic import MemoryType, Trust
from reverie.messages.injection import Suspicion, flags
from reverie.patterns import lazy_regex
from reverie.values import value

QUOTE_CHARS = 200
"""Enough of a refused sentence to recognise it."""
_SHORTEST_ECHO_CHARS = 20
"""A shorter text is found in others by chance."""
_FLAGS = re.VERBOSE | re.IGNORECASE


class ForeignText:
    """A text that somebody other than the user put into the session; brought to its words when first looked into."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> str:
        return normal(self.text)


@value
class GateContext:
    """What a candidate is judged against."""

    known: KnownTopics = field(default_factory=KnownTopics)
    injected: Sequence[ForeignText] = ()
    """Text that the system put before the model: recalled memories, reminders, summaries."""
    foreign: Sequence[ForeignText] = ()
    """What tools printed: files, pages, output."""
    written: Sequence[ForeignText] = ()
    """What the repository says by itself: instruction files, the README."""
    said: Sequence[ForeignText] = ()
    """The user's messages, for a candidate that somebody else made; empty when it was found in them."""
    is_erased: Callable[[str], bool] = lambda _text: False
    today: date | None = None
    similarity: Similarity | None = None
    """Reads sentences by their meaning, where vectors can be had."""


@value
class Passed:
    """A candidate that may be stored, over the topic of this path when there is one on its subject."""

    candidate: MemoryCandidate
    updates: str = ""
    adds_reason: bool = False
    """The topic says it already, and only why is new."""


def judge(candidate: MemoryCandidate, scene: GateContext) -> Passed | RefusedCandidate:
    """Whether a candidate may be stored; what passes says what its quote says, whoever worded it."""
    for reason, holds in _CHECKS:
        if holds(candidate, scene):
            return _refusal(candidate, reason)
    candidate = _keep_wording(candidate)
    if candidate.doubt:
        return replace(_refusal(candidate, candidate.doubt.reason), detail=candidate.doubt.detail)
    match = scene.known.find(candidate)
    if match.likeness is Likeness.same and match.lacks_reason:
        return Passed(candidate, match.path, adds_reason=True)
    if match.likeness is Likeness.same:
        return _refusal(candidate, RefusalReason.known, match)
    if match.likeness is Likeness.subject:
        if match.observed and candidate.observed and match.observed > candidate.observed:
            return _refusal(candidate, RefusalReason.outdated, match)
        return Passed(candidate, match.path)
    return Passed(candidate)


def _keep_wording(candidate: MemoryCandidate) -> MemoryCandidate:
    topic = candidate.topic()
    reworded = keep_as_said(topic)
    if reworded == topic:
        return candidate
    day = candidate.observed
    return replace(
        candidate,
        name=reworded.name,
        description=resolve_dates(reworded.description, day).text,
        body=resolve_dates(reworded.body, day).text,
    )


class Verdicts:
    """One run of the gate: what passed counts as known, and a later word on its subject replaces it."""

    def __init__(self, similarity: Similarity | None = None) -> None:
        self._passed: list[Passed] = []
        self._refused: list[RefusedCandidate] = []
        self._mine = KnownTopics(similarity)

    def judge(self, candidates: Iterable[MemoryCandidate], scene: GateContext) -> None:
        """Judge in order."""
        for candidate in candidates:
            if scene.known.is_taken(candidate):
                continue
            verdict = judge(candidate, scene)
            if isinstance(verdict, Passed):
                self._take(verdict)
            else:
                self._refused.append(verdict)

    def _take(self, verdict: Passed) -> None:
        match = self._mine.find(verdict.candidate)
        if match.likeness is Likeness.same and not (match.lacks_reason or verdict.adds_reason):
            self._refused.append(_refusal(verdict.candidate, RefusalReason.known))
            return
        place = len(self._passed) if match.likeness is Likeness.new else int(match.path)
        if place < len(self._passed):
            replaced = self._passed[place]
            reason = RefusalReason.known if match.likeness is Likeness.same else RefusalReason.outdated
            self._refused.append(_refusal(replaced.candidate, reason))
            self._passed[place] = Passed(
                verdict.candidate, replaced.updates or verdict.updates, replaced.adds_reason or verdict.adds_reason
            )
        else:
            self._passed.append(verdict)
        self._mine.add(replace(verdict.candidate.topic(), path=str(place)))

    @property
    def passed(self) -> tuple[Passed, ...]:
        return tuple(self._passed)

    @property
    def refused(self) -> tuple[RefusedCandidate, ...]:
        return tuple(self._refused)


def _refusal(candidate: MemoryCandidate, reason: RefusalReason, match: KnownMatch | None = None) -> RefusedCandidate:
    quote = redact(" ".join(candidate.quote.split()))
    if len(quote) > QUOTE_CHARS:
        quote = quote[: QUOTE_CHARS - 1] + "…"
    if reason is RefusalReason.secret and not scan(candidate.quote):
        quote = _PASSWORD.sub("[secret]", quote)
    return RefusedCandidate(reason, quote, candidate.message, candidate.session, match.path if match else "")


_PASSWORD = lazy_regex(
    r"""\b(?:passwords?|passphrase|passwort|kennwort|api[\s_-]?key|secret\skey|access\stoken|token|pin(?:\scode)?)\b
        [^.\n]{0,40}?(?:\bis\b|\bist\b|=|:)\s*["'`]?(?:[^\s"'`,;]*\d[^\s"'`,;]{3,}|[^\s"'`,;]{10,})
      |(?:密码|口令|密钥|パスワード)[^。\n]{0,20}?(?:是|为|=|：|:|は)\s*[!-~]{5,}""",
    _FLAGS,
)
_SOMEBODY = r"""(?:\b(?:he|she|(?:my|our|their|the|th[ia][ts]|der|die|unsere?|meine?)\s(?:\w+\s){0,2}?(?:boss|manager
      |lead|colleague|coworker|teammate|guy|girl|intern|contractor|reviewer|developer|engineer|dev|designer|consultant|hire|junior|freelancer|kollegin
      |kollege|chef|chefin|praktikant|praktikantin))\b
      |\b(?-i:[A-Z][a-zé]+)\s(?:from|in|of|aus|von|vom)\s(?:\w+\s){0,3}?\w+\s(?=is|was|has|ist|hat))"""
"""A person beyond doubt: a name alone may be a product."""
_JUDGEMENT = lazy_regex(
    rf"""\b(?:idiots?|stupid|dumb|lazy|incompetent|useless|clueless|morons?|jerks?|assholes?|terrible\s(?:engineer|developer|manager)
      |bad\s(?:engineer|developer|manager|boss))\b
      |{_SOMEBODY}[^.!?]{{0,20}}?\b(?:suck\w*|(?:is|are|was|'s|seems|ist)\s(?:\w+\s){{0,2}}?(?:slow|bad|awful|annoying|sloppy|careless|rude
      |arrogant|difficult|impossible|unreliable|hopeless|weak|a\spain|stubborn|toxic|terrible|overrated|langsam|anstrengend|schlecht
      |nervig|schwierig|unzuverlässig)|has\sno\s(?:idea|clue)|doesn'?t\s(?:know|care|get)|never\s(?:answers|replies|listens|tests|reviews)
      |hat\skeine\sahnung)\b
      |\b(?-i:[A-Z][a-zé]+)\s(?:is|was|ist)\s(?:\w+\s){{0,2}}?(?:lazy|sloppy|rude|arrogant|careless|stubborn|toxic|overrated|impossible\sto\swork
      |(?:slow|bad|terrible|awful|hopeless)\s(?:with|at|in)\s(?:\w+\s)?(?:reviews?|reviewing|replying|answering|communicat\w+|deadlines|estimat\w+
      |testing|coding|english))\b
      |\b(?-i:[A-Z][a-zé]+)\s(?:always\s|usually\s)?writes\s(?:\w+\s)?(?:sloppy|bad|terrible|awful|buggy|unreadable|poor)\b
      |\b(?-i:[A-Z][a-zé]+)\s(?:(?:can'?t|cannot)\sbe\s(?:trusted|relied)|lied|lies\s(?:about|to)|never\s(?:reads|answers|replies|listens|tests|helps|apologi[sz]es|delivers)
      |always\s(?:forgets|complains|breaks|screws|blames)|is\s(?:always|never)\s(?:late|on\stime|prepared)|gets\s(?:angry|defensive|upset)|takes\scredit|drinks|doesn'?t\s(?:care|listen|get\sit))\b
      |\b(?:hate|can'?t\sstand|dread)\s(?:working|dealing|talking)\s(?:with|to)\b|\bdon'?t\strust\s(?:anything\s)?(?:that\s)?(?-i:[A-Z][a-zé]+)\b|\b(?-i:[A-Z][a-zé]+)\sis\s(?:\w+\s){{0,2}}?(?:clueless|unreliable|overrated|the\sweakest|bad\sat|a\s(?:liar|pain|fool|control\sfreak))
      |(?:[老小][\u4e00-\u9fff]|张三|李四|他|她)(?:总是|老是|从来不|从不|太(?:慢|懒|差|笨|磨)|不靠谱)|写的(?:代码|东西)[^。]{{0,4}}(?:差|烂|垃圾|乱)
      |(?<!我们)懒|笨|蠢|白痴|傻|没用的人|水平(?:很|太)?(?:差|低)|磨蹭|不靠谱|不负责任|\b(?:faul|dumm|unfähig|idiot\w*)\b|バカ|無能|怠け""",
    _FLAGS,
)
_CODE_FACT = lazy_regex(
    r"""\b(?:function|method|class|module|file|variable|helper|constant|component|endpoint|table|struct)\b[^.]{0,60}
      \b(?:is\sdefined|is\simplemented|is\sin|lives\sin|returns?|takes|contains|extends|inherits|imports?|calls)\b
      |\b[\w/-]+\.(?:py|js|ts|tsx|go|rs|java|rb|c|cpp|h|cs|php|swift|kt|vue|css|html|sql)\s
      (?:contains|defines|holds|has|exports|implements|is\swhere)\b
      |\b\w+_\w+(?:\(\))?\s(?:lives|is|sits)\s(?:defined\s|implemented\s)?in\s[\w/.-]+\.\w{1,4}\b
      |\b(?:[\w.-]+\.(?:py|js|ts|tsx|go|rs|java|rb|cpp|cs|php|swift|kt|vue)|(?-i:[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)|[a-z]+_\w+|(?:component|hook|migration|module|package|repo|workflow))(?:\(\))?\s
      (?:depends\son|imports?|calls?|extends|inherits|overrides|wraps|wires|uses|implements|returns?|adds?|drops|has\s(?:\w+\s){0,2}?(?:methods|fields|columns|functions|packages|modules|tables|flags))\b
      |(?:[\w.]+|[^，。]{0,6})(?:里面?|中|下面)?有(?:[一两二三四五六七八九十\d]+)个(?:方法|函数|字段|结构体|类|接口|文件|模块|包)|\b\w+\s?(?:依赖|继承|调用|会先调用|实现了|引用)\s?[A-Za-z]\w+
      |(?:函数|方法|类|模块|文件|变量)[^。]{0,20}(?:在|位于|定义在)\s?[\w/.-]+\.\w{1,4}""",
    _FLAGS,
)
_CHANGE = r"""(?:\b(?:commits?|revision|changeset)\s\#?[0-9a-f]{5,40}\b|(?:提交|コミット)\s?[0-9a-f]{5,40}
      |\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|\b(?:pr|mr|pull\srequest|merge\srequest)\s?\#?\d+\b)"""
_DID = r"""(?:\b(?:fix(?:e[sd])?|br[eo]ke|introduc\w+|caus\w+|revert\w*|add(?:s|ed)|remov\w+|chang(?:es|ed)|solv\w+
      |repair\w*|resolv\w+|beh(?:ob|eb)\w*|gefixt|eingeführt|verursach\w+)\b|修复|修好|引入|导致|解决|直し|直っ|修正|壊し)"""
_GIT_FACT = lazy_regex(
    rf"""{_CHANGE}[^.!?。\n]{{0,120}}{_DID}|{_DID}[^.!?。\n]{{0,120}}{_CHANGE}|\b(?:i|we|he|she|they)\s(?:just\s|already\s)?(?:merged|pushed|committed|rebased|reverted|tagged|cherry-picked)\b
      |\b(?:commit|pr|pull\srequest|branch)\s(?:\#?\w+\s)?(?:was|is|has\sbeen|got)\s(?:merged|pushed|reverted|rebased)\b
      |\bfixed\s(?:it|the\sbug|this|that)?\s?by\b|\bthe\s(?:\w+\s)?(?:bug|crash|leak|failure|flake|flaky\stest|error|regression)\s(?:was|came|is\sfrom)\b
      |(?:合并|提交|推送)了(?:那个|这个|一个)?\s?(?:PR|分支|代码)""",
    _FLAGS,
)
_PASSING = lazy_regex(
    r"""\b(?:right\snow|at\sthe\smoment|currently|for\snow|in\sa\s(?:minute|moment|second)|in\s\d+\s(?:minutes?|hours?)
      |for\sthe\snext\s(?:few\s)?(?:minutes?|hours?)|just\sthis\sonce|temporarily|as\swe\sspeak|is\s(?:broken|down)\s(?:now|again)
      |this\s(?:morning|afternoon|evening)|(?:just|only)\s(?:for\s)?(?:today|tonight|now)|for\s(?:today|the\srest\sof\sthe\sday)|only\sfor\sthe\sdemo|in\sthis\s(?:change|pr|commit|task|session|step|branch))\b|现在(?!开始)|目前|暂时|马上|刚才|\b(?:momentan|im\smoment|gerade\seben)\b|今だけ|とりあえず""",
    _FLAGS,
)
_EMPTY_TERMS = 2
"""A memory of fewer words than this says nothing."""


def _is_secret(candidate: MemoryCandidate, _scene: GateContext) -> bool:
    text = f"{candidate.text}\n{candidate.quote}"
    return bool(scan(text) or _PASSWORD.search(text))


def _is_judgement(candidate: MemoryCandidate, _scene: GateContext) -> bool:
    return bool(_JUDGEMENT.search(f"{candidate.text}\n{candidate.quote}"))


def _is_echo(candidate: MemoryCandidate, scene: GateContext) -> bool:
    return _stands_in(candidate, scene.injected)


def _is_foreign(candidate: MemoryCandidate, scene: GateContext) -> bool:
    """Words of a tool, or an order to disregard or to leak, which no user gives as a preference."""
    orders = any(
        flag.suspicion in {Suspicion.order, Suspicion.disguise, Suspicion.leak} for flag in flags(candidate.text)
    )
    is_seen = candidate.trust is Trust.seen and candidate.type in {MemoryType.user, MemoryType.feedback}
    return orders or is_seen or _stands_in(candidate, scene.foreign) or _carries_foreign_text(candidate, scene)


def _carries_foreign_text(candidate: MemoryCandidate, scene: GateContext) -> bool:
    """Whether a memory that a model worded brings a tool's sentence along under a quote of the user."""
    if candidate.cue != "model":
        return False
    sentences = (normal(piece) for piece in recognisable_sentences(candidate.text))
    copied = [
        piece
        for piece in sentences
        if len(piece) >= _SHORTEST_ECHO_CHARS and any(piece in t.words for t in scene.foreign)
    ]
    return any(all(piece not in text.words for text in scene.said) for piece in copied)


def _is_unfounded(candidate: MemoryCandidate, scene: GateContext) -> bool:
    """Whether somebody ascribes to the user what the user did not say."""
    if candidate.trust is not Trust.said or not scene.said:
        return False
    quote = normal(candidate.quote)
    return not quote or not any(quote in text.words for text in scene.said)


def _is_derivable(candidate: MemoryCandidate, scene: GateContext) -> bool:
    quote = candidate.quote
    is_place = candidate.cue == "place in code"
    return is_place or bool(_CODE_FACT.search(quote) or _GIT_FACT.search(quote)) or _stands_in(candidate, scene.written)


def _is_passed(candidate: MemoryCandidate, scene: GateContext) -> bool:
    return bool(candidate.expires and scene.today and (scene.today - candidate.expires).days > KEPT_DAYS_AFTER)


def _is_transient(candidate: MemoryCandidate, _scene: GateContext) -> bool:
    return bool(_PASSING.search(candidate.quote))


def _is_unclear(candidate: MemoryCandidate, _scene: GateContext) -> bool:
    """Nothing is left to say, or it names a day that nobody can place."""
    says = [term for term in terms(candidate.description) if len(term) > 1 or not term.isascii()]
    return len(set(says)) < _EMPTY_TERMS or (
        candidate.observed is None and resolve_dates(candidate.text, None).is_relative
    )


def _is_erased(candidate: MemoryCandidate, scene: GateContext) -> bool:
    return scene.is_erased(f"{candidate.description}\n{candidate.body}")


def _stands_in(candidate: MemoryCandidate, texts: Sequence[ForeignText]) -> bool:
    """Whether the words of a candidate are to be found in one of these texts."""
    quote = normal(candidate.quote)
    if len(quote) < _SHORTEST_ECHO_CHARS and quote.isascii():
        return False
    return bool(quote) and any(quote in text.words for text in texts)


_CHECKS: tuple[tuple[RefusalReason, Callable[[MemoryCandidate, GateContext], bool]], ...] = (
    (RefusalReason.secret, _is_secret),
    (RefusalReason.erased, _is_erased),
    (RefusalReason.echo, _is_echo),
    (RefusalReason.foreign, _is_foreign),
    (RefusalReason.unfounded, _is_unfounded),
    (RefusalReason.judgement, _is_judgement),
    (RefusalReason.derivable, _is_derivable),
    (RefusalReason.passed, _is_passed),
    (RefusalReason.transient, _is_transient),
    (RefusalReason.unclear, _is_unclear),
)
"""What is dangerous first, then what is useless."""
