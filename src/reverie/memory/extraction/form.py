"""Grammatical features of an English sentence as numbers: subject, strictness, tense.

Embeddings hardly tell `never mock the database` from `mock the database in this test`; these features do. Their order
is that of the weights in `reading.json`: after a change `python -m bench.extraction.fit` has to run again.
"""

from __future__ import annotations

import re

from reverie.patterns import lazy_regex

_MARKS: tuple[str, ...] = (
    (
        r"^(?:please |and |then |now |also |ok,? )*(?:add|fix|make|write|create|run|use|set|change|update|move"
        r"|remove|delete|show|check|look|put|implement|rename|convert|build|generate|explain|find|read|open"
        r"|push|commit|deploy|replace|try|give|tell|let|start|stop|keep|leave|skip|document|review|refactor"
        r"|extract|split|port|draft|wrap|cache|bump)\b"
    ),
    r"\b(?:always|never|ever)\b",
    r"\b(?:every|each|any|all|everything|anything|nothing|nobody|everyone)\b",
    (
        r"\b(?:from now on|from here on|going forward|in (?:the )?future|by default|in general"
        r"|as a (?:general )?rule|next time|whenever|(?:every|each|any) time you|unless (?:i|told)"
        r"|starting (?:today|now)|as of)\b"
    ),
    r"\b(?:this|that|these|those|it|here|there)\b",
    (
        r"\bthis (?:\w+ )?(?:pr|branch|task|session|file|form|function|test|page|dump|script|time|once|one"
        r"|call|class)\b"
    ),
    r"\b(?:line|step|option|file|function|method|class|variable|button|page|field|endpoint|column|row|header)\b",
    r"\b(?:now|today|yesterday|tonight|again|currently|just|still|already|yet|moment|for now|an hour|minutes?)\b",
    r"\b(?:because|since|so that|otherwise|that'?s why|that is why|the reason|hence|or else)\b",
    r"^(?:i|i'm|i've|i'd|i'll|my)\b",
    r"^i(?:'ve| have)? (?:just |already )?(?!need)\w+ed\b",
    r"\bwe\b|\bour\b|\bus\b|\bwe're\b|\bwe've\b",
    r"^(?:we|our|we're|we've)\b",
    r"\byou\b|\byour\b",
    r"^you\b",
    r"\?",
    r"^(?:what|why|how|who|when is|where|which|do|does|did|is|are|can|could|should|would|will|have|has)\b",
    r"^(?:can|could|would|will) you\b",
    r"https?://",
    r"\b[\w/-]+\.(?:py|ts|js|go|rs|json|yaml|tsx|java|toml)\b|\b\w+_\w+\b|\b\w+\(\)",
    r"\b(?:please|kindly)\b",
    r"\b(?:must|have to|has to|needs? to|required?|requires|should)\b",
    (
        r"\b(?:maybe|perhaps|might|could|would|probably|possibly|think|guess|wonder\w*|suppose|imagine|pretend"
        r"|unsure|debating)\b"
    ),
    r"^(?:if|when|once|after|before)\b",
    r"\bif\b",
    (
        r"\b(?:says?|said|wrote|writes|told|states?|reads|claims?|recommends?|according|suggests?|complains?"
        r"|commented)\b"
    ),
    (
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\d{4}-\d\d|\bnext (?:week|month|mon|tue|wed|thu|fri)"
        r"|\b\d+(?:st|nd|rd|th)\b|\b(?:january|february|march|april|june|july|august|september|october"
        r"|november|december)\b"
    ),
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\bevery (?:night|week|day|month|morning|\w+day|second)\b",
    r"\b(?:deadline|due|launch|release|freeze|ship|demo|expires?|go-live|live|ends?|milestone|until|sprint)\b",
    r"\b(?:don'?t|do not|no|not|stop|avoid|without|never|quit|refrain)\b",
    r"\b(?:prefer|rather|like|hate|love|want|fan|favou?r|lean)\b",
    r"\b(?:i am|i'm|as) (?:an?|the)\b",
    (
        r"\b(?:years?|background|new to|experience|beginner|native|fluent|degree|student|job|role|work (?:as"
        r"|in|at|from))\b"
    ),
    (
        r"\b(?:know|used|worked with|touched) (?:nothing|little|\w+ (?:well|inside out|superficially))\b"
        r"|\bnever (?:used|worked|touched)\b"
    ),
    r"\b(?:owns?|owned|responsible|maintain\w*|in charge|sign(?:s|ed)? off|team|squad|takes care|approves?)\b",
    r"(?-i:\b[A-Z][a-z]+) (?:is|owns|takes|leads|has|decides|handles|covers|maintains|approves|wrote|knows)\b",
    (
        r"\b(?:tracked|lives?|kept|stored|documented|dashboard|wiki|board|channel|found|logged|managed"
        r"|collected|posted)\b"
    ),
    (
        r"\b(?:slack|jira|linear|notion|confluence|figma|grafana|sentry|datadog|drive|sharepoint|trello|kibana"
        r"|looker|vault)\b"
    ),
    r"\b(?:decided|settled|chose|picked|agreed|opted|going with|moving|dropp\w+|standard\w*|switch\w+|migrat\w+)\b",
    r"\b(?:\w{3,}ed|was|were|had|did|came|went|lost|broke|took)\b",
    r"\b\w{3,}ing\b",
    r"^(?:the|our|all|every|each|no|tests?|commits?|prs?|logs?)\b",
    r"^(?:the) \w+(?: \w+)? (?:is|are|has|returns|contains|calls|uses|runs)\b",
    r",",
    r"^\W*\w+(?:\W+\w+){0,4}\W*$",
    r"(?:\w+\W+){16,}",
    (
        r"\b(?:slow|bad|lazy|useless|difficult|terrible|late|unreliable|clueless|rude|annoying|hopeless"
        r"|arrogant|idiot|stupid)\b"
    ),
    r"\b(?:he|she|boss|guy|intern|colleague|manager|developer|people)\b",
    r"\b(?:bug|error|crash\w*|fail\w*|broken|timeout|exception|stuck|works|hangs)\b",
    r"\b(?:policy|convention|rule|principle|house style|agreement|habit|standard|guideline)\b",
    r"\b(?:remember|keep in mind|note that|fyi|for the record|heads up|btw)\b",
    r"\b(?:thanks?|great|perfect|nice|good|sorry|ok|yes|cool|exactly)\b",
    r"\b(?:customers?|users|client|legal|compliance|contract|audit\w*|budget|security|regulator|partner)\b",
    r"\b(?:in|of|from|on|for) (?:this|that|your last) \w+\b",
    r"^(?:let'?s)\b",
    r"\b(?:the|your) (?:last|first|second|third|next|other|new|old|same) \w+\b",
    r"\b(?:me|myself)\b",
    (
        r"\b(?:write|explain|tell|give|show|find|list|name|count|play|translate|summari\w+) (?:me |us )?(?:an?"
        r"|the|some|five|three|two|ten)\b"
    ),
)
_COMPILED = tuple(lazy_regex(mark, re.IGNORECASE) for mark in _MARKS)
_BEGINS_LOWERCASE = lazy_regex(r"\A[a-z]")
_OTHER_LANGUAGE = lazy_regex(
    r"\b(?:und|ist|nicht|bitte|der|das|ein|eine|wir|ich|kein\w*|auf|mit|nie|immer|für|le|les|est|una?|los|que|para|por)\b",
    re.IGNORECASE,
)
_MIN_ASCII_SHARE = 0.97


def marks(sentence: str) -> list[float]:
    """The features of a sentence, each 1.0 or 0.0."""
    features = [1.0 if mark.search(sentence) else 0.0 for mark in _COMPILED]
    return [*features, 1.0 if _BEGINS_LOWERCASE.match(sentence) else 0.0]


def is_english(sentence: str) -> bool:
    """Whether a sentence is English, the only language of the embeddings."""
    plain = sentence.replace("’", "'").replace("—", "-").replace("–", "-").replace("“", '"').replace("”", '"')
    ascii_chars = sum(char.isascii() for char in plain)
    return ascii_chars >= _MIN_ASCII_SHARE * len(plain) and not _OTHER_LANGUAGE.search(plain)
