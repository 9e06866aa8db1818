"""Skills in a running session: what is announced, what invoking one does, and what of it lasts.

The text of an invoked skill joins the conversation as an attachment with its name; these attachments are the store
from which a compaction restores skills, also after resuming. What a skill may do besides (permission rules, hooks)
holds until the turn ends, and for a skill that came with the project only once the user agreed. One that forks runs in
an agent of its own with an empty context, and its report joins instead of its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reverie.context.conversation import Conversation
from reverie.context.restore import InvokedSkill, RestoredAttachment
from reverie.errors import UserMistake
from reverie.extensions.hooks import Hooks, parse_declaration
from reverie.extensions.skills import Skill, Skills, list_nested, listing, read_invocation, skills_in_play
from reverie.files.globs import matches_below
from reverie.files.places import Places
from reverie.files.trust import TrustPart
from reverie.messages.blocks import JsonObject, Text, ToolUse
from reverie.messages.entries import AttachmentEntry
from reverie.messages.reminder import reminder
from reverie.permissions.need import Act
from reverie.permissions.rule import RuleKind
from reverie.session.events import Notice, TurnEvent
from reverie.session.loop import JoinedAttachment
from reverie.session.mcp_tools import find_announced_names
from reverie.session.tool_calls import FinishedCall, ToolCalls
from reverie.tools.agent import Order, StartAgent
from reverie.tools.tool import ToolAnswer

LISTING, NEARBY, INVOKED = "skill_listing", "dynamic_skill", "invoked_skills"
GENERAL = "general-purpose"
"""Runs a skill that forks and names nobody."""
_INTRODUCTION = "These skills can be loaded with the Skill tool:"
_FURTHER = "Further skills can be loaded with the Skill tool now:"


@dataclass(slots=True)
class SkillInvoker:
    """The skills of one session."""

    skills: Skills
    places: Places
    directory: Path
    log: Conversation
    hooks: Hooks
    calls: ToolCalls
    emit: Callable[[TurnEvent], None]
    start_agent: StartAgent
    """Starts an agent for the main one."""
    retune: Callable[[str, str], Callable[[], None]]
    """Lets another model, or another effort, answer; returns what goes back. Raises `UserMistake` when it cannot."""
    new_id: Callable[[], str]
    _touched: set[str] = field(default_factory=set)
    _pending: list[JoinedAttachment] = field(default_factory=list)
    _leaving: list[Callable[[], None]] = field(default_factory=list)

    @property
    def waiting(self) -> tuple[TrustPart, ...]:
        """Permission rules of the project's skills that need the user's yes."""
        return tuple(grant for skill in self.skills.skills if (grant := skill.grants) is not None)

    @property
    def commands(self) -> tuple[Skill, ...]:
        """What the user may call as `/name`."""
        return tuple(skill for skill in self.skills.skills if skill.for_user)

    @property
    def has_any(self) -> bool:
        """Whether the model may invoke anything."""
        return any(skill.for_model for skill in self.skills.skills)

    def find(self, name: str) -> Skill | None:
        """The skill that a name means now."""
        return self.skills.find(name)

    def opening(self) -> Sequence[JoinedAttachment]:
        """The list of skills, for the beginning of a conversation."""
        text = self._listing()
        return (JoinedAttachment(LISTING, reminder(text)),) if text else ()

    def returning(self) -> tuple[RestoredAttachment, ...]:
        """The same after a compaction."""
        text = self._listing()
        return (RestoredAttachment(LISTING, text),) if text else ()

    def store(self) -> tuple[InvokedSkill, ...]:
        """Every skill that was invoked in this conversation, the most recent last."""
        invoked: dict[str, InvokedSkill] = {}
        for entry in self.log.chain():
            if not isinstance(entry, AttachmentEntry) or entry.kind != INVOKED or "invoked" not in entry.data:
                continue
            name = str(entry.data.get("name", ""))
            words = "".join(block.text for block in entry.content if isinstance(block, Text))
            invoked.pop(name, None)
            invoked[name] = InvokedSkill(name, words.partition("\n\n")[2], str(entry.data.get("path", "")))
        return tuple(invoked.values())

    async def invoke(self, skill: Skill, arguments: str) -> JoinedAttachment:
        """Read a skill, run its inline commands as far as they are allowed, and let its rules hold for this turn.

        One that forks is run to its end instead. Raises `UserMistake`, or `ToolMistake` where no agent can be started.
        """
        with_arguments = f" with {arguments.strip()!r}" if arguments.strip() else ""
        data: JsonObject = {"name": skill.name, "path": str(skill.path)}
        if skill.forks:
            report = _text(await self._run_apart(skill, arguments))
            head = f"The skill {skill.name} was invoked{with_arguments} and ran in an agent of its own. Its report:"
            return JoinedAttachment(INVOKED, f"{head}\n\n{report}", f"skill {skill.name}, in an agent", data)
        text = await self._read(skill, arguments)
        self._retune(skill)
        head = f"The skill {skill.name} was invoked{with_arguments}. Follow what it says:"
        return JoinedAttachment(INVOKED, f"{head}\n\n{text}", f"skill {skill.name}", {**data, "invoked": True})

    async def invoke_for_model(self, skill: Skill, arguments: str) -> ToolAnswer | None:
        """The same for the Skill tool: the text joins behind the results of the round, a report is the answer."""
        if skill.forks:
            return await self._run_apart(skill, arguments)
        self._pending.append(await self.invoke(skill, arguments))
        return None

    def pending(self) -> Sequence[JoinedAttachment]:
        """What was invoked and has not joined yet."""
        ready, self._pending = self._pending, []
        return ready

    def collect_attachments(self, done: Sequence[FinishedCall]) -> Sequence[JoinedAttachment]:
        """What the calls of a round bring along: invoked skills, and skills that hold where they went."""
        joined = list(self.pending())
        paths = {
            path
            for each in done
            if each.need is not None and each.need.act in (Act.READ, Act.EDIT) and not each.refused
            for path in each.need.paths
        }
        if not paths:
            return joined
        for path in sorted(paths):
            if path.is_relative_to(self.directory):
                self._touched.add(path.relative_to(self.directory).as_posix())
                self.skills = self.skills.with_more(list_nested(path, places=self.places, directory=self.directory))
        return [*joined, *self._attach_unannounced()]

    def renew(self, skills: Skills) -> None:
        """Take these skills, and those that were found on the way; new ones are announced at the next boundary."""
        self.skills = skills.with_more(self.skills)
        self._pending += self._attach_unannounced()

    def turn_ended(self) -> None:
        """What skills were allowed to do is over."""
        while self._leaving:
            self._leaving.pop()()

    def _attach_unannounced(self) -> Sequence[JoinedAttachment]:
        announced = find_announced_names(self.log, LISTING, NEARBY)
        fresh = [skill for skill in self._in_play() if skill.for_model and skill.name not in announced]
        if not fresh:
            return ()
        names = ", ".join(skill.name for skill in fresh)
        return (JoinedAttachment(NEARBY, reminder(f"{_FURTHER}\n{listing(fresh)}"), f"further skills: {names}"),)

    def _listing(self) -> str:
        text = listing(self._in_play())
        return f"{_INTRODUCTION}\n{text}" if text else ""

    def _in_play(self) -> tuple[Skill, ...]:
        return skills_in_play(
            self.skills.skills,
            self._touched,
            covers=lambda patterns, name: any(matches_below(pattern, name) for pattern in patterns),
        )

    async def _output(self, command: str) -> str:
        """What a command of a skill prints, as a call like any other: judged by the rules, framed by hooks."""
        call = ToolUse(self.new_id(), "Bash", {"command": command, "description": "a command of a skill"})
        done: dict[str, FinishedCall] = {}
        await self.calls.run([call], done)
        return _text(done[call.id].answer)

    async def _read(self, skill: Skill, arguments: str) -> str:
        invocation = read_invocation(skill, arguments, values={"CLAUDE_SESSION_ID": self.log.session})
        self._grant(invocation.skill)
        outputs = {command: await self._output(command) for command in invocation.commands}
        return invocation.with_outputs(outputs).text

    async def _run_apart(self, skill: Skill, arguments: str) -> ToolAnswer:
        """Let an agent do what the skill says; what the skill may do holds for it alone."""
        leaving_before = len(self._leaving)
        try:
            order = Order(
                prompt=await self._read(skill, arguments),
                description=f"skill {skill.name}",
                kind=skill.agent or GENERAL,
                in_background=skill.in_background,
                model=skill.model,
                effort=skill.effort,
            )
            return await self.start_agent(order)
        finally:
            while len(self._leaving) > leaving_before:
                self._leaving.pop()()

    def _retune(self, skill: Skill) -> None:
        if not skill.model and not skill.effort:
            return
        try:
            self._leaving.append(self.retune(skill.model, skill.effort))
        except UserMistake as mistake:
            self.emit(Notice(f"the skill {skill.name!r}: {mistake}", "warning"))

    def _grant(self, skill: Skill) -> None:
        permits = self.calls.permits
        allowed = skill.allowed_tools
        if skill.grants is not None and not self.hooks.answers.accepts(skill.grants):
            self.emit(
                Notice(
                    f"the permissions requested by skill {skill.name!r} are ignored because it came with the project",
                    "info",
                )
            )
            allowed = ()
        source = f"skill {skill.name}"
        before = permits.policy
        for kind, rules in ((RuleKind.ALLOW, allowed), (RuleKind.DENY, skill.disallowed_tools)):
            for rule in rules:
                try:
                    permits.policy = permits.policy.with_rule(rule, kind, source=source)
                except UserMistake as mistake:
                    self.emit(Notice(str(mistake), "warning"))
        if permits.policy is not before:
            self._leaving.append(lambda: _withdraw(self.calls, source))
        if skill.hooks is not None:
            self._leaving.append(self.hooks.join(parse_declaration(skill.hooks, root=skill.plugin_root)))


def _withdraw(calls: ToolCalls, source: str) -> None:
    policy = calls.permits.policy
    calls.permits.policy = replace(
        policy,
        allow=tuple(rule for rule in policy.allow if rule.source != source),
        deny=tuple(rule for rule in policy.deny if rule.source != source),
    )


def _text(answer: ToolAnswer) -> str:
    if isinstance(answer.content, str):
        return answer.content
    return "\n".join(block.text for block in answer.content if isinstance(block, Text))
