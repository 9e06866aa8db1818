"""The simulated Messages API inside a test: `with simulator(script) as sim: client = Anthropic(base_url=sim.base_url)`.

The server runs in a thread on a free port of this machine. Its clock stands still until `sim.clock` moves it, and its
ids, token counts and replies follow from the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie.errors import Unavailable
from reverie.messages.blocks import Json
from reverie.testing.clock import SettableClock
from reverie.values import value
from reverie_simulator.clock import MovableClock
from reverie_simulator.explain import Explanation
from reverie_simulator.script import RuleScript, Script, ScriptAction, ScriptRule
from reverie_simulator.script_file import read_script, script_from_json
from reverie_simulator.simulation import Record, Simulation

API_KEY = "simulated"
"""Any key will do; this one says what it is."""


started: list[RunningSimulator] = []
"""Every simulator of this process, for nets that look at all requests of a test; whoever looks empties it."""


@value
class RunningSimulator:
    """A simulator that takes requests."""

    base_url: str
    simulation: Simulation
    api_key: str = API_KEY

    @property
    def clock(self) -> MovableClock:
        """The simulator's time: `sim.clock.advance(minutes=6)`."""
        return self.simulation.clock

    @property
    def requests(self) -> tuple[Record, ...]:
        """Every request so far, refused ones included, oldest first."""
        return self.simulation.log.all()

    @property
    def last_cache(self) -> Explanation:
        """What the cache did for the newest request, and why."""
        return self.requests[-1].explanations[-1]

    def act(self, *actions: ScriptAction) -> None:
        """Let the next requests get these actions before the script is asked."""
        self.simulation.add_actions(*actions)


@contextmanager
def simulator(
    script: Script | Iterable[ScriptRule] | Json | Path = None,
    *,
    seed: int = 1,
    clock: SettableClock | None = None,
    window_tokens: int | None = None,
) -> Iterator[RunningSimulator]:
    """Run a simulator for the length of a `with` block.

    The script is a callable, a list of rules, the JSON of a script file, or the path of one; without one every reply is
    an echo. `window_tokens` is the window of every model instead of its own.
    """
    try:
        from reverie_simulator.server import BackgroundServer
    except ImportError as problem:
        raise Unavailable(
            f"the simulator requires {problem.name}, which is not installed; run `pip install 'reverie[web]'`"
        ) from problem
    simulation = Simulation(
        clock=clock or SettableClock(), seed=seed, script=_script(script), window_tokens=window_tokens
    )
    with BackgroundServer(simulation) as server:
        running = RunningSimulator(server.url, simulation)
        started.append(running)
        yield running


def _script(script: Script | Iterable[ScriptRule] | Json | Path) -> Script | None:
    match script:
        case None:
            return None
        case Path():
            return read_script(script)
        case dict():
            return script_from_json(script, "given to simulator()")
        case list() | tuple() if all(isinstance(rule, ScriptRule) for rule in script):
            return RuleScript(rule for rule in script if isinstance(rule, ScriptRule))
        case list():
            return script_from_json(script, "given to simulator()")
        case _ if callable(script):
            return script
        case _:
            raise TypeError(f"a script is a callable, rules, JSON or a path, not {type(script).__name__}")
