"""What the model is told besides the conversation: system text, instruction files, memory index, date, plan mode.

Rendered once, kept until a compaction or `/clear`; what changes in between (a day, a folder that is entered, a mode)
joins the conversation as an attachment, so that nothing that was sent is ever rendered again.

The state of the git repository is read once as the session begins, bounded, and never renewed while it lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from reverie.amounts import format_count
from reverie.context.conversation import Conversation
from reverie.context.restore import RestoreContext, RestoredAttachment
from reverie.errors import Error
from reverie.extensions.hooks import Hooks
from reverie.extensions.instructions import (
    InstructionFile,
    Loaded,
    LoadReason,
    Where,
    compact_instructions,
    load,
    load_nested,
    load_waiting,
    mark_as_read,
    render_nested,
)
from reverie.files import read_small, write_atomic, write_folder
from reverie.files.git import ask_git
from reverie.files.places import find_checkout
from reverie.files.places.git_programs import may_look_at_files
from reverie.files.trust import TrustPart
from reverie.memory.memory import Memory
from reverie.memory.store.index.memory_md import IndexLimits
from reverie.messages.blocks import Json
from reverie.messages.entries import AttachmentEntry, PromptEntry, SystemBlock
from reverie.messages.injection import harmless
from reverie.messages.reminder import reminder
from reverie.models.profiles import profile
from reverie.permissions.need import Act
from reverie.permissions.policy import Mode
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import JoinedAttachment, Opening
from reverie.session.memory_prompt import MemoryFacts
from reverie.session.options import SessionOptions
from reverie.session.output_style import StyleChoice, read_styling
from reverie.session.project_trust import read_loaded, to_include_part, where_of, with_answers
from reverie.session.prompt_text import prompt_text
from reverie.session.system_prompt import PromptFacts, system_prompt
from reverie.session.tool_calls import FinishedCall, Permits, ToolCalls
from reverie.session.user_context import date_change, hidden_characters, user_context
from reverie.settings.features import features
from reverie.tools.agent import NAME as AGENT_TOOL
from reverie.tools.desk import Desk
from reverie.tools.plan import NAME as PLAN_TOOL

if TYPE_CHECKING:
    from reverie.session.extensions import Extensions

CONTEXT = "instructions"
"""The attachment that opens a conversation: instruction files, memory index, date."""
NESTED = "nested_memory"
"""Instruction files that join in mid-conversation; the data names their paths."""
PLAN_MODE, PLAN_MODE_LEFT = "plan_mode", "plan_mode_exit"
_GIT_SECONDS = 2.0
_MAX_RESTORED_BYTES = 2_000_000


@dataclass(slots=True)
class OpeningPrompt:
    """Tells one session's model where it is and what holds there."""

    options: SessionOptions
    log: Conversation
    memory: Memory
    desk: Desk
    permits: Permits
    hooks: Hooks
    calls: ToolCalls
    extensions: Extensions
    plan_file: Path
    transcripts: Path
    emit: Callable[[TurnEvent], None]
    _git: str = ""
    _styling: StyleChoice | None = None
    _loaded: Loaded | None = None
    _unheard: list[InstructionFile] = field(default_factory=list)
    """Loaded files that hooks have not heard of."""
    _day: date | None = None

    async def prepare(self) -> None:
        """Gather what takes a moment, before the conversation is opened."""
        await asyncio.to_thread(_read_platform)
        if find_checkout(self.options.directory) is not None:
            looks = await asyncio.to_thread(may_look_at_files, self.options.directory)
            self._git = await git_status(self._ask_git, looks_at_files=looks)

    def opening(self) -> Opening:
        """System text, tools and first messages, rendered now."""
        context = JoinedAttachment(CONTEXT, self._context(LoadReason.SESSION_START))
        return self._system(), self.calls.tools.specs, (context, *self.extensions.opening())

    def for_agents(self) -> Sequence[JoinedAttachment]:
        """The instruction files as an agent of the session reads them: without the memory of the main one."""
        files = self._instructions(LoadReason.SESSION_START).files if self._has_instructions else ()
        if not any(file.text for file in files):
            return ()
        return (JoinedAttachment(CONTEXT, user_context(files, today=self.options.now().date())),)

    async def reopen(self) -> None:
        """After a compaction the cached parts are rendered anew, where they differ; instructions were read again."""
        await self.announce_loaded()
        view = self.log.view
        system, tools = self._system(), self.calls.tools.specs
        if (system, tools) != (view.system, view.tools):
            self.log.append(PromptEntry(self.log.envelope(), system, tools))

    def forget(self) -> None:
        """The conversation begins anew."""
        self._loaded = None
        self._day = None

    def before_prompt(self) -> Sequence[JoinedAttachment]:
        """What changed since the last turn: the day, what the user allowed, the mode."""
        joined = []
        today = self.options.now().date()
        if self._day is None:
            self._day = self._last_day()
        if today != self._day:
            joined.append(
                JoinedAttachment("date_change", reminder(date_change(today)), f"it is {today:%A}, {today} now")
            )
            self._day = today
        joined += self._attach_newly_allowed()
        joined += self._mode_change()
        return joined

    def collect_attachments(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:
        """What the calls of a round bring along: instructions that hold where they went."""
        for each in done:
            if each.call.name == PLAN_TOOL and not each.answer.is_error:
                self._keep_plan(each)
        if not self._has_instructions:
            return ()
        joined: list[JoinedAttachment] = []
        paths = {
            path
            for each in done
            if each.need is not None and each.need.act in (Act.READ, Act.EDIT) and not each.refused
            for path in each.need.paths
        }
        if paths:
            # What stands in the conversation since before a resume, or outlived a compaction, is not told again.
            self._loaded = mark_as_read(self._instructions(LoadReason.SESSION_START), self._standing())
        for path in sorted(paths):
            before = self._instructions(LoadReason.SESSION_START)
            more = self._load_nested(before, path)
            joined += self._attach_loaded(more)
            self._loaded = before.with_more(more)
        return joined

    def _attach_loaded(self, more: Loaded) -> Sequence[JoinedAttachment]:
        """Files that were loaded in mid-conversation, as they join it."""
        self._unheard += more.files
        for warning in _warnings(more):
            self.emit(Notice(warning, "warning"))
        if not any(file.text for file in more.files):
            return ()
        names: list[Json] = [str(file.path) for file in more.files]
        summary = f"read {', '.join(map(str, names))}"
        return (JoinedAttachment(NESTED, reminder(render_nested(more.files)), summary, {"paths": names}),)

    def _standing(self) -> Iterator[Path]:
        """Files that joined in mid-conversation and are still in view."""
        in_view = {item.uuid for item in self.log.view.items if item.label == NESTED}
        for entry in self.log.entries if in_view else ():
            if isinstance(entry, AttachmentEntry) and entry.envelope.uuid in in_view:
                named = entry.data.get("paths")
                yield from (Path(str(one)) for one in named if one) if isinstance(named, list) else ()

    def surroundings(self) -> RestoreContext:
        """What returns after a compaction; instruction files are read anew."""
        self._loaded = None
        context = self._context(LoadReason.COMPACT)
        returning = [RestoredAttachment(CONTEXT, _bare(context), is_required=True)]
        if self.permits.policy.mode is Mode.PLAN:
            returning.append(RestoredAttachment(PLAN_MODE, self._plan_rules(), is_required=True))
        around = RestoreContext(
            plan=self._plan_text(),
            returning=tuple(returning),
            read_text=_read_text,
            instructions=self._compact_instructions(),
            reloads_instructions=True,
        )
        return self.extensions.around(around)

    def _compact_instructions(self) -> str:
        """What the project's files ask of a summary."""
        return compact_instructions(self._instructions(LoadReason.COMPACT).files) if self._has_instructions else ""

    async def announce_loaded(self) -> None:
        """Let hooks hear which instruction files were loaded since they last heard of any."""
        if not self._has_instructions:
            return
        self._instructions(LoadReason.SESSION_START)
        unheard, self._unheard = self._unheard, []
        for file in unheard:
            await self.hooks.fire("InstructionsLoaded", file.hook_fields, subject=file.reason.value)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of the instruction files and of how the agent is to write."""
        return (*(_warnings(self._loaded) if self._loaded else ()), *filter(None, [self.styling.problem]))

    @property
    def styling(self) -> StyleChoice:
        """How the agent writes; read anew whenever the system text is."""
        if self._styling is None:
            self._styling = read_styling(self.options, self.extensions.plugins.plugins)
        return self._styling

    @property
    def waiting(self) -> tuple[TrustPart, ...]:
        """Instruction files from outside the project that wait for the user's word."""
        if not self._has_instructions:
            return ()
        return tuple(map(to_include_part, self._instructions(LoadReason.SESSION_START).waiting))

    def _attach_newly_allowed(self) -> Sequence[JoinedAttachment]:
        """Instruction files that the user agreed to after the conversation was opened."""
        before, trust = self._loaded, self.hooks.answers
        if before is None or not before.waiting or with_answers(before.where, before.waiting, trust) == before.where:
            return ()
        more = read_loaded(before.where, trust, lambda where: load_waiting(replace(before, where=where)))
        self._loaded = replace(before, waiting=()).with_more(more)
        return self._attach_loaded(more)

    def _load_nested(self, before: Loaded, touched: Path) -> Loaded:
        def reading(where: Where) -> Loaded:
            return load_nested(replace(before, where=where), touched)

        return read_loaded(before.where, self.hooks.answers, reading)

    @property
    def _has_instructions(self) -> bool:
        return features(self.options.settings, interactive=self.options.is_interactive).instructions

    def _instructions(self, reason: LoadReason) -> Loaded:
        if self._loaded is None:
            where = where_of(self.options, self.desk.additional)
            self._loaded = read_loaded(where, self.hooks.answers, lambda answered: load(answered, reason))
            self._unheard = list(self._loaded.files)
        return self._loaded

    def _context(self, reason: LoadReason) -> str:
        today = self.options.now().date()
        self._day = today
        files = self._instructions(reason).files if self._has_instructions else ()
        path, team_path = self.memory.scope.folder.index, self.memory.scope.folder.team_index
        index = team_index = ""
        if self.memory.off is None and features(self.options.settings, interactive=self.options.is_interactive).index:
            index, team_index = ((read_small(each) or b"").decode("utf-8", "replace") for each in (path, team_path))
        return user_context(
            files,
            today=today,
            index=index,
            index_path=str(path),
            team_index=team_index,
            team_index_path=str(team_path),
            limits=IndexLimits.of(self.options.settings.index),
        )

    def _system(self) -> tuple[SystemBlock, ...]:
        options = self.options
        on = features(options.settings, interactive=options.is_interactive)
        self._styling = None
        memory = None
        if on.rules and self.memory.off is None:
            with suppress(Error):
                write_folder(self.memory.directory)
            folder = self.memory.scope.folder
            memory = MemoryFacts(
                directory=str(self.memory.directory),
                transcripts=str(self.transcripts),
                skip_index=options.settings.memory.skip_index,
                index_lines=options.settings.index.max_lines,
                search_past=options.settings.memory.search_past_context,
                daily_log_pattern=folder.daily_log_pattern if options.settings.memory.daily_log else "",
                team=str(self.memory.team.directory) if self._is_shared() else "",
                extra=options.settings.memory.extra_guidelines or "",
            )
        platform, system = _read_platform()
        return system_prompt(
            PromptFacts(
                directory=str(options.directory),
                platform=platform,
                model=options.model,
                knowledge_cutoff=profile(options.model, options.overrides).knowledge_cutoff,
                system=system,
                shell=Path(options.environment.get("SHELL", "bash")).name,
                is_git=find_checkout(options.directory) is not None,
                additional=tuple(map(str, self.desk.additional)),
                language=options.settings.language or "",
                style=self.styling.chosen,
                is_interactive=options.is_interactive,
                has_agents=AGENT_TOOL in self.calls.tools,
                has_skills=self.extensions.skill_invoker.has_any,
                servers=self.extensions.mcp_tools.connections.instructions,
                memory=memory,
                scratch=str(self.desk.scratch),
                token_budget=options.settings.budget.turn_tokens,
                git_status=self._git,
                custom=options.system_prompt,
                appended=options.appended_prompt or "",
            )
        )

    def _is_shared(self) -> bool:
        """Whether a team was joined; what cannot be read is told elsewhere."""
        with suppress(Error):
            return self.memory.team.joined is not None
        return False

    def _last_day(self) -> date:
        """The day that a resumed conversation was told last."""
        for item in reversed(self.log.view.items):
            if item.timestamp:
                from datetime import datetime

                moment = datetime.fromisoformat(item.timestamp)
                return moment.astimezone(self.options.now().tzinfo).date()
        return self.options.now().date()

    def _mode_change(self) -> Sequence[JoinedAttachment]:
        labels = [item.label for item in self.log.view.items if item.label in (PLAN_MODE, PLAN_MODE_LEFT)]
        was_plan = bool(labels) and labels[-1] == PLAN_MODE
        is_plan = self.permits.policy.mode is Mode.PLAN
        if is_plan and not was_plan:
            return (JoinedAttachment(PLAN_MODE, reminder(self._plan_rules()), "plan mode"),)
        if was_plan and not is_plan:
            return (JoinedAttachment(PLAN_MODE_LEFT, reminder(_text("plan_mode_left", path=str(self.plan_file)))),)
        return ()

    def _plan_rules(self) -> str:
        return _text("plan_mode", path=str(self.plan_file))

    def _plan_text(self) -> str:
        return (read_small(self.plan_file) or b"").decode("utf-8", "replace")

    def _keep_plan(self, done: FinishedCall) -> None:
        plan = done.answer.details.get("plan")
        if isinstance(plan, str) and plan.strip() != self._plan_text().strip():
            write_atomic(self.plan_file, plan)
        if self.permits.policy.mode is Mode.PLAN:
            self.permits.policy = self.permits.policy.with_mode(Mode.DEFAULT)

    async def _ask_git(self, arguments: tuple[str, ...]) -> str | None:
        """Ask git where the agent stands, for a bounded time; who the user is, by the user's own settings."""
        as_user = arguments[0] == "config"
        return await asyncio.to_thread(
            ask_git, self.options.directory, *arguments, seconds=_GIT_SECONDS, as_user=as_user
        )


def _bare(text: str) -> str:
    """Without the frame, which a compaction puts around everything that returns."""
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")


def _text(name: str, **values: str) -> str:
    from reverie.session.prompt_text import prompt_text

    return prompt_text(name, **values)


def _warnings(loaded: Loaded) -> tuple[str, ...]:
    return (*loaded.warnings, *hidden_characters(loaded.files))


def _read_text(path: str) -> str | None:
    content = read_small(Path(path), limit_bytes=_MAX_RESTORED_BYTES)
    return None if content is None else content.decode("utf-8", "replace")


STATUS_CHARS = 2_000
"""The longest list of changes; the model can ask git for the rest."""

Run: TypeAlias = Callable[[tuple[str, ...]], Awaitable[str | None]]
"""Asks git in the working directory and gives what it printed; None when it failed or took too long."""

_BRANCH = ("branch", "--show-current")
_COMMIT = ("rev-parse", "--short", "HEAD")
_MAIN = ("symbolic-ref", "--short", "refs/remotes/origin/HEAD")
_AUTHOR = ("config", "user.name")
# A submodule has a configuration of its own, so it is not looked at.
_STATUS = ("status", "--short", "--ignore-submodules=all")
_COMMITS = ("log", "--oneline", "-n", "5")


async def git_status(run: Run, *, looks_at_files: bool = True) -> str:
    """A section for the system prompt; empty outside of a repository or when git does not answer.

    Without `looks_at_files` the list of changes is left out: asking for it could start a program of the repository's.
    """
    commands = (_BRANCH, _COMMIT, _MAIN, _AUTHOR, _COMMITS, *((_STATUS,) if looks_at_files else ()))
    branch, commit, main, author, commits, *rest = await asyncio.gather(*(run(command) for command in commands))
    if branch is None and not any(rest):
        return ""
    unknown = "git did not answer in time" if looks_at_files else "the repository's configuration names programs"
    status = rest[0] if rest else None
    return prompt_text(
        "git_status",
        branch=_line(branch) or f"none, at commit {_line(commit) or 'unknown'}",
        main=_line(main).removeprefix("origin/") or "unknown",
        author=_line(author) or "unknown",
        status=f"unknown: {unknown}" if status is None else _cut(harmless(status).rstrip()) or "clean",
        commits=harmless(commits or "").strip() or "none",
    )


def _line(text: str | None) -> str:
    return harmless(text or "").strip().partition("\n")[0]


def _cut(status: str) -> str:
    """The first lines within the limit, and how many are missing."""
    if len(status) <= STATUS_CHARS:
        return status
    shown_status = status[:STATUS_CHARS].rpartition("\n")[0] or status[:STATUS_CHARS]
    missing = status.count("\n") - shown_status.count("\n")
    return f"{shown_status}\n[… {format_count(missing, 'more line')}; `git status --short` shows all of them]"


def _read_platform() -> tuple[str, str]:
    """Name and version of the operating system; the first call runs a program, so it is made in a thread."""
    import platform

    return platform.system().lower(), platform.platform(terse=True)
