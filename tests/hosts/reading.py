"""What a test looks for in a session of another agent."""

from __future__ import annotations

from pathlib import Path

from reverie.hosts.catalogue import read_host_session
from reverie.hosts.session import HostSession
from reverie.memory.extraction.session import words_of
from reverie.messages.blocks import ToolResult
from reverie.messages.entries import UserEntry
from reverie.messages.message import Usage
from reverie.models.tokens.usage import totals


def read(path: Path) -> HostSession:
    session = read_host_session(path)
    assert session is not None, path
    return session


def typed(session: HostSession) -> list[str]:
    """What extraction takes for words of the user."""
    return [message.said.text for message in words_of(session.entries, session.id, None).messages]


def injected(session: HostSession) -> str:
    texts = (entry.message.text for entry in session.entries if isinstance(entry, UserEntry) and entry.envelope.is_meta)
    return "\n".join(texts)


def printed(session: HostSession) -> list[str]:
    entries = (entry for entry in session.entries if isinstance(entry, UserEntry))
    return [block.text for entry in entries for block in entry.message.content if isinstance(block, ToolResult)]


def used(session: HostSession) -> Usage:
    return totals(session.entries, sidechains=True).usage
