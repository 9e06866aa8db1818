from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reverie.tools.shell_output import KEY_MASK, KeyMask
from tests.requirements import requirement

KEYS = ("abab-abac", "abab-abad-long", "xyz")


@requirement("tools:bash:keys")
@given(st.lists(st.sampled_from([*KEYS, "ab", "abab-", "x", "\n", "ü"])), st.lists(st.integers(0, 40)))
def test_a_key_is_hidden_wherever_the_stream_is_cut_and_all_else_stays(words: list[str], cuts: list[int]) -> None:
    whole = "".join(words).encode()
    mask, shown, start = KeyMask(KEYS), b"", 0
    for size in [*cuts, len(whole)]:
        shown += mask.mask(whole[start : start + size])
        start += size
    shown += mask.rest()

    expected = whole
    for key in sorted(KEYS, key=len, reverse=True):
        expected = expected.replace(key.encode(), KEY_MASK.encode())
    assert not any(key.encode() in shown for key in KEYS)
    if not _overlap(whole):
        assert shown == expected


def _overlap(text: bytes) -> bool:
    """Whether one key begins inside another, so that which is found first depends on the cut."""
    places = [(text.find(key.encode(), at), len(key)) for key in KEYS for at in range(len(text))]
    found = sorted({place for place in places if place[0] >= 0})
    return any(one[0] + one[1] > other[0] for one, other in pairwise(found))


@requirement("tools:bash:keys")
def test_without_keys_nothing_is_held_back() -> None:
    assert KeyMask(()).mask(b"abc") == b"abc"
