"""The local filter: whether a turn holds nothing to keep, answered without a model. When in doubt it holds something.

It skips only what it understands to the last word: greetings, thanks, an answer to a routine step, bare commands and
plain questions. Whatever it cannot read, such as another language or a word of one, goes to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.memory.extraction.candidate import UserMessage
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.typed import own_words
from reverie.memory.topics.polarity_words import CONFIRMATION
from reverie.patterns import lazy_regex

_HINT = lazy_regex(
    r"""\b(?:always|never|don'?t|do\snot|stop|avoid|prefer|rather|remember|forget|from\snow|going\sforward|future|every\stime
      |whenever|instead|because|since|reason|decided?|chose|agreed|we'?re|we\s(?:want|need|use|do|have|must|are|will)|let'?s
      |i'?m|i\sam|i\swork|i'?ve|i\s(?:like|love|hate|want|need|think)|my\s\w+|our\s\w+|you\s(?:should|must|always|keep|are)
      |deadline|due|launch|release|freeze|until|by\s(?:mon|tues|wednes|thurs|fri|satur|sun|tomorrow|next)|next\s(?:week|month)
      |tomorrow|owns?|responsible|team|customer|legal|policy|convention|rule|general|exactly|perfect|right\scall|keep\sdoing
      |actually|wrong|not\swhat|meant|tracked|dashboard|notion|linear|jira|slack|confluence|grafana|sentry|wiki)\b|https?://
      |以后|今后|记|不要|别|必须|一定|总是|永远|每次|一律|喜欢|习惯|讨厌|因为|决定|选择|截止|发布|上线|负责|我是|我们|应该|不对|就是这样|从现在
      |\b(?:immer|nie(?:mals)?|bitte|lieber|statt|weil|merk|ab\sjetzt|künftig|wir|ich\sbin|frist)\b
      |これから|必ず|しないで|覚え|好き|ください|締め?切|私は|今後|決め""",
    re.VERBOSE | re.IGNORECASE,
)
_GREETING = lazy_regex(
    r"""\A(?:thanks?(?:\syou|\sa\slot)?|thx|ty|cheers|no|nope|go(?:\sahead|\son)?|continue|proceed|next|please|again|try\sagain|commit\sit|ship\sit
      |run\sit|do\sit|stop|wait|that\sis\sall|that'?s\sall|bye|hi|hello|hey|there|good\s(?:morning|evening)|谢谢|继续|你好|没问题|danke(?:\sschön)?|weiter|nein|hallo
      |ありがとう(?:ございます)?|続けて(?:ください)?|お願いします|merci(?:\sbeaucoup)?|bonjour|salut|continue[rz]?|gracias|hola|sigue|adelante|спасибо|привет|дальше
      |продолжай|obrigad[oa]|olá|oi|감사합니다|고마워(?:요)?|안녕(?:하세요)?|계속(?:해)?|grazie|ciao|[\s,.!？?，。！、…]|"""
    + CONFIRMATION
    + r""")+\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMAND = lazy_regex(
    r"""\A(?:(?:please|now|then|and|ok(?:ay)?|also|just)[\s,]+)*(?:(?:re)?run|fix|add|remove|delete|rename|open|show|list|commit|push|build|test|deploy|install
      |update|revert|undo|check|look|read|find|explain|summari[sz]e|print|create|write|implement|refactor|move|format|lint|debug|start|restart|merge|rebase
      |(?:can|could|would|will)\syou|what|why|how|where|which|who|is|are|does|do|did|has)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMAND_WORDS = 14
_HAN_COMMAND = lazy_regex(
    r"\A(?:请|帮我|再|把)*(?:跑|运行|修|改|提交|看|查|加|删|重试|解释|打开)[^，。；\n]{0,14}[。！？]?\Z"
)
_PLAIN = """
    a about add again all also an and any are at back bug build builds bye can change changed changes check
    clean code command commands commit commits could debug deploy did diff directory do docs does done down
    error errors exist explain fail failed failing fails failure file files find fix fixed folder for from
    function functions give go green has have here how i if implement in input install is it just last lint list
    log login logs look me mean method module name new next not now of ok okay old on open or out output page
    pass passed passes passing please print push read readme refactor remove rename rerun restart result results
    return returns revert run running script server should show start status still suite summarise summarize
    take tell test tests that the their them then there these this those time to try type types typo undo up
    update value variable version warning warnings was were what when where which who why will work working
    works would write wrong you
"""
"""Words of commands and questions that hold nothing by themselves."""
_REPORT = """
    a added all an and are bug build code commit committed completed created done everything file files finished
    fix fixed function green in installed is it it's now of ok output pass passed passes passing pushed ran
    readme ready renamed run suite test tests the this to typo updated was were works
"""
"""Words of reports that name no choice."""
_WORD = lazy_regex(r"[^\s,;:!?\"“”]+")
_CODE = lazy_regex(r"\A(?:`.*`|.*[a-z][A-Z].*|[\w/()-]*[/_()\d.][\w./()-]*)\Z")
"""A name from a program, or a number."""
_ANSWER = lazy_regex(
    r"\b(?:no|nope|nein|stop|wait|do\sit|ship\sit|run\sit|commit\sit|go(?:\sahead|\son)?|proceed|adelante)\b|没问题|"
    + CONFIRMATION,
    re.IGNORECASE,
)
"""What an answer to a step says of it, other than thanks and greetings."""


def holds_nothing(messages: Iterable[UserMessage]) -> bool:
    """Whether none of the user's messages can hold something lasting."""
    return not any(_may_hold(message) for message in messages)


def _may_hold(message: UserMessage) -> bool:
    words = own_words(message.text)
    if not words:
        return False
    if _GREETING.match(words):
        return _ANSWER.search(words) is not None and not _is_routine(message.reply_to)
    return not _is_bare_command(words) or any(each.cue != "place in code" for each in find_candidates(message))


def _is_bare_command(words: str) -> bool:
    """Whether the words only ask for the task at hand, and all of them are known here."""
    if _HINT.search(words):
        return False
    if _HAN_COMMAND.match(words):
        return True
    is_short = "\n" not in words and len(words.split()) <= _COMMAND_WORDS
    return is_short and bool(_COMMAND.match(words)) and _is_understood(words, _PLAIN)


def _is_routine(reply: str) -> bool:
    """Whether what was answered is nothing to learn from: it names no choice and asks nothing, in words known here."""
    return not reply.strip() or ("?" not in reply and _is_understood(reply, _REPORT))


def _is_understood(text: str, vocabulary: str) -> bool:
    """Whether all words of a text are among the known ones, or names from a program."""
    among = frozenset(vocabulary.split())
    words = (word.strip(".'") for word in _WORD.findall(text))
    return all(not word or word.lower() in among or _CODE.match(word) for word in words)
