"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.person import Person, person_in

# How long an example takes says nothing on a machine that does other things too; every test has a time-out of its own.
# `make test` takes the same examples every time, so that a failure is of this change; `--thorough` looks for new ones.
settings.register_profile(
    "reverie", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=20, derandomize=True
)
settings.register_profile("thorough", settings.get_profile("reverie"), max_examples=200, derandomize=False)
settings.load_profile("reverie")


_THOROUGH_SECONDS = 3600
"""How long a test may take with `--thorough` unless it says so itself."""
_SAMPLED = 3
"""Of a matrix marked `sampled`, one case in so many runs without `--thorough`."""

# What collection makes stays: looking through it again and again takes a third of the time that collection takes.
gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector look only at what tests make."""
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer `--thorough` (every case of a large matrix, many rounds of kill and fuzz tests) and `--update-golden`."""
    parser.addoption("--thorough", action="store_true", help="run whole matrices and many rounds, not a seeded sample")
    parser.addoption("--update-golden", action="store_true", help="rewrite the files below tests/golden")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most cases of a matrix marked `sampled` unless all are wanted or its file or a case is named."""
    if config.getoption("--thorough") or any(".py" in argument for argument in config.args):
        return
    matrices: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            matrices.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for cases in matrices.values():
        # The same cases each time, and not those that happen to stand beside one another.
        cases.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        left_out.update(cases[math.ceil(len(cases) / _SAMPLED) :])
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take more examples of every law with `--thorough`, before the tests are imported, and give them more time."""
    if config.getoption("--thorough"):
        settings.load_profile("thorough")
        config.option.timeout = config.option.timeout or _THOROUGH_SECONDS


_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


_SENDERS = ("session", "apps", "context", "memory")
"""The folders whose tests send requests as the product does; others send what they like."""


@pytest.fixture(autouse=True)
def prefix_net(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which a request does not extend its predecessor, unless the test says that it moves the prefix."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder not in _SENDERS:
        yield
        return
    from reverie.testing import simulator
    from reverie.testing.prefix_net import Net

    simulator.started.clear()
    yield
    torn = []
    for running in simulator.started:
        net = Net()
        for record in running.requests:
            if record.status == 200 and isinstance(record.body, dict) and record.path.endswith("/messages"):
                net.take(record.body, record.message)
        torn += net.torn
    simulator.started.clear()
    if request.node.get_closest_marker("moves_prefix") is None:
        assert not torn, torn


@pytest.fixture
def person(tmp_path: Path) -> Person:
    """Somebody with a home of their own."""
    return person_in(tmp_path)


@pytest.fixture(scope="session")
def thorough(pytestconfig: pytest.Config) -> bool:
    """Whether whole matrices and many rounds are wanted (`make test-thorough`) instead of a small sample."""
    return bool(pytestconfig.getoption("--thorough"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real sample data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("REVERIE_SHARED_DATA", _BESIDE_THE_PROJECT))
    if not folder.is_dir():
        pytest.skip("no sample data here: set REVERIE_SHARED_DATA to its folder")
    return folder
