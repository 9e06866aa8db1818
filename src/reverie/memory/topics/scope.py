"""Which memories may be shared with the team, by their type: the rule that every write below `team/` is held to.

A memory about a person is always private. Feedback is shared when it is a convention of the project, not when it says
how one person likes to be answered. The rest may be shared.
"""

from __future__ import annotations

import re

from reverie.memory.topics.value import MemoryType, Topic
from reverie.patterns import lazy_regex

_CONVENTION = lazy_regex(
    r"""\b(?:we|our|us|everybody|everyone|every\s(?:contributor|developer|change|commit|pull\srequest|pr)|all\s(?:contributors|developers|of\sus)
        |the\s(?:team|project|repo(?:sitory)?|code\s?base|company)|this\s(?:project|repo(?:sitory)?|code\s?base|team)
        |contributors|reviewers?|conventions?|policy|ci|pipeline|house\s(?:style|rule))\b
      |我们|团队|大家|所有人|チーム|みんな|全員|私たち""",
    re.IGNORECASE | re.VERBOSE,
)
_PERSONAL = lazy_regex(
    r"""\b(?:i|i'm|i've|i'd|my|me|mine|myself)\b
      |\b(?:the\suser|he|she)\s(?:prefers?|likes?|wants?|dislikes?|hates?|asked|is|uses|finds|reads|expects?)\b
      |\b(?:(?:short|brief|long|concise|terse|detailed|polite|formal|informal)\s(?:answers?|repl(?:y|ies)|explanations?|responses?|summar(?:y|ies))
        |(?:answer|reply|respond|explain|summari[sz]e|write\sto|speak\sto|talk\sto|address|call)\s(?:me|him|her|them|the\suser)
        |(?:answers?|repl(?:y|ies)|responses?)\s(?:in|without|with|should|must|are|stay)\b|emojis?\b|tone\sof\svoice)
      |我(?!们)|私(?!たち)""",
    re.IGNORECASE | re.VERBOSE,
)


def find_private_reason(topic: Topic) -> str:
    """Why a memory must not be shared, as a sentence with the next step; empty where it may be."""
    if topic.type is MemoryType.user:
        return "memories about a person (type user) are private; save it without --team, or as another type"
    if topic.type is MemoryType.feedback and _is_personal(topic):
        return (
            "feedback on how one person wants to work is private; save it without --team, "
            "or say it as a convention of the project (who follows it: we, everybody, this repository)"
        )
    return ""


def _is_personal(topic: Topic) -> bool:
    text = f"{topic.name}\n{topic.description}\n{topic.body}"
    return _PERSONAL.search(text) is not None and _CONVENTION.search(text) is None
