"""What a large request costs, as work done: the machine may be busy."""

from __future__ import annotations

from reverie.messages.blocks import JsonObject
from reverie.testing.clock import SettableClock
from reverie_simulator.provider import SimulatedProvider
from reverie_simulator.simulation import MESSAGES, Simulation
from reverie_simulator.weights import TokenCounter
from reverie_simulator.wire import encode
from tests.requirements import requirement
from tests.simulator.requests import EPHEMERAL, HEADERS, WORDS, assistant, call, request, result, user


def session(rounds: int) -> list[JsonObject]:
    messages: list[JsonObject] = [user("task")]
    for number in range(rounds):
        messages.append(assistant(f"step {number}", call(f"t{number}", path=f"/{number}.py")))
        messages.append(user(result(f"t{number}", f"{number} {WORDS * 60}")))
    return messages


@requirement("simulator:speed:large-requests")
def test_blocks_that_were_seen_are_not_counted_again() -> None:
    simulation = Simulation(clock=SettableClock(), seed=1)
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text) // 4

    simulation.provider = SimulatedProvider(seed=1, counter=TokenCounter(1, count_text=count))
    simulation.handle(MESSAGES, encode(request(session(300), cache_control=dict(EPHEMERAL))), HEADERS)
    assert len(counted) > 300

    counted.clear()
    simulation.handle(MESSAGES, encode(request(session(301), cache_control=dict(EPHEMERAL))), HEADERS)

    usage = simulation.log.all()[-1].explanations[0].breakpoints[0]
    assert usage.tokens > 200_000
    assert len(counted) < 20
