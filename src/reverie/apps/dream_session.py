"""A session that exists only so that a model can dream: the dream is a fork of it, and nothing of it stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.memory.fork_runner import ForkRunner
    from reverie.session.options import SessionOptions


@asynccontextmanager
async def open_dream_session(options: SessionOptions) -> AsyncIterator[ForkRunner]:
    """A conversation from which a dream is forked; its transcript is removed unless something was said in it."""
    from reverie.session.session import Session
    from reverie.session.subagents.fork import LoopForks

    session = Session.open(options)
    try:
        yield LoopForks(session.parts.loop)
    finally:
        await session.close()
        if not session.entries:
            session.path.unlink(missing_ok=True)
