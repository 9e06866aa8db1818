"""The search for keywords decides where rules are tried; it must not lose what the rules alone would find."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from reverie.files.secret_scan import scan
from reverie.files.secret_scan.keywords import LONG_TEXT_CHARS, places_of_rules
from reverie.files.secret_scan.rules import IN_CONTEXT, TOKENS, begins_word
from reverie.files.secret_scan.visible import beyond_ascii
from tests.files.secret_scan.fresh import fresh, letters_and_digits
from tests.requirements import requirement

CHANCE = random.Random(15)
VALUES = [letters_and_digits(size, CHANCE) for size in (8, 14, 20, 40)]
LOGIN = f"https://deploy:{VALUES[1]}@registry.acme.dev"
PIECES = [
    *(keyword for rule in IN_CONTEXT for keyword in rule.keywords),
    *(keyword.upper() for rule in IN_CONTEXT for keyword in rule.keywords),
    *(fresh(rule.source, CHANCE) for rule in TOKENS[::7]),
    *VALUES,
    LOGIN,
    *(
        "=",
        ": ",
        ' = "',
        '"',
        " is ",
        " est ",
        " ist ",
        "--",
        "api-",
        "API_",
        "://",
        "curl -u dana:",
        "wor",
        "tok",
        "an ",
    ),
    *("\n", " ", "\\n", "é", "密", "\u200b", "-----BEGIN RSA PRIVATE ", "-----"),
]


def places(text: str) -> set[tuple[int, str]]:
    found = places_of_rules(text, text.encode("ascii", "replace"), beyond_ascii(text))
    return {(place, rule.source) for place, rule in found}


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_long_text_is_searched_for_the_same_keywords_as_a_short_one(text: str) -> None:
    assert places(text + "." * LONG_TEXT_CHARS) == places(text + ".")


@requirement("secrets:scan:every-rule")
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.booleans())
def test_the_search_loses_nothing_that_the_rules_alone_find(text: str, is_long: bool) -> None:
    visible = text.replace("\u200b", "") + (". " * LONG_TEXT_CHARS if is_long else "")
    covered = {place for finding in scan(visible) for place in range(finding.start, finding.end)}

    for rule in IN_CONTEXT:
        group = rule.pattern().groupindex.get("secret", 0)
        for match in rule.pattern().finditer(visible):
            assert not rule.accepts(match) or covered.issuperset(range(*match.span(group))), rule.name
    for rule in TOKENS:
        for match in rule.pattern().finditer(visible):
            if begins_word(visible, match.start()) and rule.accepts(match):
                assert covered.issuperset(range(*match.span())), rule.name
