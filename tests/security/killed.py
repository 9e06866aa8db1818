"""A session that is to be killed: `python -m tests.security.killed ROOT URL [SESSION]` says three things and leaves.

It compacts in between, and first of all where it goes on; its window is small, so it also compacts by itself.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

from reverie.files.places import Places
from reverie.models.choose import Access, choose
from reverie.permissions.approval import Approval, Question
from reverie.session.options import SessionOptions
from reverie.session.session import Session
from reverie.settings import Settings

WINDOW_TOKENS = 48_000


class Yes:
    """Somebody who allows everything."""

    async def approve(self, question: Question) -> Approval:
        return Approval(bool(question))


def setup(root: Path, url: str) -> SessionOptions:
    access = Access(anthropic_key="simulated", anthropic_url=url)
    return SessionOptions(
        settings=Settings(),
        places=Places.at(root / "home" / ".reverie", root / "home" / ".claude"),
        directory=root / "project",
        project=root / "project",
        model="claude-sonnet-4-5",
        make_model=lambda name: choose(name, access),
        now=lambda: datetime.now(UTC),
        new_id=lambda: str(uuid.uuid4()),
        user_home=root / "home",
        environment={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(root / "home")},
        approver=Yes(),
        is_interactive=True,
        window_tokens=WINDOW_TOKENS,
    )


async def talk(root: Path, url: str, resume: str | None) -> None:
    session = Session.open(setup(root, url), resume=resume)

    async def compact() -> None:
        print("compacting", flush=True)
        await session.compact()
        print("compacted", flush=True)

    if resume is not None:
        await compact()
    for number in range(3):
        text = f"please work {uuid.uuid4().hex}"
        print(f"saying {text}", flush=True)
        async for _ in session.send(text):
            pass
        print(f"said {text}", flush=True)
        if number == 1:
            await compact()
    print("over", flush=True)


def main(root: Path, url: str, resume: str | None) -> None:
    asyncio.run(talk(root, url, resume))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
