"""Only the order of magnitude: the machine may be busy."""

from __future__ import annotations

from time import perf_counter

import pytest

from reverie.messages.blocks import JsonObject
from reverie.simulator.simulation import MESSAGES, Simulation
from reverie.simulator.wire import encode
from reverie.testing.clock import SettableClock
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HEADERS, WORDS, assistant, call, request, result, user


def session(rounds: int) -> list[JsonObject]:
    messages: list[JsonObject] = [user("task")]
    for number in range(rounds):
        messages.append(assistant(f"step {number}", call(f"t{number}", path=f"/{number}.py")))
        messages.append(user(result(f"t{number}", f"{number} {WORDS * 60}")))
    return messages


@requirement("simulator:speed:large-requests")
@pytest.mark.timeout(60)
def test_a_large_request_whose_blocks_were_seen_is_answered_at_once() -> None:
    simulation = Simulation(clock=SettableClock(), seed=1)
    simulation.handle(MESSAGES, encode(request(session(300), cache_control=dict(EPHEMERAL))), HEADERS)
    longer = encode(request(session(301), cache_control=dict(EPHEMERAL)))

    took = []
    for _ in range(3):
        began = perf_counter()
        simulation.handle(MESSAGES, longer, HEADERS)
        took.append(perf_counter() - began)

    usage = simulation.log.all()[-1].explanations[0].breakpoints[0]
    assert usage.tokens > 200_000
    assert min(took) < 0.5
