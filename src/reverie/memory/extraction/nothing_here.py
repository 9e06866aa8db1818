"""The local filter: whether a turn holds nothing to keep, answered without a model. When in doubt it holds something.

Wide where the rules of `cues.py` are narrow: it only has to be right about `thanks`, `run it again` and pasted output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reverie.memory.extraction.candidate import Said
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.typed import own_words

_HINT = re.compile(
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
_SMALL_TALK = re.compile(
    r"""\A(?:thanks?(?:\syou)?|thx|ok(?:ay)?|yes|yep|yeah|no|nope|sure|great|perfect|nice|cool|good|lgtm|looks\sgood|go(?:\sahead)?
      |continue|proceed|next|done|exactly|please|again|try\sagain|commit\sit|ship\sit|run\sit|do\sit|stop|wait|hi|hello|hey
      |好的?|谢谢|继续|可以|嗯|对|是的?|没问题|danke|passt|weiter|ja|nein|ありがとう|はい|続けて(?:ください)?|お願いします
      |[\s,.!？?，。！])+\Z""",
    re.VERBOSE | re.IGNORECASE,
)


def holds_nothing(messages: Iterable[Said]) -> bool:
    """Whether none of the user's messages can hold something lasting."""
    return not any(_may_hold(message) for message in messages)


def _may_hold(message: Said) -> bool:
    words = own_words(message.text)
    if not words or _SMALL_TALK.match(words):
        return False
    return bool(_HINT.search(words)) or any(each.cue != "place in code" for each in find_candidates(message))
