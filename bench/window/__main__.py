"""Measure the preparation of requests: `python -m bench.window`. CPU time of the best of several runs."""

from __future__ import annotations

import time
import tracemalloc
from datetime import UTC, datetime

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


def prepare_ms(messages: list[Message], window: Window) -> tuple[float, int]:
    """The time of one more round on a conversation that is already known; the best of several."""
    size = window.prepare(messages).report.tokens
    window.observe(Usage(input_tokens=100, cache_read_tokens=size))
    best, tokens = float("inf"), 0
    for number in range(12):
        call = ToolUse(f"more{number}", "Bash", {"command": "make test"})
        messages = [*messages, assistant("again", call), user(ToolResult(call.id, "ok\n" * 50))]
        start = time.process_time()
        request = window.prepare(messages)
        best = min(best, (time.process_time() - start) * 1000)
        tokens = request.report.tokens
    return best, tokens


def main() -> None:
    print(f"{'history':52} {'messages':>9} {'tokens':>8} {'ms CPU':>8}")
    for name, rounds, chars in [
        ("100,000 tokens", 100, 3_000),
        ("200,000 tokens", 200, 3_000),
        ("200,000 tokens in small pieces", 1_000, 250),
    ]:
        messages = talk(rounds, chars)
        took, tokens = prepare_ms(messages, Window(MODEL, now=lambda: NOW))
        print(f"{name:52} {len(messages):>9} {tokens:>8} {took:>8.1f}")
    for rounds in (500, 5_000):
        window = Window(MODEL, now=lambda: NOW, window=60_000)
        messages = talk(rounds, 600)
        window.prepare(messages)
        took, tokens = prepare_ms(messages, window)
        print(f"{'the same view after a session of':52} {len(messages):>9} {tokens:>8} {took:>8.1f}")
    for rounds in (200, 400, 800):
        tracemalloc.start()
        window = Window(MODEL, now=lambda: NOW)
        window.prepare(talk(rounds, 600))
        size = tracemalloc.get_traced_memory()[0] / 1e6
        tracemalloc.stop()
        print(f"{'memory held by the window, MB':52} {2 * rounds + 1:>9} {'':>8} {size:>8.1f}")


if __name__ == "__main__":
    main()
