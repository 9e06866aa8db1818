"""All paths of the program. These values only compute; nothing is read or created here.

Two homes have one layout: ours (`~/.reverie`) and that of the host agent (`~/.claude`), whose files people already
have. Ids and names that come from outside are checked before they become part of a path.

A path becomes the name of a folder by the same rule as in existing agents (`slug`).
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path

from reverie.errors import UserMistake
from reverie.files import check_name
from reverie.patterns import lazy_regex
from reverie.values import value


@value
class SessionFolder:
    """What lies beside one transcript."""

    directory: Path

    @property
    def notes(self) -> Path:
        """The running notes on this session."""
        return self.directory / "session-memory" / "summary.md"

    @property
    def spills(self) -> Path:
        """The folder of tool results that were too large for the window."""
        return self.directory / "tool-results"

    def spill(self, tool_use_id: str) -> Path:
        return self.spills / f"{check_name(tool_use_id, what='tool use id')}.txt"

    @property
    def file_history(self) -> Path:
        """What files held before tools changed them."""
        return self.directory / "file-history"

    @property
    def subagents(self) -> Path:
        """The folder of sub-agent transcripts, which may lie deeper in it."""
        return self.directory / "subagents"

    def subagent_transcript(self, agent_id: str) -> Path:
        return self.subagents / f"agent-{check_name(agent_id, what='agent id')}.jsonl"

    def subagent_facts(self, agent_id: str) -> Path:
        """The sidecar that says what the sub-agent is and who started it."""
        return self.subagents / f"agent-{check_name(agent_id, what='agent id')}.meta.json"


@value
class ProjectFolder:
    """`projects/<slug>/` of either home."""

    directory: Path

    @property
    def memory(self) -> Path:
        """The memory directory, unless a setting names another."""
        return self.directory / "memory"

    @property
    def identity(self) -> Path:
        return self.directory / "identity.json"

    def transcript(self, session_id: str) -> Path:
        return self.directory / f"{check_name(session_id, what='session id')}.jsonl"

    def session(self, session_id: str) -> SessionFolder:
        return SessionFolder(self.directory / check_name(session_id, what="session id"))

    def mailbox(self, team: str, agent: str) -> Path:
        return self.directory / "mailboxes" / check_name(team, what="team") / f"{agent_folder_name(agent)}.jsonl"


@value
class MemoryFolder:
    """One memory directory and what Reverie keeps for it."""

    directory: Path
    aside: Path
    """Where history, search index, archive and locks lie: the directory itself, or a folder under our home when the
    directory is part of somebody's work tree."""

    @property
    def index(self) -> Path:
        return self.directory / "MEMORY.md"

    @property
    def team_index(self) -> Path:
        """The index of what is shared with colleagues."""
        return self.directory / "team" / "MEMORY.md"

    @property
    def daily_log_pattern(self) -> str:
        """The place of daily logs in words: a prompt names it without the date, which would spoil its cache."""
        return str(self.directory / "logs" / "YYYY" / "MM" / "YYYY-MM-DD.md")

    @property
    def host_dream_lock(self) -> Path:
        """The host agent's own lock, which is respected; its time is that of the host's last consolidation."""
        return self.directory / ".consolidate-lock"

    @property
    def git(self) -> Path:
        return self.aside / ".git"

    @property
    def search_index(self) -> Path:
        """Derived; may be deleted at any time, so no lock lies there."""
        return self.aside / ".index"

    @property
    def state(self) -> Path:
        """Locks and marks of our own work on this directory."""
        return self.aside / ".reverie"

    @property
    def writer_lock(self) -> Path:
        return self.state / "writer.lock"

    @property
    def dream_lock(self) -> Path:
        return self.state / "dream.lock"

    @property
    def dream_state(self) -> Path:
        """When the last consolidation succeeded, kept apart from the lock."""
        return self.state / "dream.json"

    def archived(self, topic: str) -> Path:
        """Where an archived topic goes; its ending keeps it out of a host's scan for `*.md`."""
        return self.aside / ".archive" / f"{topic}.archived"


class AgentScope(StrEnum):
    """With whom an agent role shares its memory."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


@value
class SettingsFiles:
    """The settings files that apply to a project, the strongest first."""

    managed: Path
    local: Path
    project: Path
    user: Path


@value
class InstructionFiles:
    """The instruction files of one level or one folder, in the order in which they count."""

    files: tuple[Path, ...]
    rules: Path
    """A folder of `*.md`, at any depth."""
    local: Path | None = None
    """Follows the others of its folder; not shared."""


@value
class Places:
    """Everything outside the project, and the names of what lies inside it."""

    home: Path
    """Ours: `~/.reverie`."""
    config_home: Path
    """The host agent's: `~/.claude`."""
    managed: Path
    """Settings that the machine's administrator made for us."""
    host_managed: Path
    """Those made for the host agent."""
    project_dir_name: str | None = None
    """Stands in for every slug when set."""
    agents: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """The homes of other agents by name, whose sessions are read and never written."""

    @classmethod
    def at(
        cls,
        home: Path,
        config_home: Path,
        *,
        project_dir_name: str | None = None,
        agents: Mapping[str, tuple[Path, ...]] | None = None,
        platform: str = sys.platform,
    ) -> Places:
        """The places that follow from the two homes on this kind of system."""
        on_mac = platform == "darwin"
        system = Path("/Library/Application Support" if on_mac else "/etc")
        return cls(
            home=home,
            config_home=Path(unicodedata.normalize("NFC", str(config_home))),
            managed=system / ("Reverie" if on_mac else "reverie"),
            host_managed=system / ("ClaudeCode" if on_mac else "claude-code"),
            project_dir_name=None if project_dir_name is None else check_folder_name(project_dir_name),
            agents=agents or {},
        )

    @property
    def projects(self) -> Path:
        return self.home / "projects"

    @property
    def host_projects(self) -> Path:
        return self.config_home / "projects"

    def slug(self, path: Path) -> str:
        return self.project_dir_name or slug(path)

    def project(self, path: Path) -> ProjectFolder:
        """Our folder for this working directory. The store of a repository's memories is found by `open_project`."""
        return ProjectFolder(self.projects / self.slug(path))

    def host_project(self, path: Path) -> ProjectFolder:
        return ProjectFolder(self.host_projects / self.slug(path))

    def aside(self, directory: Path) -> Path:
        """Where the history of a memory directory lies when the directory is part of somebody's work tree."""
        return self.home / "aside" / slug(directory)

    @property
    def user_memory(self) -> Path:
        """Memories that hold in every project."""
        return self.home / "memory"

    def agent_memory(
        self, agent: str, scope: AgentScope, *, cwd: Path, root: Path | None = None, remote: Path | None = None
    ) -> Path:
        """The memory directory of an agent role; in remote use local memory lies on the mount, keyed by the root."""
        name = agent_folder_name(agent)
        match scope:
            case AgentScope.USER:
                return self.config_home / "agent-memory" / name
            case AgentScope.PROJECT:
                return cwd / ".claude" / "agent-memory" / name
            case AgentScope.LOCAL if remote is not None:
                return remote / "projects" / self.slug(root or cwd) / "agent-memory-local" / name
            case AgentScope.LOCAL:
                return cwd / ".claude" / "agent-memory-local" / name

    def settings_files(self, root: Path) -> SettingsFiles:
        ours = root / ".reverie"
        return SettingsFiles(
            managed=self.managed / "settings.toml",
            local=ours / "settings.local.toml",
            project=ours / "settings.toml",
            user=self.home / "settings.toml",
        )

    def host_settings_files(self, root: Path) -> SettingsFiles:
        """The host agent's settings, of which hooks, agents and permissions are read."""
        return SettingsFiles(
            managed=self.host_managed / "managed-settings.json",
            local=root / ".claude" / "settings.local.json",
            project=root / ".claude" / "settings.json",
            user=self.config_home / "settings.json",
        )

    @property
    def host_managed_parts(self) -> Path:
        """A folder of further managed settings, read in the order of their names."""
        return self.host_managed / "managed-settings.d"

    @property
    def managed_instructions(self) -> InstructionFiles:
        files = (self.host_managed / "CLAUDE.md", self.managed / "CLAUDE.md", self.managed / "AGENTS.md")
        return InstructionFiles(files, rules=self.managed / "rules")

    @property
    def user_instructions(self) -> InstructionFiles:
        files = (self.config_home / "CLAUDE.md", self.config_home / "AGENTS.md", self.home / "AGENTS.md")
        return InstructionFiles(files, rules=self.config_home / "rules")

    def project_instructions(self, directory: Path) -> InstructionFiles:
        """Those of one folder on the way from the root to the working directory."""
        files = (directory / "CLAUDE.md", directory / ".claude" / "CLAUDE.md", directory / "AGENTS.md")
        return InstructionFiles(files, rules=directory / ".claude" / "rules", local=directory / "CLAUDE.local.md")

    @property
    def notes_template(self) -> Path:
        """Replaces the headings of session notes."""
        return self.config_home / "session-memory" / "config" / "template.md"

    @property
    def notes_prompt(self) -> Path:
        """Replaces the instruction that keeps session notes up to date."""
        return self.config_home / "session-memory" / "config" / "prompt.md"

    @property
    def models(self) -> Path:
        """Weights for search by meaning."""
        return self.home / "models"

    @property
    def vectors_answer(self) -> Path:
        """Whether the user wants vectors, and when they were asked and told."""
        return self.home / "vectors.json"

    @property
    def ledger(self) -> Path:
        """What every model call cost, a file per month."""
        return self.home / "ledger"

    @property
    def tasks(self) -> Path:
        """Background work, finished and running."""
        return self.home / "tasks"

    @property
    def trust(self) -> Path:
        """Which projects' hooks and agents the user has agreed to."""
        return self.home / "trust.json"

    @property
    def caches(self) -> Path:
        """Derived; may be deleted at any time."""
        return self.home / "cache"


def agent_folder_name(agent: str) -> str:
    """An agent's name as part of a path: plugins put a colon into theirs, which Windows forbids."""
    return check_name(agent.replace(":", "-"), what="agent name")


_LONGEST = 200
_NOT_ALPHANUMERIC = lazy_regex(r"[^a-zA-Z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def canonical(path: Path | str) -> str:
    """The path with links resolved, in Unicode NFC: what a slug is made of."""
    return unicodedata.normalize("NFC", os.path.realpath(path))


def slug(path: Path | str) -> str:
    """The name of the folder that belongs to this path."""
    return slug_of(canonical(path))


def slug_of(canonical_path: str) -> str:
    """The name of the folder that belongs to this canonical path."""
    written = _NOT_ALPHANUMERIC.sub("-", canonical_path)
    if len(written) <= _LONGEST:
        return written
    return f"{written[:_LONGEST]}-{_hash(canonical_path)}"


def names_folder_of(name: str, canonical_path: str, *, or_below: bool = False) -> bool:
    """Whether a folder of this name may belong to the path, as any program writes it, or to one below it.

    Programs hash long paths differently, so of these only the beginning is compared; some count a character outside
    the basic plane as two.
    """
    for spelled in {canonical_path, _in_utf16_units(canonical_path)}:
        written = _NOT_ALPHANUMERIC.sub("-", spelled)
        if name == written or (len(written) > _LONGEST and name.startswith(f"{written[:_LONGEST]}-")):
            return True
        if or_below and name.startswith(_NOT_ALPHANUMERIC.sub("-", f"{spelled.rstrip('/')}/")):
            return True
    return False


def check_folder_name(name: str) -> str:
    """Return a name that a user set in place of the slug."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise UserMistake(f"the project folder name {name!r} is not 1 to 64 letters, digits, '-' or '_'")
    return name


def _hash(text: str) -> str:
    """A 32-bit hash as JavaScript programs compute it, in base 36."""
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    value = min(value, 0x100000000 - value)  # the absolute value of the signed number
    written = ""
    while value:
        value, digit = divmod(value, 36)
        written = _DIGITS[digit] + written
    return written or "0"


def _in_utf16_units(text: str) -> str:
    return "".join(character if ord(character) < 0x10000 else "--" for character in text)
