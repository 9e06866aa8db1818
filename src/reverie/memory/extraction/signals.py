"""What the words of a sentence say about it, in six languages: that it holds always, that it is only imagined, ...

The words stand in `signals.txt`. A signal means the same in every language, so what the weights in `classify.py` learn
from examples in one language holds in the others.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from reverie.patterns import lazy_regex

_COMMON = {
    "en": """the an? is are you i to of and in it that for not we this on with don't do my be have if so was what can
        please never always""",
    "de": """der die das und ist nicht ich du wir eine? mit auf für im den zu bitte es sie wenn auch habe? mal noch
        immer nie keine? dem von bei mir""",
    "es": """el la los las de que y es en no una? por con se lo para me si al del como pero su más te ya siempre nunca
        eso est[ae]""",
    "fr": """le la les de des et est une? que ne pas je tu on il en du pour dans ce c'est sur avec qui vous nous mais au
        toujours jamais plus ça""",
}
"""The words by which a language in Latin letters is recognised."""
_COMMON_WORDS = {
    code: lazy_regex(rf"\b(?:{'|'.join(words.split())})\b", re.IGNORECASE) for code, words in _COMMON.items()
}
_KANA = lazy_regex("[\u3040-\u30ff]")
_HAN = lazy_regex("[\u3400-\u9fff]")
_UNSPACED = frozenset({"zh", "ja"})
_LATIN_IN_UNSPACED = ("store", "output")
"""Signals whose English words are used in Chinese and Japanese too."""
_CHARS_OF_HAN = 2.2
"""A character of Chinese or Japanese says as much as this many letters."""
_LENGTHS = (20, 45, 90, 160)
_SHAPES = {
    "q": lazy_regex(r"[?？]\W*\Z"),
    "quoted": lazy_regex("▯"),
    "code": lazy_regex(r"\w\(|\w_\w|[a-z][A-Z]"),
    "path": lazy_regex(r"(?<!\w)[~\w.-]*/[\w.-]+|\\\w|\.\w{2,4}\b"),
    "url": lazy_regex(r"http|(?<!\w)#[a-z]"),
    "num": lazy_regex(r"\d"),
    "colon": lazy_regex("[:：]"),
    "bang": lazy_regex("[!！]"),
    "caps": lazy_regex(r"\b[A-Z]{4,}\b"),
    "commas": lazy_regex("[,，、;；].*[,，、;；]"),
    "dash": lazy_regex(r"\s[-–—]\s"),
}
"""Signals that need no words."""


def find_language(text: str) -> str:
    """The language of a text among those that signals are known for; English in doubt."""
    if _KANA.search(text):
        return "ja"
    if len(_HAN.findall(text)) > 1:
        return "zh"
    counts = {code: len(words.findall(text)) for code, words in _COMMON_WORDS.items()}
    return max(counts, key=lambda code: counts[code])


@lru_cache(maxsize=512)
def find_signals(text: str, language: str) -> frozenset[str]:
    """The names of the signals in a text."""
    plain = text.replace("’", "'")
    patterns = _patterns(language)
    names = {name for name, words in patterns.items() if words.search(plain)}
    names |= {name for name, shape in _SHAPES.items() if shape.search(plain)}
    if language in _UNSPACED:
        names |= {name for name in _LATIN_IN_UNSPACED if _patterns("en")[name].search(plain)}
    chars = len(plain) * (_CHARS_OF_HAN if language in _UNSPACED else 1)
    names.add(f"length {sum(chars >= limit for limit in _LENGTHS)}")
    return frozenset(names)


@cache
def _patterns(language: str) -> dict[str, re.Pattern[str]]:
    patterns: dict[str, re.Pattern[str]] = {}
    name = ""
    for line in (files(__package__) / "signals.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line[1 : line.index("]")]
        elif line.startswith(f"{language} "):
            words = line[3:].replace("; ", "|")
            whole = words if language in _UNSPACED else rf"(?<!\w)(?:{words})(?!\w)"
            patterns[name] = re.compile(whole.replace(" ", r"\s+"), re.IGNORECASE)
    return patterns
