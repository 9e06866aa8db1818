"""A dream by a model: a fork that works in a staging tree, and the check of its result.

Whatever the fork does, the memory directory is not touched here; what may stand becomes a proposal. The fork has three
phases, few tools and no shell (lists of harmless commands leak), and writes nowhere but in its staging tree. Its prompt
is `prompts/dream.md`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path

from reverie.errors import Damaged, Error
from reverie.files.places.paths import MemoryFolder
from reverie.memory.dream.check import REPLACED_BY, RETIRED, DreamRules, check_result, refusal_of_write
from reverie.memory.dream.daily_logs import list_daily_logs
from reverie.memory.dream.gates import list_sessions_since
from reverie.memory.dream.lock import DreamState, last_dream
from reverie.memory.dream.proposal import Proposal
from reverie.memory.dream.staging import inside, read_staging, remove_staging, write_staging
from reverie.memory.dream.task import DreamTask
from reverie.memory.extraction.fork import manifest
from reverie.memory.extraction.session import words_of
from reverie.memory.fork_runner import ForkRunner
from reverie.memory.prompt_files import fill_prompt
from reverie.memory.store.erased_sentences import normal, read_erased
from reverie.memory.store.topic_store import Store
from reverie.memory.store.usage_log import read_counts
from reverie.memory.topics.topic import Source, Topic, parse_topic
from reverie.messages.blocks import JsonObject
from reverie.messages.transcript import read_entries
from reverie.models.ports import Ending, ForkResult, ForkSpec
from reverie.settings import DreamSettings
from reverie.values import value

LABEL = "dream"
TOOLS = ("Read", "Grep", "Glob", "Edit", "Write")
_SESSIONS_NAMED = 40


@value
class DreamSetup:
    """What a model's dream has at hand."""

    staging: Path
    """Outside of the memory directory, where a host would list it."""
    transcripts: tuple[Path, ...]
    root: Path | None
    settings: DreamSettings
    now: datetime
    current: str | None = None
    """The session from which it is forked."""


@value
class BudgetUsed:
    """The budget was used up before the model had changed anything."""

    reason: str


async def dream_by_model(
    store: Store, bedside: DreamSetup, forks: ForkRunner, texts: Mapping[str, str], state: DreamState, task: DreamTask
) -> Proposal | BudgetUsed | str:
    """A model's dream, checked; a sentence when it failed.

    What it had written when its rounds or its budget ended, or its provider failed, is checked all the same and waits
    for a person, since something may be missing from it.
    """
    around, logs = _around(store.folder, bedside, state, texts)
    spec = await asyncio.to_thread(_spec, store.folder, around, bedside, texts)
    gate = StagingGate(around.staging)
    write_staging(around.staging, texts)
    try:
        result = await forks.run(spec, listener=task.listener(around.staging), refuse=gate.refuse)
        task.cost(result.cost_usd)
        if result.ending is Ending.CANCELLED:
            raise asyncio.CancelledError
        written = read_staging(around.staging)
    finally:
        remove_staging(around.staging)
    is_whole = result.ending is Ending.COMPLETED
    if not is_whole and written == texts:
        if result.ending is Ending.BUDGET:
            return BudgetUsed(result.text)
        return f"{_early(result)}; nothing was changed"
    heard = _Heard(bedside.transcripts, bedside.now)
    checked = check_result(texts, written, DreamRules(heard.was_said, read_erased(store.history.private).covers))
    return Proposal(
        bedside.now,
        forks.model_name,
        checked.steps,
        over=() if is_whole else (f"{_early(result)}; this is what it had done by then",),
        refused=checked.refused,
        logs=logs if is_whole else {},
        offered={path: _digest(texts[path]) for path in around.unasked} if is_whole else {},
    )


def _early(result: ForkResult) -> str:
    """How a dream ended before the model was done."""
    if result.ending is Ending.MAX_ROUNDS:
        return f"the model used all its {result.rounds} rounds (dream.max_rounds) before it was done"
    return f"the model stopped before it was done ({result.ending.value}): {result.text}"


def spec_of(folder: MemoryFolder, bedside: DreamSetup, texts: Mapping[str, str], state: DreamState) -> ForkSpec:
    """The work that a model would be given."""
    return _spec(folder, _around(folder, bedside, state, texts)[0], bedside, texts)


def _spec(folder: MemoryFolder, around: DreamSources, bedside: DreamSetup, texts: Mapping[str, str]) -> ForkSpec:
    return dream_fork(
        around,
        _parse_topics(texts),
        directory=folder.directory,
        today=bedside.now.date().isoformat(),
        max_rounds=bedside.settings.max_rounds,
        search_hits=bedside.settings.search_hits,
    )


def _around(
    folder: MemoryFolder, bedside: DreamSetup, state: DreamState, texts: Mapping[str, str]
) -> tuple[DreamSources, Mapping[str, int]]:
    sizes = {day.isoformat(): (path, path.stat().st_size) for day, path in list_daily_logs(folder)}
    fresh = {day: found for day, found in sizes.items() if found[1] > state.logs.get(day, 0)}
    sessions = list_sessions_since(bedside.transcripts, last_dream(folder), current=bedside.current)
    logs = tuple(path for path, _ in fresh.values())
    unasked = _find_unasked(folder, texts, state.offered)[: bedside.settings.asks_batch]
    around = DreamSources(bedside.staging, bedside.transcripts, sessions, logs, bedside.root, unasked)
    return around, {day: size for day, (_, size) in fresh.items()}


def _find_unasked(folder: MemoryFolder, texts: Mapping[str, str], offered: Mapping[str, str]) -> tuple[str, ...]:
    """The topics without `asks`, those first that are recalled most, then the oldest.

    One for which a model was asked already is left out until it changes: the model had nothing to add.
    """
    uses = read_counts(folder)
    unasked = [
        topic
        for topic in _parse_topics(texts)
        if not topic.asks and offered.get(topic.path) != _digest(texts[topic.path])
    ]
    unasked.sort(key=lambda topic: (-uses.get(topic.path, 0), topic.observed or date.max, topic.path))
    return tuple(topic.path for topic in unasked)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


class _Heard:
    """What the user really said, looked up in transcripts."""

    def __init__(self, folders: Sequence[Path], now: datetime) -> None:
        self._folders = folders
        self._now = now
        self._sessions: dict[str, str] = {}

    def was_said(self, source: Source) -> bool:
        """Whether the words of a source stand in a message of the user in its session."""
        if not source.session or not source.quote:
            return False
        return f" {normal(source.quote)} " in self._words(source.session)

    def _words(self, session: str) -> str:
        if session not in self._sessions:
            self._sessions[session] = self._read(session)
        return self._sessions[session]

    def _read(self, session: str) -> str:
        for folder in self._folders:
            path = folder / f"{session}.jsonl"
            if path.parent == folder and path.is_file():
                with suppress(Error, OSError):
                    messages = words_of(read_entries(path), session, self._now.tzinfo).messages
                    return " ".join(f" {normal(each.said.text)} " for each in messages)
        return ""


def _parse_topics(texts: Mapping[str, str]) -> Iterator[Topic]:
    for path in sorted(texts):
        with suppress(Damaged):
            yield parse_topic(path, texts[path])


@value
class DreamSources:
    """Where a dream looks."""

    staging: Path
    """The copy of the topics, in which it writes."""
    transcripts: tuple[Path, ...] = ()
    """Folders of past sessions."""
    sessions: tuple[str, ...] = ()
    """Those since the last dream, the newest first."""
    logs: tuple[Path, ...] = ()
    """Daily logs that no dream has seen."""
    project: Path | None = None
    unasked: tuple[str, ...] = ()
    """Topics to which it is to add `when` and `asks`."""


def dream_fork(
    around: DreamSources,
    topics: Iterable[Topic],
    *,
    directory: Path,
    today: str,
    max_rounds: int = 30,
    search_hits: int = 50,
) -> ForkSpec:
    """The work of one dream on the memories of `directory`."""
    named = ", ".join(around.sessions[:_SESSIONS_NAMED]) or "none"
    values = {
        "directory": str(around.staging),
        "today": today,
        "rounds": str(max_rounds),
        "manifest": manifest(topics, directory) or "(none yet)",
        "count": str(len(around.sessions)),
        "sessions": named,
        "transcripts": _format_paths(around.transcripts) or "(none)",
        "logs": _format_paths(around.logs) or "(none)",
        "project": str(around.project) if around.project else "(none)",
        "hits": str(search_hits),
        "retired": RETIRED,
        "replaced_by": REPLACED_BY,
        "unasked": "\n".join(f"- {path}" for path in around.unasked) or "(none)",
    }
    return ForkSpec(
        LABEL,
        fill_prompt("dream", values),
        tools=TOOLS,
        paths=(around.staging,),
        reads=(*around.transcripts, *around.logs, *((around.project,) if around.project else ())),
        max_rounds=max_rounds,
    )


@value
class StagingGate:
    """Judges the writes of a dream before they are made; the result is judged again as a whole."""

    staging: Path

    def refuse(self, tool: str, arguments: JsonObject) -> str:
        """Why a call may not be made, in a sentence for the model; empty when it may."""
        file_path = arguments.get("file_path")
        if tool not in {"Write", "Edit"} or not isinstance(file_path, str):
            return ""
        path = inside(Path(file_path), self.staging)
        if path is None:
            return f"This background task writes only below {self.staging}."
        content = arguments.get("content", arguments.get("new_string"))
        return refusal_of_write(path, content if isinstance(content, str) else "")


def _format_paths(paths: Sequence[Path]) -> str:
    return "\n".join(f"- {path}" for path in paths)
