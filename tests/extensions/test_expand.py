from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.expand import expanded, unset
from tests.requirements import requirement


@requirement("plugins:servers:variables")
def test_a_variable_a_default_and_an_unset_one() -> None:
    values = {"HOST": "example.test", "EMPTY": ""}

    assert expanded("https://${HOST}/${PATH_:-v1}/${KEY}", values) == "https://example.test/v1/${KEY}"
    assert expanded("${EMPTY}|${EMPTY:-other}", values) == "|other"
    assert expanded("$HOST ${1} ${}", values) == "$HOST ${1} ${}"
    assert unset("${HOST} ${KEY} ${KEY} ${PATH_:-v1}", values) == ("KEY",)


@given(st.text(alphabet="ab{}$:-_ ", max_size=40))
def test_text_without_known_variables_and_defaults_stays_as_it_is(text: str) -> None:
    if ":-" not in text:
        assert expanded(text, {}) == text


@given(st.text(max_size=20))
def test_what_is_filled_in_is_not_looked_at_again(value: str) -> None:
    assert expanded("${A}", {"A": "${B}" + value, "B": "no"}) == "${B}" + value
