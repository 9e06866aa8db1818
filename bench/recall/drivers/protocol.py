"""What all drivers say over their pipes, one JSON value per line; runs inside a peer's environment.

`{"documents": [[key, text], …]}` begins a case and is answered by `null`, `{"question": text}` by the keys found.
Either may carry `"vectors": {text: numbers}`, for peers that ask for an embedding model.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable

Documents = list[tuple[str, str]]
Find = Callable[[str], Awaitable[list[str]]]

LIMIT = 5
vectors: dict[str, list[float]] = {}
"""Text without white space around it → its vector, for the texts of the case at hand."""


async def serve(start: Callable[[int, Documents], Awaitable[Find]]) -> None:
    """Answer until the input ends; `start` gets the number of each case and its documents."""
    answers, sys.stdout = sys.stdout, sys.stderr
    find: Find | None = None
    cases = 0
    for line in sys.stdin:
        message = json.loads(line)
        found = None
        if "documents" in message:
            vectors.clear()
            _keep(message)
            find = await start(cases, [(key, text) for key, text in message["documents"]])
            cases += 1
        elif find is not None:
            _keep(message)
            found = await find(message["question"])
        print(json.dumps(found), file=answers, flush=True)


def _keep(message: dict[str, dict[str, list[float]]]) -> None:
    vectors.update((text.strip(), numbers) for text, numbers in message.get("vectors", {}).items())
