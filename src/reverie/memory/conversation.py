"""The memory of one conversation that somebody else keeps: a client that was wrapped, an adapter, a loop of your own.

For each message of the user it says once what is remembered that matters, and it learns from the message by rules, in
the background. No failure of it costs a request.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from reverie.errors import Error
from reverie.memory.search.recall import is_worth_recalling
from reverie.memory.search.render import attachment
from reverie.messages.reminder import reminder

if TYPE_CHECKING:
    from reverie.memory.extraction.candidate import UserMessage
    from reverie.memory.search.render import Hit
    from reverie.memory.search.topic_index import IndexedFolder
    from reverie.memory.store.topic_store import Store
    from reverie.settings import RecallSettings

_log = logging.getLogger(__name__)


class RecallFunction(Protocol):
    """`Memory.recall`, as far as it is needed here."""

    def __call__(self, query: str, *, exclude: Sequence[str], context: str, session: str | None) -> list[Hit]: ...


class ConversationMemory:
    """Recalls for one conversation, each memory once, and learns from what the user says in it."""

    def __init__(
        self,
        recall: RecallFunction,
        settings: RecallSettings,
        learner: MessageLearner,
        session: str = "",
        shown: Iterable[str] = (),
    ) -> None:
        self._recall = recall
        self._settings = settings
        self._learner = learner
        self._session = session
        self._shown: dict[str, None] = dict.fromkeys(shown)
        self._messages = 0

    def recall(self, text: str, context: str = "") -> str:
        """What is remembered that matters for a message, to be put behind it; empty where nothing does.

        It is marked as a word of the program and fenced as data, so that it is not taken for the user's, and is not
        learnt again. `context` is what was said just before.
        """
        settings = self._settings
        if not is_worth_recalling(text, min_words=settings.min_words, min_unspaced_chars=settings.min_unspaced_chars):
            return ""
        try:
            hits = self._recall(text, exclude=tuple(self._shown), context=context[-1_000:], session=self._session)
        except (Error, OSError) as problem:
            _log.warning("nothing was recalled: %s", problem)
            return ""
        self._shown |= dict.fromkeys(hit.path for hit in hits if hit.shown == "whole")
        return reminder(attachment(hits)) if hits else ""

    def learn(self, text: str, reply_to: str = "") -> None:
        """Learn from a message of the user, in the background; `reply_to` is what was said just before."""
        from reverie.memory.extraction.candidate import UserMessage

        self._messages += 1
        message = UserMessage(f"message-{self._messages}", text, self._session, None, reply_to[-1_000:])
        self._learner.learn(message)


class MessageLearner:
    """Learns from messages one after another, in one thread."""

    def __init__(self, learn: Callable[[UserMessage], object]) -> None:
        self._learn = learn
        self._executor: ThreadPoolExecutor | None = None
        self._lock = Lock()
        self._last: Future[None] | None = None

    def learn(self, message: UserMessage) -> None:
        """Learn from a message when there is time."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reverie-learn")
            self._last = self._executor.submit(self._attempt, message)

    def wait(self, timeout_seconds: float | None = None) -> None:
        """Wait until everything is learnt that there was so far."""
        if self._last is not None:
            self._last.result(timeout_seconds)

    def close(self) -> None:
        """Finish what was begun."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()

    def _attempt(self, message: UserMessage) -> None:
        try:
            self._learn(message)
        except (Error, OSError) as problem:
            _log.warning("nothing was learnt from a message: %s", problem)


def learn_from_message(
    message: UserMessage, *, store: Store, index: IndexedFolder, root: Path | None, now: datetime
) -> Sequence[str]:
    """Save what a message teaches, by rules; returns the names of what was saved or brought up to date."""
    from reverie.memory.extraction.extract import extract
    from reverie.memory.extraction.find import find_candidates
    from reverie.memory.extraction.gate import ForeignText
    from reverie.memory.extraction.keep import Keeper, read_written
    from reverie.memory.extraction.session import SessionMessage, SessionWords
    from reverie.memory.extraction.typed import machine_words
    from reverie.memory.topics.draft import complete_topic

    if not find_candidates(message):
        return ()
    complete = partial(complete_topic, now=now, root=root)
    keeper = Keeper(store, index, complete, now=now, written=tuple(read_written(root)))
    injected = [ForeignText(piece) for piece in machine_words(message.text)]
    said = SessionMessage(message, len(injected), 0)
    result = keeper.keep(extract(SessionWords((said,), injected), (said,), keeper.scene))
    return [topic.name for topic in (*result.saved, *result.updated)]
