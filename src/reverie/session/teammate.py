"""A session that plays a member of a team: it works on what letters ask, reports to its leader, and leaves when told.

A turn begins with the letters that have come; its last words go back to the leader. It leaves at a `shutdown_request`,
in the middle of a turn if need be, and when its leader is gone. In plan mode it only reads, and its report is its plan,
until a `plan_approval_response` of its leader accepts it.
"""

from __future__ import annotations

import asyncio

from reverie.messages.blocks import JsonObject
from reverie.permissions.policy import Mode
from reverie.permissions.rule import RuleKind
from reverie.session.events import TurnEnded
from reverie.session.session import Session
from reverie.session.subagents.children import LETTER_KIND
from reverie.session.subagents.definitions import Definition
from reverie.session.subagents.mailbox import AgentMessage
from reverie.session.subagents.team import list_members, remove_member, write_member

POLL_SECONDS = 0.3
_LEAVE = "shutdown_request"
_PLAN = "plan_approval_response"
_WORK = "Messages have come for you and follow. Do what they ask; your last words of this turn go back to {leader}."


async def serve(session: Session, *, leader: str, role: Definition | None, poll_seconds: float = POLL_SECONDS) -> None:
    """Be a teammate until somebody says that it is enough."""
    subagents = session.parts.subagents
    post, options = subagents.post, session.parts.options
    _limit(session, role)
    post.heed = lambda letter: _apply_plan_approval(session, leader, letter)
    write_member(post.team_folder, post.name, role.name if role else "", session.id, options.now())
    try:
        while _has_leader(session, leader):
            request = _request(session)
            if request is not None:
                answer = AgentMessage(
                    options.new_id(),
                    post.name,
                    request.sender,
                    "",
                    options.now(),
                    kind="shutdown_response",
                    request_id=request.request_id or request.id,
                    approve=True,
                )
                post.write_to(request.sender, answer)
                return
            if post.peek():
                await _work(session, leader, poll_seconds)
                if not await _may_rest(session, leader, poll_seconds):
                    return
            else:
                await asyncio.sleep(poll_seconds)
    finally:
        remove_member(post.team_folder, post.name)


async def _may_rest(session: Session, leader: str, poll_seconds: float) -> bool:
    """Let hooks hear that the work is done: they may want more of it, or that it leaves; whether it stays."""
    parts = session.parts
    facts: JsonObject = {"teammate_name": parts.subagents.post.name, "team_name": parts.subagents.post.team}
    for _ in range(parts.options.settings.hook.max_continues + 1):
        verdict = await parts.hooks.fire("TeammateIdle", facts)
        if verdict.stop is not None:
            return False
        if verdict.blocked is None or parts.subagents.post.peek():
            break
        await _work(session, leader, poll_seconds, verdict.blocked)
    return True


async def _work(session: Session, leader: str, poll_seconds: float, words: str = "") -> None:
    """One turn on the letters that have come, or on other words; a request to leave ends it."""
    post, options = session.parts.subagents.post, session.parts.options

    async def watch() -> None:
        while _request(session) is None and _has_leader(session, leader):  # noqa: ASYNC110 - another process writes
            await asyncio.sleep(poll_seconds)
        session.cancel()

    watching = asyncio.create_task(watch())
    ended: TurnEnded | None = None
    try:
        async for event in session.send(words or _WORK.format(leader=leader), source="system"):
            ended = event if isinstance(event, TurnEnded) else ended
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    post.keep()
    if ended is not None:
        summary = f"report ({ended.ending})"
        post.write_to(leader, AgentMessage(options.new_id(), post.name, leader, ended.text, options.now(), summary))


def _limit(session: Session, role: Definition | None) -> None:
    """A role's tools, as rules: the tool list is the session's own."""
    permits = session.parts.permits
    for tool in session.parts.tools:
        if role is not None and not role.has_tool(tool.spec.name):
            permits.policy = permits.policy.with_rule(tool.spec.name, RuleKind.DENY, source=f"agent {role.name}")


def _apply_plan_approval(session: Session, leader: str, letter: AgentMessage) -> None:
    """Leave plan mode when the leader accepts the plan; a rejection is words, and nothing but reading goes on."""
    permits = session.parts.permits
    is_accepted = letter.kind == _PLAN and letter.sender == leader and letter.approve is True
    if is_accepted and permits.policy.mode is Mode.PLAN:
        permits.policy = permits.policy.with_mode(Mode.DEFAULT)


def _has_leader(session: Session, leader: str) -> bool:
    members = list_members(session.parts.subagents.post.team_folder, now=session.parts.options.now())
    return any(one.name == leader and one.is_alive for one in members)


def _request(session: Session) -> AgentMessage | None:
    """Who asked to leave: by a letter that waits, or by one that a turn has read."""
    waiting = (letter for letter in session.parts.subagents.post.peek() if letter.kind == _LEAVE)
    leave_request = next(waiting, None)
    if leave_request is not None:
        return leave_request
    for entry in session.attachments:
        if entry.kind == LETTER_KIND and entry.data.get("letter") == _LEAVE:
            ids = entry.data.get("ids")
            letter_id = str(ids[0]) if isinstance(ids, list) and ids else ""
            return AgentMessage(
                letter_id, str(entry.data.get("from")), "", "", session.parts.options.now(), kind=_LEAVE
            )
    return None
