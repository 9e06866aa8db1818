"""`python -m bench.fork`: how much of its conversation a fork reads from its parent's cache, and what that is worth.

Sessions of several sizes run against the simulator, whose cache works byte by byte as the provider's does; then each
forks. Beside it, on the same simulator: the same conversation under another system prompt, as agents with a prompt of
their own send it, and the conversation as one text in a new agent's first message.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.session.session_desk import MODEL, Desk, desk, told

from bench.figures import BOOTSTRAP, Result, Row, Table, add_options, mean, report
from reverie.messages.message import Usage
from reverie.models.ports import ForkSpec
from reverie.models.profiles import cost, profile
from reverie.session.subagents.fork import ForkStart, run_fork

FORKS = 4
SIZES = (8_000, 20_000, 50_000, 100_000)
"""Tokens of a conversation, about."""
_LINE = "The importer reads dates as day first, and every row that fails is written to a file of its own. "
_TURN_CHARS = 8_000
_CHARS_PER_TOKEN = 4
_OTHER = "the same conversation under another system prompt"
_TEXT = "the conversation as one text in a new agent"


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.fork", description=__doc__))
    options = parser.parse_args(arguments)
    return report(measure_forks(SIZES[:3] if options.quick else SIZES), options)


def measure_forks(sizes: Sequence[int]) -> Result:
    """Sessions of these sizes, and the forks of each."""
    usages: dict[str, list[tuple[int, Usage]]] = {"reverie fork": [], _OTHER: [], _TEXT: []}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-fork-") as folder:
            asyncio.run(_measure_session(Path(folder), size, usages))
    rows = [
        Row(
            label,
            {
                "read from the cache": mean([(size, _share(usage)) for size, usage in found]),
                "first request": mean([(size, cost(usage, profile(MODEL)) or 0.0) for size, usage in found], "$"),
            },
            is_ours=label == "reverie fork",
        )
        for label, found in usages.items()
    ]
    told_sizes = ", ".join(f"{size:,}" for size in sizes)
    about = (
        f"Conversations of about {told_sizes} tokens, {FORKS} forks of each at once, {MODEL}. Share of all input "
        "tokens of a fork's first request that were read from the cache, and what that request costs."
    )
    interval = f"{BOOTSTRAP}, whole sessions drawn"
    return Result([Table("forks", "First request of a fork", about, interval, rows, picture="read from the cache")])


async def _measure_session(folder: Path, size: int, usages: Mapping[str, list[tuple[int, Usage]]]) -> None:
    script: list[Any] = [{"when": {"last_user": "part"}, "then": "done"}, {"then": "yes"}]
    with desk(folder, script) as at:
        async with at.start() as session:
            for turn in range(max(1, size * _CHARS_PER_TOKEN // _TURN_CHARS)):
                await told(session, f"{turn}: " + _LINE * (_TURN_CHARS // len(_LINE)))
            before, starting = len(at.provider.requests), ForkStart()
            specs = [ForkSpec(f"part{number}", f"part {number}") for number in range(FORKS)]
            await asyncio.gather(*(run_fork(spec, session.parts.loop, starts_after=starting) for spec in specs))
            records = [record for record in at.provider.requests[before:] if record.message]
            usages["reverie fork"] += [(size, _usage(record.message["usage"])) for record in records if record.message]
            body = records[-1].body
            assert isinstance(body, dict)
            other = {**body, "system": [{"type": "text", "text": "You look into one thing and report."}]}
            as_text = json.dumps(body["messages"])
            alone = {**other, "messages": [{"role": "user", "content": f"{as_text}\n\nDo part 1."}]}
            for label, sent in ((_OTHER, other), (_TEXT, alone)):
                usages[label].append((size, await asyncio.to_thread(_send, at, sent)))


def _send(at: Desk, body: Mapping[str, Any]) -> Usage:
    request = urllib.request.Request(
        f"{at.provider.base_url}/v1/messages",
        json.dumps({**body, "stream": False}).encode(),
        {"content-type": "application/json", "x-api-key": at.provider.api_key, "anthropic-version": "2023-06-01"},
    )
    with urllib.request.urlopen(request) as answer:
        return _usage(json.load(answer)["usage"])


def _usage(found: Any) -> Usage:
    return Usage(
        input_tokens=found["input_tokens"],
        cache_read_tokens=found["cache_read_input_tokens"],
        cache_write_tokens=found["cache_creation_input_tokens"],
    )


def _share(usage: Usage) -> float:
    whole = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return usage.cache_read_tokens / whole


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
