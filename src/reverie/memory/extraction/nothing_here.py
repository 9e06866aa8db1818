"""The local filter: whether a turn holds nothing to keep, answered without a model. When in doubt it holds something.

It skips only what it understands: greetings, thanks, approval of a routine step, bare commands and plain questions.
Whatever it cannot read, such as another language, goes to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.memory.extraction.candidate import Said
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.form import is_english
from reverie.memory.extraction.typed import own_words
from reverie.memory.topics.polarity import is_confirmation
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
_CHOICE = lazy_regex(
    r"[?？]|\b(?:instead|rather|because|chose|decided|opted|normally|usually|unusual\w*|although|without|skipped|not|one|single|only"
    r"|unlike|different\w*|prefer\w*|should|could)\b",
    re.IGNORECASE,
)
"""What an agent says of a step that was not the obvious one, or asks about."""
_ROUTINE = lazy_regex(
    r"\b(?:done|fixed|pass(?:es|ed)?|green|finished|committed|pushed|updated|added|removed|created|renamed|installed|completed?|ran|works|ready)\b",
    re.IGNORECASE,
)
_ROUTINE_CHARS = 160


def holds_nothing(messages: Iterable[Said]) -> bool:
    """Whether none of the user's messages can hold something lasting."""
    return not any(_may_hold(message) for message in messages)


def _may_hold(message: Said) -> bool:
    words = own_words(message.text)
    if not words:
        return False
    if is_confirmation(words) and not _is_routine(message.reply_to):
        return True
    if _GREETING.match(words):
        return False
    return not _is_bare_command(words) or any(each.cue != "place in code" for each in find_candidates(message))


def _is_bare_command(words: str) -> bool:
    """Whether the words only ask for the task at hand, in a language that is known here."""
    if _HINT.search(words):
        return False
    if _HAN_COMMAND.match(words):
        return True
    return (
        "\n" not in words and len(words.split()) <= _COMMAND_WORDS and is_english(words) and bool(_COMMAND.match(words))
    )


def _is_routine(reply: str) -> bool:
    """Whether what was approved is nothing to learn from: no choice was made and nothing was asked."""
    if not reply.strip():
        return True
    is_plain = len(reply) <= _ROUTINE_CHARS and is_english(reply) and not _CHOICE.search(reply)
    return is_plain and bool(_ROUTINE.search(reply))
