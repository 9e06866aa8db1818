"""Sentences: what the user decided, and what the assistant stated. Quoted, never rewritten."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from reverie.patterns import CLAUSE_END, lazy_regex

_FENCE = lazy_regex(r"```.*?(?:```|\Z)", re.DOTALL)
_MACHINE = lazy_regex(
    r"<(system-reminder|local-command-\w+|command-\w+|bash-\w+)>.*?</\1>|\[Request interrupted by user[^\]]*\]",
    re.DOTALL,
)
_DECIDES = lazy_regex(
    r"""\b(?:don'?t|do\ not|never|always|prefer|instead|rather|should(?:n'?t)?|must(?:n'?t)?|needs?\ to|have\ to
      |make\ sure|only|no\ longer|stop|avoid|keep|remember|want|let'?s|please|actually|wrong|not\ what|use|without
      |go\ with|yes|no|ok(?:ay)?
      |nicht|nie(?:mals)?|immer|bitte|statt|lieber|muss|soll|jamais|toujours|plutôt|doit|faut|ne\ pas|nunca|siempre|debe
      |mejor|usa|нельзя|всегда|никогда|нужно|пожалуйста)\b
      |不要|别|不用|必须|应该|总是|永远|请|改成|用这个|不对|ください|しないで|やめて|必ず|べき|하지\s?마|항상|반드시|해\s?주세요""",
    re.VERBOSE | re.IGNORECASE,
)
_PRINTED = lazy_regex(r"[│┃╭╰━{}]|^[\W\d]|^\S*/\S+\s|[;{]$|^(?:Tip|THOUGHT|Note|Hint):|^\w+\(")
"""Signs that a sentence was pasted from a program and not written by hand."""
_BULLET = lazy_regex(r"^\s*(?:[-*•]|\d+[.)])\s+")
SHORTEST_CHARS = 12
LONGEST_CHARS = 320
SHORT_ANSWER_CHARS = 120
LONGEST_BY_HAND_CHARS = 3_000
"""Longer messages are pasted documents; what they want is read in them, not in single sentences."""


@lru_cache(maxsize=2_048)
def split_clauses(text: str) -> tuple[str, ...]:
    """The sentences of a text outside code, each on one line and of bounded length."""
    return tuple(_clauses(text))


def _clauses(text: str) -> Iterable[str]:
    for piece in CLAUSE_END.split(_FENCE.sub("\n", text)):
        flat = " ".join(_BULLET.sub("", piece).split())
        if flat:
            yield flat if len(flat) <= LONGEST_CHARS else flat[: LONGEST_CHARS - 1] + "…"


def strip_machine_text(text: str) -> str:
    """What a person wrote, without what a program wrapped around it; nothing when all of it is a program's."""
    return _MACHINE.sub("", text).strip()


def decisions(text: str) -> tuple[str, ...]:
    """The sentences of a typed message that state a wish, a choice or a correction."""
    if len(text) > LONGEST_BY_HAND_CHARS:
        return ()
    return tuple(
        one
        for one in split_clauses(strip_machine_text(text))
        if len(one) > 1 and _DECIDES.search(one) and not _PRINTED.search(one)
    )


def question(text: str) -> str:
    """The question with which a reply ends, or nothing."""
    last = split_clauses(text)[-3:]
    questions = [one for one in last if one.endswith(("?", "？"))]
    return questions[-1] if questions else ""


def statements(text: str) -> tuple[str, ...]:
    """The sentences of a reply that are long enough to say something."""
    return tuple(one for one in split_clauses(text) if len(one) >= SHORTEST_CHARS)
