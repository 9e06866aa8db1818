"""Separates what a person typed from what they pasted or a program added: sentences with their positions.

Offsets never move: whatever is not the person's own prose is blanked out, character by character. Quoted words and
inline code stay in the stored quote but are hidden from the rules, which must not take orders from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.patterns import CLAUSE_END, lazy_regex
from reverie.values import value

LONGEST_BY_HAND_CHARS = 1_500
"""Of a longer message only the first and the last paragraph are taken for typed; the middle is a document."""
LONGEST_LINE_CHARS = 4_000
"""A longer message without a line break was not typed."""
END_CHARS = 10_000
"""How much of either end of a very long message is looked at."""
LONGEST_SENTENCE_CHARS = 400
_HIDDEN = "▯"
"""Stands for each character that is quoted."""
_FOREIGN = "\0"
"""Stands for each character that is not the person's; it ends a sentence."""

_TAGGED = lazy_regex(r"<([a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)(?:\s[^>]*)?>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_WRAPPED = lazy_regex(
    r"<(summary|result|output|stdout|stderr|context|document|documents|file|memory|example|examples|instructions|system"
    r"|tool|email|transcript|conversation|log|logs|diff|code|pre|quote|blockquote)(?:\s[^>]*)?>.{0,5000}?</\1>",
    re.DOTALL | re.IGNORECASE,
)
_FENCE = lazy_regex(r"(?m)^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1|\Z)|```.*?(?:```|\Z)", re.DOTALL)
_NOTICE = lazy_regex(
    r"\[(?:Request interrupted by user|Image|Pasted text|Attachment)[^\]]*\]"
    r"|\ACaveat: The messages below[^\n]*|\A(?:Stop|\w+) hook feedback:.*|Full transcript available at:[^\n]*",
    re.DOTALL,
)
_INTRODUCES = lazy_regex(
    r"(?im)^[^\n]{0,200}\b(?:feedback|review(?:er)?|comments?|logs?|output|error|trace(?:back)?|says|said|wrote|from"
    r"|email|e-mail|message|docs?|documentation|readme|article|spec|run|pr|issue|ticket|transcript|conversation)\b"
    r"[^\n]{0,80}:[ \t]*\n"
    r"|^[^\n]{0,80}\b(?:here(?:'s|\sis|\sare)|this\sis|below\sis|i\sfound|look\sat)\s(?:the|their|his|her|an?|what|this)\b"
    r"[^\n]{0,80}\n"
)
"""A line that announces a pasted text: whatever follows it is not the person speaking."""
_HANDED_OVER = lazy_regex(
    r"""^[^\n:：]{0,40}?\b(?:summari[sz]e|sum\sup|translate|rephrase|reword|rewrite|proofread|paraphrase|shorten|condense
      |(?:turn|convert|make)\s(?:this|that|these|the\sfollowing)\b[^\n:]{0,30}\b(?:into|to)|(?:explain|decode|parse)\sthis|what\sdoes\sthis)\b[^\n:：]{0,60}[:：]
      |^[^\n：:]{0,20}(?:总结|翻译|润色|改写|概括|缩写|解释一下|校对)[^\n：:]{0,20}[:：]
      |^[^\n：:]{0,30}(?:内容如下|如下|以下是?|下面(?:这段|是)|原文|聊天记录|群里的消息|会议记录)[^\n：:]{0,20}[:：]
      |^[^\n]{0,80}\b(?:(?:slack|chat|email|discord|teams|mail)\s(?:thread|log|history|export)|transcript|excerpt|meeting\snotes)\b[^\n]{0,60}(?:\n|:\s)""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A request to do something to a text: all that follows is the text."""
_TO_INSERT = lazy_regex(
    r"""^[^\n:：]{0,30}?\b(?:add|create|write|insert|append|put|change|set|draft|generate)\b[^\n:：]{3,60}
      \b(?:section|paragraph|line|comment|prompt|note|copy|text|label|readme|contributing|docs?|message|docstring|banner|tooltip|policy|rule|template|heading|title)\b
      [^\n:：]{0,30}[:：](?=\s)[^\n]*
      |^[^\n：:]{0,30}(?:加(?:上|一[段句行条]|个)|写(?:上|一[段句行条])|改成|换成)[^\n：:]{0,12}[:：][^\n]*""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A request to put words somewhere: they are meant for that place."""
_TO_BUILD = lazy_regex(
    r"""^(?![^\n]{0,100}\b(?:rules?|conventions?|prefer\w*|guidelines?|always|remember|from\snow|house|habits?|how\s(?:we|i))\b)(?![^\n]{0,100}(?:约定|规范|规则|以后|规矩|习惯))
      [^\n]{0,100}(?:\b(?:requirements?|acceptance|criteria|to-?dos?|tasks?|steps|ticket|issue|screen|page|features?|form|dialog|modal|story|specs?|endpoint|component|command|script|bugs?
      |build|implement|create|export|this\s(?:morning|afternoon|week))\b|待办|需求|功能|今天|任务|步骤|页面)
      [^\n]{0,100}[:：][ \t]*\n
      (?:[ \t]*\n)?(?:[ \t]*(?:[-*•]|\d+[.)、])[ \t]*[^\n]*(?:\n|\Z))+""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A list of what is to be done or built: its items are no rules."""
_SPEAKER = lazy_regex(r"(?m)^(?:User|Human|Assistant|Agent|AI|System|Q|A|>|\w+ \(\d)[^\n]{0,40}?[:：]\s")
_QUOTED = lazy_regex(
    r"`[^`\n]+`|\"[^\"\n]{2,}\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』|(?<![\w])'[^'\n]{2,}'(?![\w])"
)
_PRINTED_LINE = lazy_regex(
    r"""^(?:\s{4,}\S.*|\t.*|\s*[>|│┃┌└├╭╰━═✔✓✗×⏺⎿❯$%#+*=-]{1,3}\s.*|\s*(?:at\ |File\ ").*|.*[│┃━═]{2,}.*
      |\s*(?:todo|fixme|xxx|[a-z]{1,3}\d{3,5}):\s.*|\s*(?:npm|yarn|pip|error|warning|info|debug|traceback|fatal|e)\b[^a-z]{0,3}[:\[].*
      |\s*\d{1,4}[-:]\d{1,2}[-:T]\d{1,2}.*|\s*[\w./-]+\.\w{1,5}:\d+.*|\s*\[[\w:+. -]+\]\s.*|\s*[{}()\[\];]+\s*
      |.*[;{]\s*|\s*@@.*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_BULLET = lazy_regex(r"^\s*(?:[-*•]|\d+[.)、])\s+")


@value
class Sentence:
    """One sentence of a message."""

    start: int
    end: int
    text: str
    """As it stands in the message."""
    plain: str
    """The same, of the same length, with what is quoted in it hidden."""

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return bool(re.search(r"[?？][\s)\"'”」]*\Z|[吗呢么][。.]?\Z|ですか[。.]?\Z|ますか[。.]?\Z", self.plain))


def find_typed_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences that the person wrote by hand, in order."""
    shown = _own_words(text)
    for ordered in (_TO_INSERT, _TO_BUILD):
        shown = _blank_matches(shown, ordered, _FOREIGN)
    hidden = _blank_matches(shown, _QUOTED, _HIDDEN)
    return tuple(
        Sentence(start, end, text[start:end], hidden[start:end])
        for start, end in _spans(hidden)
        if end - start <= LONGEST_SENTENCE_CHARS
    )


def own_words(text: str) -> str:
    """What the person wrote by hand, the rest left out."""
    lines = (line.replace(_FOREIGN, " ").strip() for line in _own_words(text).splitlines())
    return "\n".join(line for line in lines if line)


def machine_words(text: str) -> tuple[str, ...]:
    """What a program put into a message of the user: reminders, notices, output of commands."""
    return tuple(match[0] for match in _TAGGED.finditer(text))


def _own_words(text: str) -> str:
    """The text with everything blanked out that is not the person's own prose."""
    if len(text) > 2 * END_CHARS:
        text = text[:END_CHARS] + _spaces(text[END_CHARS:-END_CHARS]) + text[-END_CHARS:]
    for pattern in (_TAGGED, _WRAPPED, _FENCE, _NOTICE):
        text = _blank_matches(text, pattern, _FOREIGN)
    handed = _HANDED_OVER.search(text)
    if handed:
        text = text[: handed.end()] + _spaces(text[handed.end() :])
    announced = _INTRODUCES.search(text)
    if announced and text.count("\n", announced.end()) >= 2:
        text = text[: announced.end()] + _spaces(text[announced.end() :])
    if len(_SPEAKER.findall(text)) >= 2:
        return _spaces(text)
    text = _without_middle(text)
    return "".join(_spaces(line) if _is_printed(line) else line for line in text.splitlines(keepends=True))


def _is_printed(line: str) -> bool:
    bare = line.rstrip("\r\n")
    if _BULLET.match(bare) and not bare.startswith(("    ", "\t")):
        return False
    return bool(_PRINTED_LINE.match(bare)) or bare.lstrip().startswith(">")


def _without_middle(text: str) -> str:
    if len(text.replace(_FOREIGN, "").strip()) <= LONGEST_BY_HAND_CHARS:
        return text
    breaks = [match.start() for match in re.finditer(r"\n[ \t]*\n", text.rstrip())]
    first = breaks[0] if breaks else text.find("\n")
    last = breaks[-1] if breaks else len(text)
    if first < 0:
        return text if len(text) <= LONGEST_LINE_CHARS else _spaces(text)
    return text[:first] + _spaces(text[first:last]) + text[last:]


def _blank_matches(text: str, pattern: re.Pattern[str], instead: str) -> str:
    return pattern.sub(lambda match: _spaces(match[0], instead), text)


def _spaces(text: str, instead: str = _FOREIGN) -> str:
    """As many blanks as there are characters, the line breaks kept."""
    return re.sub(r"[^\n]", instead, text)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for boundary in [*CLAUSE_END.finditer(text), None]:
        start, end = at, boundary.start() if boundary else len(text)
        at = boundary.end() if boundary else at
        piece = text[start:end]
        bullet = _BULLET.match(piece)
        start += bullet.end() if bullet else len(piece) - len(piece.lstrip())
        end = start + len(text[start:end].rstrip())
        if end > start:
            yield start, end
