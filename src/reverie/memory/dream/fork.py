"""The dream of a model as a `ForkSpec`: four phases, few tools, a copy of the topics to work in.

The fork has no shell (lists of harmless commands leak) and writes nowhere but in its staging tree. The prompt is
`prompts/dream.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from reverie.memory.dream.check import REPLACED_BY, RETIRED, refusal_of_write
from reverie.memory.dream.staging import inside
from reverie.memory.extraction.fork import fill_prompt, manifest
from reverie.memory.topics.topic import Topic
from reverie.messages.blocks import JsonObject
from reverie.models.ports import ForkSpec
from reverie.values import value

LABEL = "dream"
TOOLS = ("Read", "Grep", "Glob", "Edit", "Write")
_SESSIONS_NAMED = 40


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


def dream_fork(
    around: DreamSources,
    topics: Iterable[Topic],
    *,
    directory: Path,
    today: str,
    max_rounds: int = 30,
    search_hits: int = 50,
    embedded: Callable[[], str] | None = None,
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
    }
    return ForkSpec(
        LABEL,
        fill_prompt("dream", values),
        tools=TOOLS,
        paths=(around.staging,),
        reads=(*around.transcripts, *around.logs, *((around.project,) if around.project else ())),
        max_rounds=max_rounds,
        embedded=embedded,
    )


@value
class StagingGate:
    """Judges the writes of a dream before they are made; the result is judged again as a whole."""

    staging: Path

    def refuse(self, tool: str, given: JsonObject) -> str:
        """Why a call may not be made, in a sentence for the model; empty when it may."""
        said = given.get("file_path")
        if tool not in {"Write", "Edit"} or not isinstance(said, str):
            return ""
        path = inside(Path(said), self.staging)
        if path is None:
            return f"This background task writes only below {self.staging}."
        content = given.get("content", given.get("new_string"))
        return refusal_of_write(path, content if isinstance(content, str) else "")


def _format_paths(paths: Sequence[Path]) -> str:
    return "\n".join(f"- {path}" for path in paths)
