from __future__ import annotations

from typing import Any

import pytest

from reverie.testing.prefix_net import Net, check, classify
from tests.requirements import requirement


def body(*texts: str, system: str = "s") -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    return {"model": "m", "system": [{"type": "text", "text": system}], "messages": messages}


@requirement("testing:prefix-net")
def test_a_growing_conversation_passes() -> None:
    check([body("a"), body("a", "b", "c"), body("a", "b", "c")])


@requirement("testing:prefix-net")
@pytest.mark.parametrize("later", [body("a", "changed", "c"), body("a", system="t"), body("a")])
def test_a_request_that_does_not_extend_the_one_before_fails(later: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="request 2"):
        check([body("a", "b", "c"), later])


@requirement("testing:prefix-net")
def test_two_conversations_may_take_turns() -> None:
    net = Net()
    for one in (body("a"), body("x"), body("a", "b", "c"), body("x", "y", "z")):
        net.take(one)

    assert net.torn == []


@requirement("testing:prefix-net")
def test_a_torn_conversation_is_named() -> None:
    net = Net()
    for one in (body("a"), body("a", "b", "c"), body("a", "changed", "c")):
        net.take(one)

    (torn,) = net.torn
    assert "request 3" in torn
    assert classify(body("a", "b"), body("a", "changed")) in torn
