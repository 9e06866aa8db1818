"""The requests that reach a provider over HTTP, one file for each scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.golden.golden import Golden
from tests.golden.place import Place, place
from tests.golden.scenarios import SCENARIOS
from tests.requirements import requirement

HEADERS = ("accept", "anthropic-beta", "anthropic-version", "content-type")
PLAIN = "plain"


@pytest.fixture(scope="session")
def usual() -> Mapping[str, Any]:
    """The request of the plain scenario; what others have in common with it is not written down again."""
    (request,) = _requests(PLAIN)
    body: Mapping[str, Any] = request["body"]
    return body


@requirement("golden:requests")
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_requests_of_a_scenario(golden: Golden, usual: Mapping[str, Any], name: str) -> None:
    requests = _requests(name)
    if name != PLAIN:
        before: Mapping[str, Any] = {}
        for number, request in enumerate(requests):
            body = request["body"]
            request["body"] = _shorten(body, usual, before, f"request {number}")
            before = body
    golden.check_json(f"requests/{name}.json", requests)


def _requests(name: str) -> list[dict[str, Any]]:
    scenario = SCENARIOS[name]
    with place(list(scenario.script)) as at:
        scenario.act(at)
        return _written(at)


def _written(at: Place) -> list[dict[str, Any]]:
    requests = [
        {
            "path": record.path,
            "status": record.status,
            "headers": {name: record.headers[name] for name in HEADERS if name in record.headers},
            "body": record.body,
        }
        for record in at.provider.requests
    ]
    written: list[dict[str, Any]] = at.normaliser.json(requests)
    return written


def _shorten(
    body: Mapping[str, Any], usual: Mapping[str, Any], before: Mapping[str, Any], named_before: str
) -> dict[str, Any]:
    """The body with references instead of what the plain scenario or the request before has word for word."""
    short = dict(body)
    if "system" in body:
        short["system"] = _unless_equal(body["system"], usual.get("system", ()), f"{PLAIN}.json")
    if "tools" in body:
        known = {tool["name"]: tool for tool in usual["tools"]}
        short["tools"] = [
            f"<{tool['name']}>" if known.get(tool.get("name")) == tool else tool for tool in body["tools"]
        ]
    earlier = before.get("messages", ())
    messages = body.get("messages", ())
    same = next((at for at, pair in enumerate(zip(messages, earlier, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(messages), len(earlier)) if same is None else same
    first = [_common(messages[0], usual)] if messages and not same else list(messages[same : same + 1])
    reference = [f"<{same} messages as in {named_before}>"] if same else []
    short["messages"] = [*reference, *first, *messages[same + 1 :]]
    return short


def _common(message: Any, usual: Mapping[str, Any]) -> Any:
    if isinstance(message.get("content"), str):
        return message
    return {**message, "content": _unless_equal(message["content"], usual["messages"][0]["content"], f"{PLAIN}.json")}


def _unless_equal(blocks: Any, usual: Any, name: str) -> Any:
    if isinstance(blocks, str):
        return blocks
    return [f"<block as in {name}>" if block in usual else block for block in blocks]
