"""How a command ends: its exit codes, and what is said when something is raised on purpose.

Exit codes: 0 done, 1 failed, 2 mistake of the user, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from reverie.apps.plain import sanitised_streams
from reverie.errors import Damaged, Error, UserMistake

DONE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130


def run_command(act: Callable[[], int]) -> int:
    """Run a command and return its exit code; nothing raised on purpose ends in a stack trace.

    Whatever it prints is unsteered: names, paths and messages may come from anywhere.
    """
    with sanitised_streams(), _signals_that_interrupt():
        return _run_catching_errors(act)


@contextmanager
def _signals_that_interrupt() -> Iterator[None]:
    """Let a request to end and a closed terminal do what Ctrl-C does: commands of tools end, the terminal is restored.

    A signal that whoever started us ignores (`nohup`, a background job of a script) stays without effect. asyncio
    cancels its main task only where the handler of SIGINT is Python's own, so an ignored SIGINT is blocked instead.
    """
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    is_ctrl_c_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if is_ctrl_c_ignored:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in taken:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        if is_ctrl_c_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _interrupt(_number: int, frame: FrameType | None) -> None:
    """Do what the present handler of Ctrl-C does: cancel asyncio's main task, or raise `KeyboardInterrupt`."""
    import signal

    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _run_catching_errors(act: Callable[[], int]) -> int:
    try:
        code = act()
        # A reader that has left is noticed here, and not at the end of the process, where it would be a failure.
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except (UserMistake, Damaged) as mistake:
        say(str(mistake))
        return MISTAKE
    except Error as failure:
        say(str(failure))
        return FAILED
    except BrokenPipeError:
        # The reader left, as `| head` does; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as failure:
        place = failure.filename if failure.filename is not None else "a file"
        say(f"cannot access {place}: {failure.strerror or failure}; check permissions and free disk space")
        return FAILED
    except Exception as failure:
        if type(failure).__module__ != "sqlite3":
            raise
        say(f"the search index cannot be used: {failure}; free disk space, or delete the memory's `.index` directory")
        return FAILED


def say(message: str) -> None:
    """Tell the user something that is no data."""
    sys.stderr.write(f"reverie: {message}\n")
