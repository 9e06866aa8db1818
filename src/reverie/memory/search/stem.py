"""English word forms brought to one: Porter's algorithm (1980), with the irregular verbs and plurals it cannot know.

Questions ask "did she go" where memories say "she went"; without the table those two never meet.
"""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR_FORMS = """
be am is are was were been being; have has had having; do does did done; go goes went gone; get got gotten; make
made; take took taken; see saw seen; come came; know knew known; give gave given; find found; think thought;
tell told; become became; leave left; feel felt; bring brought; begin began begun; keep kept; hold held; write
wrote written; stand stood; hear heard; mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken;
lead led; grow grew grown; lose lost; fall fell fallen; send sent; build built; understand understood; draw drew
drawn; break broke broken; spend spent; rise rose risen; drive drove driven; buy bought; wear wore worn; choose
chose chosen; eat ate eaten; teach taught; catch caught; sleep slept; sell sold; fly flew flown; win won; sing
sang sung; swim swam swum; ride rode ridden; fight fought; throw threw thrown; forget forgot forgotten; hide hid
hidden; drink drank drunk; steal stole stolen; shake shook shaken; wake woke woken; freeze froze frozen; tear
tore torn; swear swore sworn; bite bit bitten; blow blew blown; dig dug; hang hung; seek sought; shoot shot;
shine shone; sink sank sunk; stick stuck; strike struck; sweep swept; lend lent; bend bent; deal dealt; dream
dreamt; feed fed; flee fled; forgive forgave forgiven; lay laid; light lit; ring rang rung; say said; show
shown; spring sprang sprung; weave wove woven; wind wound; bind bound; breed bred; creep crept; child children;
man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; wife wives;
knife knives; half halves; shelf shelves; good better best; bad worse worst
"""

_IRREGULAR: dict[str, str] = {
    form: line.split()[0] for line in _IRREGULAR_FORMS.split(";") for form in line.split()[1:]
}

OPENING_CHARS = 2
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip
"""The longest first."""
_SHAPES = str.maketrans("aeioubcdfghjklmnpqrstvwxz", "V" * 5 + "C" * 20)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the common form of a lower-case word; words of other scripts and with digits come back unchanged."""
    word = _IRREGULAR.get(word, word)
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    return _porter(word)


def opening(word: str) -> str:
    """The first letters of what `stem` makes of a word, known without it.

    In words of three letters the rules may touch them ("ays"); in none of those that `words.py` lists.
    """
    return _IRREGULAR.get(word, word)[:OPENING_CHARS]


def _shape(text: str) -> str:
    if "y" not in text:
        return text.translate(_SHAPES)
    return "".join("V" if _is_vowel(text, at) else "C" for at in range(len(text)))


def _is_vowel(text: str, at: int) -> bool:
    letter = text[at]
    return letter in "aeiou" or (letter == "y" and at > 0 and not _is_vowel(text, at - 1))


def _measure(text: str) -> int:
    return _shape(text).count("VC")


def _has_vowel(text: str) -> bool:
    return any(_is_vowel(text, at) for at in range(len(text)))


def _ends_short(text: str) -> bool:
    return len(text) >= 3 and _shape(text[-3:]) == "CVC" and _is_consonant_pair(text) and text[-1] not in "wxy"


def _is_consonant_pair(text: str) -> bool:
    return not _is_vowel(text, len(text) - 1) and _is_vowel(text, len(text) - 2)


def _porter(word: str) -> str:
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for pairs in (_STEP_2, _STEP_3):
        for ending, instead in pairs:
            if word.endswith(ending):
                if _measure(word[: -len(ending)]) > 0:
                    word = word[: -len(ending)] + instead
                break
    word = _drop_ending(word)
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if len(rest) > 1 and rest[-1] == rest[-2] and not _is_vowel(rest, len(rest) - 1) and rest[-1] not in "lsz":
                return rest[:-1]
            if _measure(rest) == 1 and _ends_short(rest):
                return rest + "e"
            return rest
    return word


def _drop_ending(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
                return rest
            return word
    return word
