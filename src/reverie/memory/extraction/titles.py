"""Titles a person would write: the core of a sentence, at most sixty characters, with the same meaning.

A title leaves out what leads up to a rule, what is polite and what explains, then clauses and phrases from the end.
No shortening counts that loses a negation, a condition or a limit (`polarity`): then the longer one stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from reverie.memory.topics.polarity import MismatchKind, count_negations, find_mismatch, make_title, stops_before_clause
from reverie.patterns import lazy_regex, split_sentences

NAME_CHARS = 60
_SHORTEST_CHARS = 14
_SHORTEST_HAN_CHARS = 5
_FEWEST_WORDS = 3
_SHORTEST_PHRASE_CHARS = 36
"""A sentence that is cut within a clause to less than this has lost what it is about."""
_LONGEST_FRONTED_CHARS = 40
_NEARLY_FITTING_CHARS = 72
"""A clause up to this length stays whole."""
_MOST_TRIED = 24
_FLAGS = re.VERBOSE | re.IGNORECASE
_DECIDED = lazy_regex(
    r"""\A(?:we(?:'ve|\shave)?\s(?:all\s|finally\s|already\s|just\s|jointly\s)?(?:decided|agreed|opted)\s(?:to|that)\s
      |it(?:'s|\sis|\swas)\s(?:decided|settled|agreed)[:,]?\s(?:that\s)?|decided[:,]\s|we(?:'ve|\shave)?\ssettled\s(?:it|this)[:,]\s
      |wir\shaben\s(?:uns\s)?(?:entschieden|beschlossen|geeinigt)[,:]\s(?:dass\s)?|on\sa\sdécidé\s(?:que\s|de\s)|hemos\sdecidido\s(?:que\s)?
      |i(?:'d|\swould)\s(?:really\s)?(?:like|love)\s(?:it\sif\s)?you\s(?:to\s)?|i\s(?:just\s)?want\syou\sto\s|i\sneed\syou\sto\s
      |(?:can|could|would)\syou\s(?:please\s)?(?=always|never|stop|not\b)|it\swould\sbe\s(?:great|nice|good)\sif\syou\s(?:could\s)?
      |(?:just\s)?(?:so\syou\sknow|for\scontext|as\san?\s(?:aside|reminder)|one\s(?:more\s)?thing|heads[\s-]up|fyi|btw)[,:—–-]?\s
      |(?:denk|denke)\s(?:bitte\s)?(?:dran|daran)[,:]\s|zur\sinfo[,:]\s|nur\sdass\sdu'?s\sweißt[,:]\s|merk(?:e)?\sdir[,:]?\s
      |pour\sinfo[,:]?\s|sache(?:z)?\sque\s|retiens\s(?:bien\s)?(?:que\s|:\s)|note(?:z)?\sque\s|au\s(?:fait|passage)\s?[,:]\s
      |para\sque\slo\ssepas[,:]\s|ten\sen\scuenta\sque\s|recuerda\s(?:que\s)?|por\scierto[,:]\s|ojo[,:]?\s(?:que\s)?
      |(?:ちなみに|なお|あと|それと)[、,]?|(?:对了|另外|提醒一下|说一下|记住)[，,：:])""",
    _FLAGS,
)
_LASTING = r"""(?:from\s(?:now|here|today)\son(?:wards)?|going\sforward|moving\sforward|in\s(?:the\s)?future
    |please|pls|plz|thanks?|thank\syou|by\sthe\sway|btw|ok(?:ay)?|full\sstop|period|bitte|danke|ab\s(?:jetzt|sofort)|künftig|in\szukunft|punkt
    |merci|s'il\s(?:te|vous)\splaît|stp|svp
    |désormais|dorénavant|à\sl'avenir|point(?:\sfinal)?|por\sfavor|gracias|de\sahora\sen\sadelante|en\sadelante|a\spartir\sde\sahora|y\spunto)"""
_AT_THE_END = lazy_regex(rf"(?:[\s,;.!—–-]+{_LASTING})+\Z", _FLAGS)
_AT_THE_START = lazy_regex(
    rf"\A(?:{_LASTING}[\s,:;—–-]+|(?:从现在(?:开始|起)|从今以后|以后|今后)[，,]?|(?:今後は?|これから(?:は|も)?)[、,]?)+",
    _FLAGS,
)
_ASIDE = lazy_regex(r"\s?[(（][^()（）]{1,120}[)）]|\s[—–]\s[^—–]{3,80}\s[—–](?=\s)")
_SUBORDINATE = lazy_regex(
    r"""[,;]?\s(?:because|cos|cuz|since(?!\s\d)|so\sthat|so\s(?:i|we|it|they|you)\b|otherwise|or\selse|as\s(?:we|it|they|i|our)\b|which|who\b|where\b
      |even\sif|even\sthough|although|weil|denn|sonst|damit|da\s(?:wir|ich|es|die|der|das)|wobei|welche[rsmn]?|obwohl
      |porque|ya\sque|(?:que\s)?si\sno|pues|para\sque|así\sque|aunque|que\s(?:luego|después|el|la|los|las)\s
      |parce\squ\S+|car|sinon|puisqu\S+|comme\sça|donc|pour\sque|afin\s|même\ssi)\b.*\Z
      |[，,；]?(?:因为|由于|否则|不然|要不|免得|省得|所以).*\Z|:\s(?:an?|the|it|they|we|our|that|last)\s[^:]{6,}\Z|[、,]?(?:なので|ので|から|ため)[、,].*\Z""",
    _FLAGS | re.DOTALL,
)
_CLAUSE_END = lazy_regex(r"[,;]\s+|[—–，；、]\s*|\s[-–—]\s|\.{2,}\s*|…\s*")
_FRONTED = lazy_regex(
    r"""\A(?:in|for|when(?:ever)?|before|after|if|on|with|during|at|unless|while|since|until|as|by|every|from|under|wenn|bei|beim|vor|nach|für|im|in|am|seit|ab|falls|solange|mit|aus|zum|zur
      |pour|dans|depuis|quand|si|avant|après|chez|à|en|sur|lors|dès|avec|para|desde|cuando|antes|con|al|a|así|voilà|oui|sí|ja|yes)\b""",
    _FLAGS,
)
"""Words with which a sentence begins that has not come to its subject at the first comma."""
_PHRASE = lazy_regex(
    r"""\s(?=(?:in|on|at|for|with|from|into|before|after|when|while|if|until|and|or|but|so|via|through|by|to\s(?:the|our|my)|as|per|like|instead|rather
      |under|every|each|between|during|over|across|once|in\sorder|im|in|am|an|auf|bei|für|mit|von|vom|zum|zur|aus|und|oder|aber|wenn|bevor|nachdem|über|durch|statt
      |dans|sur|pour|avec|chez|avant|après|quand|et|ou|mais|par|comme|depuis
      |en|para|con|por|antes|después|cuando|y|o|pero|desde|sobre|según)\s)""",
    _FLAGS,
)
"""Where a sentence can end early and still be one."""
_DANGLING = lazy_regex(
    r"""(?:\A|[\s'’])(?:the|an?|of|to|and|or|but|in|on|at|for|with|from|into|by|as|is|are|was|be|been|that|which|who|if|when|than|our|my|your|their|its|this|these|very|not|no|don'?t
      |never|always|only|even|just|must|should|will|can|do|does|have|has|i|we|you|they|it|der|die|das|den|dem|des|ein|eine|einen|einem|einer|und|oder|aber|im|am|bei|für|von|vom|zum|zur
      |ist|sind|war|wird|werden|dass|wenn|nicht|nie|kein|keine|immer|nur|ich|wir|du|sie|es|le|la|les|l|d|qu|n|un|une|des|du|de|et|ou|mais|à|au|aux|dans|sur|pour|avec|par|que|qui|est|sont
      |ne|pas|on|nous|vous|je|tu|il|el|los|las|una|unos|y|o|pero|del|al|en|por|para|con|sin|sans|ohne|without|se|no|nunca|siempre|solo|es|son|lo|me|te)\Z""",
    _FLAGS,
)
"""A title does not end with such a word."""
_NO_SPACES = lazy_regex("[\u3040-\u30ff\u3400-\u9fff]")
_DIGIT = lazy_regex(r"\d+")
_EDGES = " .。!！,，;；:：…、-–—?？"


def write_title(text: str) -> str:
    """A title for a statement: the longest shortening that fits and means the same; else the shortest one that does."""
    rule = _drop_explanation(text)
    kept = [
        title
        for title in islice(_shortenings(rule), _MOST_TRIED)
        if _means_the_same(rule, title) and _is_accepted(text, title)
    ]
    fitting = [title for title in kept if len(title) <= NAME_CHARS]
    numbered = [title for title in kept if set(_DIGIT.findall(rule)) <= set(_DIGIT.findall(title))]
    best = next((title for title in numbered if title in fitting), "") or min(
        numbered or fitting or kept, key=len, default=rule
    )
    return make_title(best)


def _drop_explanation(text: str) -> str:
    """The first sentence of a text without what leads up to it and without its reason."""
    sentences = split_sentences(" ".join(text.split()))
    first = sentences[0] if sentences else text
    if len(sentences) > 1 and not _is_whole(first.strip(_EDGES)):
        first = f"{first} {sentences[1]}"
    bare = first.strip(_EDGES)
    for pattern in (_DECIDED, _AT_THE_START, _SUBORDINATE, _AT_THE_END, _AT_THE_START):
        shorter = pattern.sub("", bare, count=1).strip(_EDGES)
        is_lead = pattern is not _SUBORDINATE and count_negations(shorter) == count_negations(bare)
        if shorter != bare and _is_whole(shorter) and (is_lead or _means_the_same(bare, shorter, explains=True)):
            bare = shorter
    return bare


def _shortenings(rule: str) -> Iterator[str]:
    """Ever shorter forms of a statement: without asides, then up to where a clause ends, then a phrase."""
    seen: set[str] = set()
    bare = _ASIDE.sub("", rule)
    borders = list(_CLAUSE_END.finditer(bare))
    is_fronted = bool(borders and borders[0].start() < _LONGEST_FRONTED_CHARS and _FRONTED.match(bare))
    clauses = [bare[: match.start()] for match in reversed(borders[1:] if is_fronted else borders)]
    phrases = [bare[: match.start()] for match in reversed(list(_PHRASE.finditer(bare)))]
    phrases = [each for each in phrases if len(each) >= _SHORTEST_PHRASE_CHARS and len(bare) > _NEARLY_FITTING_CHARS]
    forms = [rule, bare, *clauses, *phrases]
    for form in forms:
        title = _capital(form.strip(_EDGES))
        if title not in seen and _is_whole(title):
            seen.add(title)
            yield title


def _is_whole(title: str) -> bool:
    """Whether a title says something by itself."""
    if _NO_SPACES.search(title):
        return len(title) >= _SHORTEST_HAN_CHARS
    is_long = len(title) >= _SHORTEST_CHARS and len(title.split()) >= _FEWEST_WORDS
    return is_long and not _DANGLING.search(title) and title.count("(") == title.count(")")


def _means_the_same(rule: str, title: str, *, explains: bool = False) -> bool:
    """Whether a shorter form keeps every negation, condition and limit of a statement; reasons may have their own."""
    missing = count_negations(rule) - count_negations(title)
    if missing:
        rest = rule.casefold().partition(title.casefold())[2]
        is_apart = explains or stops_before_clause(rule, title)
        if not is_apart or count_negations(rest) != missing:
            return False
    return _is_accepted(rule, title)


def _is_accepted(text: str, title: str) -> bool:
    differs = find_mismatch(text, title, is_title=True)
    return differs is None or (differs.kind is MismatchKind.wording and title.casefold() in text.casefold())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
