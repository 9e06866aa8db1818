"""Reads from a transcript what the user typed, each message with what others had put into the session before it.

Sub-agents' conversations are left out: their prompts were written by the agent. So are summaries and meta records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from reverie.memory.extraction.candidate import UserMessage
from reverie.memory.extraction.gate import ForeignText
from reverie.memory.extraction.typed import machine_words
from reverie.messages.blocks import Text, ToolResult
from reverie.messages.entries import AssistantEntry, AttachmentEntry, Entry, UserEntry
from reverie.values import value

_BY_HAND = frozenset({None, "typed", "queued", "sdk", "user"})
"""Sources of a prompt that stand for a person; a record without one is of a writer that does not say."""

_REPLY_CHARS = 1_000
"""How much of a reply is kept beside the message that answers it."""


@value
class SessionMessage:
    """A message of the user and how much of the session came before it."""

    said: UserMessage
    injected: int
    """How many injected texts."""
    foreign: int
    """How many texts of tools."""


@value
class SessionWords:
    """What extraction needs of a session."""

    messages: tuple[SessionMessage, ...] = ()
    injected: Sequence[ForeignText] = ()
    foreign: Sequence[ForeignText] = ()

    def after(self, last: str | None) -> tuple[SessionMessage, ...]:
        """The messages after a cursor; all of them when it is not there, never none for that reason."""
        places = [number for number, each in enumerate(self.messages) if each.said.message == last]
        return self.messages[places[-1] + 1 :] if places else self.messages


def words_of(entries: Iterable[Entry], session: str, zone: tzinfo | None) -> SessionWords:
    """What was said in a session, its times in this zone, or in that of this machine."""
    messages: list[SessionMessage] = []
    injected: list[ForeignText] = []
    foreign: list[ForeignText] = []
    seen: set[str] = set()
    reply = ""
    for entry in entries:
        match entry:
            case AssistantEntry() if not entry.envelope.is_sidechain:
                reply = entry.message.text or reply
            case AttachmentEntry():
                injected += [ForeignText(block.text) for block in entry.content if isinstance(block, Text)]
            case UserEntry() if not entry.envelope.is_sidechain:
                foreign += [ForeignText(block.text) for block in entry.message.content if isinstance(block, ToolResult)]
                text = entry.message.text
                if not text.strip():
                    continue
                if not is_by_hand(entry):
                    injected.append(ForeignText(text))
                elif entry.envelope.uuid not in seen:
                    seen.add(entry.envelope.uuid)
                    injected += [ForeignText(piece) for piece in machine_words(text)]
                    when = _moment(entry.envelope.timestamp, zone)
                    message = UserMessage(entry.envelope.uuid, text, session, when, reply[-_REPLY_CHARS:])
                    messages.append(SessionMessage(message, len(injected), len(foreign)))
            case _:
                pass
    return SessionWords(tuple(messages), injected, foreign)


def is_by_hand(entry: UserEntry) -> bool:
    """Whether a record is a message that a person typed."""
    return (
        not entry.envelope.is_meta
        and not entry.envelope.is_sidechain
        and not entry.is_summary
        and entry.source in _BY_HAND
        and not any(isinstance(block, ToolResult) for block in entry.message.content)
    )


def is_spoken(entry: Entry) -> bool:
    """Whether an entry is a message that the model sees as talk: the user's, with tool results, or the model's."""
    return isinstance(entry, UserEntry | AssistantEntry) and not entry.envelope.is_sidechain


def _moment(stamp: str, zone: tzinfo | None) -> datetime | None:
    try:
        return datetime.fromisoformat(stamp).astimezone(zone)
    except (ValueError, OverflowError):
        return None
