from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.errors import Conflict
from reverie.files import exclusive, locked, read_holder
from reverie.files.locks import _read_start_by_proc, _read_start_by_ps
from tests.requirements import requirement

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def run_together(script: str, *arguments: object, processes: int) -> list[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    outputs = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0] * processes
    return outputs


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def change_holder(path: Path, **fields: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")


@requirement("files:lock:one-holder")
def test_processes_under_a_lock_do_not_lose_updates(tmp_path: Path) -> None:
    script = """
        import sys
        from datetime import UTC, datetime
        from pathlib import Path
        from reverie.files import locked
        counter, now = Path(sys.argv[1]) / "counter", datetime(2026, 5, 1, tzinfo=UTC)
        for _ in range(50):
            with locked(counter.with_name("lock"), label="count", now=now, timeout_seconds=60):
                counter.write_text(str(int(counter.read_text()) + 1))
    """
    (tmp_path / "counter").write_text("0", encoding="utf-8")

    run_together(script, tmp_path, processes=6)

    assert (tmp_path / "counter").read_text(encoding="utf-8") == "300"


@requirement("files:lock:fair")
def test_a_process_that_locks_again_and_again_does_not_starve_another(tmp_path: Path) -> None:
    script = """
        import sys, time
        from datetime import UTC, datetime
        from pathlib import Path
        from reverie.files import locked
        while True:
            with locked(Path(sys.argv[1]), label="greedy", now=datetime(2026, 5, 1, tzinfo=UTC), timeout_seconds=60):
                print(flush=True)
                time.sleep(0.01)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as greedy:
        assert greedy.stdout is not None
        greedy.stdout.readline()
        try:
            for _ in range(20):
                with locked(tmp_path / "lock", label="modest", now=NOW, timeout_seconds=2):
                    pass
        finally:
            greedy.kill()


def hold_by_kernel(path: Path, label: str) -> AbstractContextManager[object]:
    return locked(path, label=label, now=NOW, timeout_seconds=0)


def hold_by_file(path: Path, label: str) -> AbstractContextManager[object]:
    return exclusive(path, label=label, now=NOW)


@requirement("files:lock:names-holder")
@pytest.mark.parametrize("hold", [hold_by_kernel, hold_by_file])
def test_a_held_lock_says_by_whom_where_and_since_when(
    hold: Callable[[Path, str], AbstractContextManager[object]], tmp_path: Path
) -> None:
    path = tmp_path / "state" / "lock"
    with hold(path, "saving a topic"):
        with pytest.raises(Conflict) as caught, hold(path, "second"):
            pass
        for part in (str(path), "saving a topic", str(os.getpid()), socket.gethostname(), "2026-05-01 12:00:00"):
            assert part in str(caught.value)
    with hold(path, "third"):
        pass


def test_a_kernel_lock_ends_with_its_process(tmp_path: Path) -> None:
    script = """
        import os, sys
        from datetime import UTC, datetime
        from pathlib import Path
        from reverie.files import locked
        with locked(Path(sys.argv[1]), label="first", now=datetime(2026, 5, 1, tzinfo=UTC)):
            os.kill(os.getpid(), 9)
    """
    path = tmp_path / "lock"
    subprocess.run([sys.executable, "-c", textwrap.dedent(script), path], check=False)
    assert read_holder(path) is not None

    with locked(path, label="second", now=NOW, timeout_seconds=0):
        holder = read_holder(path)
        assert holder is not None
        assert holder.label == "second"
    assert read_holder(path) is None


def test_an_exclusive_lock_file_is_gone_afterwards_also_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "dream.lock"
    with exclusive(path, label="dream", now=NOW) as me:
        assert read_holder(path) == me
    assert list(tmp_path.iterdir()) == []

    with pytest.raises(ZeroDivisionError), exclusive(path, label="dream", now=NOW):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@requirement("files:lock:stale")
@pytest.mark.parametrize(
    ("fields", "stale"),
    [
        ({}, False),
        ({"pid": -1}, True),
        ({"process_started": "another start"}, True),
        ({"pid": -1, "host": "elsewhere"}, False),
        ({"pid": -1, "pid_space": "another container"}, False),
        ({"since": (NOW - timedelta(minutes=59)).isoformat()}, False),
        ({"since": (NOW - timedelta(minutes=61)).isoformat()}, True),
        ({"since": (NOW - timedelta(minutes=61)).isoformat(), "host": "elsewhere"}, True),
    ],
)
def test_a_lock_is_stale_when_its_process_is_gone_or_it_is_too_old(
    fields: dict[str, object], stale: bool, tmp_path: Path
) -> None:
    path = tmp_path / "dream.lock"
    with exclusive(path, label="first", now=NOW):
        change_holder(path, **fields | ({"pid": dead_pid()} if "pid" in fields else {}))
        try:
            with exclusive(path, label="second", now=NOW, stale_after_seconds=3600) as me:
                assert stale
                assert read_holder(path) == me
        except Conflict:
            assert not stale


def test_the_former_holder_does_not_remove_the_lock_of_who_took_it_over(tmp_path: Path) -> None:
    path = tmp_path / "dream.lock"
    first = exclusive(path, label="first", now=NOW)
    first.__enter__()
    with exclusive(path, label="second", now=NOW + timedelta(hours=2), stale_after_seconds=3600) as me:
        first.__exit__(None, None, None)
        assert read_holder(path) == me


@pytest.mark.parametrize("content", [b"", b"4711\n", b"{}", b"[1]", b"\xff\x00"])
def test_a_lock_file_of_another_program_is_respected(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dream.lock"
    path.write_bytes(content)

    with pytest.raises(Conflict, match="another program"), exclusive(path, label="x", now=NOW, stale_after_seconds=0):
        pass

    assert path.read_bytes() == content


@requirement("files:lock:takeover-race")
def test_processes_that_compete_for_stale_locks_never_hold_one_together(tmp_path: Path, thorough: bool) -> None:
    # Each round runs in a child of its own, and every second one dies inside, leaving a stale lock for the others.
    script = """
        import os, sys, time
        from datetime import UTC, datetime
        from pathlib import Path
        from reverie.errors import Conflict
        from reverie.files import exclusive
        folder, now = Path(sys.argv[1]), datetime(2026, 5, 1, tzinfo=UTC)

        def hold(dies):
            try:
                with exclusive(folder / "lock", label="compete", now=now):
                    os.close(os.open(folder / "witness", os.O_CREAT | os.O_EXCL))
                    time.sleep(0.004)  # long enough for the others to come in, if they could
                    os.unlink(folder / "witness")
                    if dies:
                        os._exit(0)
            except Conflict:
                os._exit(1)
            except FileExistsError:
                os._exit(2)
            os._exit(0)

        tally = [0, 0, 0]
        while tally[0] < ROUNDS:
            child = os.fork()
            if child == 0:
                hold(dies=tally[0] % 2 == 0)
            tally[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])] += 1
        print(tally[2])
    """.replace("ROUNDS", "200" if thorough else "15")
    assert run_together(script, tmp_path, processes=4) == ["0\n"] * 4
    assert {path.name for path in tmp_path.iterdir()} <= {"lock"}


@pytest.mark.skipif(sys.platform != "linux", reason="compares the Linux way with the portable one")
def test_both_ways_to_ask_for_a_process_agree_on_who_lives() -> None:
    for started in (_read_start_by_proc, _read_start_by_ps):
        alive = started(os.getpid())
        assert alive is not None
        assert started(os.getpid()) == alive
        assert started(dead_pid()) is None


def test_a_killed_process_that_nobody_has_buried_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", "print(1); import time; time.sleep(60)"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert _read_start_by_ps(process.pid) is None
    if sys.platform == "linux":
        assert _read_start_by_proc(process.pid) is None
    process.communicate()
