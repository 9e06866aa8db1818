"""What the model is told about memory: the rules of the main agent (path A), and the memory prompt of an agent role.

Fixed text without any memory in it, so that it stays the same for a whole session; the index travels in the user
context (`user_context.py`), except for an agent role, whose prompt and index load together.
"""

from __future__ import annotations

import shlex

from reverie.files.places import AgentScope
from reverie.memory.store.index.memory_md import IndexLimits, index_for_model
from reverie.memory.topics.topic import MemoryType
from reverie.messages.injection import harmless
from reverie.session.prompt_text import prompt_text
from reverie.values import value

_SCOPES = {
    MemoryType.user: "always private",
    MemoryType.feedback: "private, unless it is a convention that every contributor must follow; then shared",
    MemoryType.project: "shared where the whole team is concerned, which is usual; else private",
    MemoryType.reference: "usually shared",
}

_HINTS = {
    AgentScope.USER: "It follows you into every project, so keep what you learn general.",
    AgentScope.PROJECT: "It belongs to this project and is shared with the team through version control, so fit what "
    "you learn to this project and write nothing private.",
    AgentScope.LOCAL: "It belongs to this project on this machine and is not under version control, so fit what you "
    "learn to both.",
}


@value
class MemoryFacts:
    """Where memory lies and which of its parts are on."""

    directory: str
    transcripts: str
    """The folder of the project's transcripts."""
    skip_index: bool = True
    """The index is generated; the model writes topics only."""
    has_save_tool: bool = True
    """SaveMemory writes into this directory."""
    search_past: bool = True
    has_grep: bool = True
    """There is a Grep tool; without it the shell searches."""
    daily_log_pattern: str = ""
    """The place of daily logs in words, without a date; set only in daily-log mode."""
    team: str = ""
    """The shared directory; set only in team mode."""
    index_lines: int = 200
    extra: str = ""
    """The user's own additions to the rules."""


def memory_rules(facts: MemoryFacts) -> str:
    """The section of the system prompt on memory."""
    parts = [prompt_text("memory_intro", directory=facts.directory), _types(is_team=bool(facts.team))]
    parts += [prompt_text("memory_team", team=facts.team)] if facts.team else []
    parts += [prompt_text("memory_never"), _how_to_save(facts)]
    parts += [prompt_text("memory_access"), prompt_text("memory_trust"), prompt_text("memory_other")]
    parts += [_searching(facts)] if facts.search_past else []
    parts += [facts.extra.strip()] if facts.extra.strip() else []
    return "\n\n".join(parts)


def agent_memory_prompt(
    directory: str,
    scope: AgentScope,
    index: str,
    *,
    limits: IndexLimits | None = None,
) -> str:
    """What an agent role is told about its own memory, with the text of its index."""
    limits = limits or IndexLimits()
    shown = harmless(index_for_model(index, limits)[0]).strip()
    saving = MemoryFacts(directory, "", has_save_tool=False, index_lines=limits.lines)
    return "\n\n".join(
        [
            prompt_text("agent_memory", directory=directory, hint=_HINTS[scope]),
            _types(is_team=False),
            prompt_text("memory_never"),
            _how_to_save(saving),
            prompt_text("memory_trust"),
            prompt_text("agent_memory_index", index=shown or "It is empty so far."),
        ]
    )


def with_memory(prompt: str, memory: str) -> str:
    """The prompt of an agent and what it is told about its memory."""
    return f"{prompt.rstrip()}\n\n{memory}"


def _types(*, is_team: bool) -> str:
    tags = {f"scope_{kind}": f"<scope>{words}</scope>\n" if is_team else "" for kind, words in _SCOPES.items()}
    return prompt_text("memory_types", **tags)


def _how_to_save(facts: MemoryFacts) -> str:
    if facts.daily_log_pattern:
        return prompt_text("memory_daily", pattern=facts.daily_log_pattern)
    return prompt_text(
        "memory_save_with_index" if not facts.skip_index else "memory_save" if facts.has_save_tool else "memory_files",
        format=prompt_text("memory_format"),
        habits=prompt_text("memory_habits"),
        index_lines=str(facts.index_lines),
    )


def _searching(facts: MemoryFacts) -> str:
    return prompt_text(
        "memory_search",
        search_memory=_search(facts.directory, "*.md", has_grep=facts.has_grep),
        search_transcripts=_search(facts.transcripts, "*.jsonl", has_grep=facts.has_grep),
    )


def _search(folder: str, files: str, *, has_grep: bool) -> str:
    if has_grep:
        return f'Grep with pattern="<search term>" path="{folder}" glob="{files}"'
    return f'grep -rn "<search term>" {shlex.quote(folder)} --include="{files}"'
