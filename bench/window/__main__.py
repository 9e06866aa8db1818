"""Measure the preparation of requests: `python -m bench.window`. Processor time of several runs."""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from datetime import UTC, datetime

from bench.figures import RANGE, Figure, Result, Row, Table, add_options, report, spread
from reverie.context.window import Window
from reverie.messages.blocks import ToolResult, ToolUse
from reverie.messages.message import Message, Usage, assistant, user

NOW = datetime(2026, 11, 1, tzinfo=UTC)
MODEL = "claude-sonnet-5"


def talk(rounds: int, chars: int) -> list[Message]:
    """A session of so many rounds, each with one tool call and a result of so many characters."""
    made: list[Message] = [user("look at every module and say what is wrong with it")]
    for number in range(rounds):
        call = ToolUse(f"t{number}", "Read", {"file_path": f"/src/package/module_{number}.py"})
        line = f"    value_{number} = compute(value_{number - 1}, offset={number})\n"
        made += [
            assistant(f"Reading module {number}.", call),
            user(ToolResult(call.id, line * max(1, chars // len(line)))),
        ]
    return made


def prepare_ms(messages: list[Message], window: Window) -> tuple[list[float], int]:
    """The times of one more round on a conversation that is already known."""
    size = window.prepare(messages).report.tokens
    window.observe(Usage(input_tokens=100, cache_read_tokens=size))
    times, tokens = [], 0
    for number in range(12):
        call = ToolUse(f"more{number}", "Bash", {"command": "make test"})
        messages = [*messages, assistant("again", call), user(ToolResult(call.id, "ok\n" * 50))]
        start = time.process_time()
        request = window.prepare(messages)
        times.append((time.process_time() - start) * 1000)
        tokens = request.report.tokens
    return times, tokens


def measure_window() -> Table:
    """Conversations of several sizes, and what a window holds."""
    rows = []
    for name, rounds, chars, size in [
        ("100,000 tokens", 100, 3_000, None),
        ("200,000 tokens", 200, 3_000, None),
        ("200,000 tokens in small pieces", 1_000, 250, None),
        ("a view of 60,000 after 500 rounds", 500, 600, 60_000),
        ("a view of 60,000 after 5,000 rounds", 5_000, 600, 60_000),
    ]:
        window = Window(MODEL, now=lambda: NOW, window=size)
        messages = talk(rounds, chars)
        if size:
            window.prepare(messages)
        times, tokens = prepare_ms(messages, window)
        figures = {
            "messages": Figure(len(messages)),
            "tokens sent": Figure(tokens),
            "processor time": spread(times, "ms"),
            "held": Figure(_held_mb(rounds, chars, size), unit="MB"),
        }
        rows.append(Row(name, figures, is_ours=True))
    about = "`Window.prepare` for one more round of a conversation that is already known, twelve rounds. Goal: 10 ms."
    return Table("window", "Preparing a request", about, RANGE, rows)


def _held_mb(rounds: int, chars: int, size: int | None) -> float:
    """The memory that a window and its conversation hold."""
    tracemalloc.start()
    window = Window(MODEL, now=lambda: NOW, window=size)
    window.prepare(talk(rounds, chars))
    held = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return held


def main() -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.window", description=__doc__))
    return report(Result([measure_window()]), parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
