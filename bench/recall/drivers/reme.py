"""ReMe's keyword index (BM25 with its own tokenizer), the part of ReMe that searches without an embedding service.

Runs in an environment that has reme-ai; the first argument is a folder to work in.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

os.chdir(sys.argv[1])
# Found as the script's own folder otherwise, which holds a file of the same name as the package.
sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]

from reme.components.keyword_index.bm25_index import BM25Index  # type: ignore[import-not-found]  # noqa: E402
from reme.components.tokenizer import RegexTokenizer  # type: ignore[import-not-found]  # noqa: E402


async def main() -> None:
    tokenizer = RegexTokenizer()
    await tokenizer.start()
    index = BM25Index()
    index.tokenizer = tokenizer
    documents = json.loads(sys.stdin.readline())
    await index.add_docs(dict(documents))
    for line in sys.stdin:
        print(json.dumps(list(await index.retrieve(json.loads(line), limit=5))), flush=True)


asyncio.run(main())
