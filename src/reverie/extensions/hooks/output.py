"""Parses the output of a hook by the rules of its event: exit code, JSON control fields, plain text.

The outcome of one hook is a `HookVerdict` of its own; nothing here knows how the text was obtained.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reverie.extensions.hooks.events import Event, RefusalEffect
from reverie.extensions.hooks.verdict import NOTHING, HookVerdict, Permission
from reverie.messages.blocks import Json, JsonObject

BLOCKING_CODE = 2
# Some interpreters end with the same code when they do not find their script; that is nobody's decision.
_MISSING = re.compile(r"\S*(?:python[\d.]*: can't open file |sh: 0: [Cc]a(?:nno|n')t open ).*\s*\Z")
_NO_REASON = "blocked by a hook, which gave no reason"
_NO_STOP_REASON = "stopped by a hook"

_PERMISSIONS: Mapping[str, Permission] = {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"}
"""To defer leaves the decision to whoever drives the agent, and here that is the user."""

_MORE: Mapping[str, type] = {
    "sessionTitle": str,
    "initialUserMessage": str,
    "watchPaths": list,
    "reloadSkills": bool,
    "suppressOriginalPrompt": bool,
    "retry": bool,
    "displayContent": str,
    "action": str,
    "content": dict,
    "worktreePath": str,
}


class _Mistake(ValueError):
    """What is wrong with the JSON of a hook."""


def outcome(event: Event, label: str, *, code: int, stdout: str, stderr: str = "") -> HookVerdict:
    """What a program said that ended with this code; `label` names the hook in warnings."""
    verdict = NOTHING
    is_json = stdout.lstrip().startswith("{")
    is_valid = False
    if is_json:
        try:
            verdict = parse_control_fields(event, stdout)
            is_valid = True
        except _Mistake as mistake:
            verdict = HookVerdict(messages=(f"hook {label}: invalid JSON output: {mistake}",))
    if code == BLOCKING_CODE and not _MISSING.match(stderr):
        return _refuse(event, label, stderr.strip() or verdict.blocked or verdict.reason, verdict)
    if code != 0 and event.name == "WorktreeCreate":
        return replace(verdict, blocked=_tail(stderr) or f"hook {label} exited with code {code}")
    if code != 0 and not is_valid:
        return replace(
            verdict, messages=(*verdict.messages, f"hook {label} exited with code {code}{_colon(_tail(stderr))}")
        )
    if is_json:
        return verdict
    text = stdout.strip()
    if text and event.name == "WorktreeCreate":
        return HookVerdict(more={"worktreePath": text.splitlines()[-1]})
    return HookVerdict(context=(text,)) if text and event.takes_stdout else NOTHING


def verdict_from_model(event: Event, label: str, *, ok: bool, reason: str) -> HookVerdict:
    """What a model said that was asked whether to go on; a yes is no permission, only no objection."""
    return NOTHING if ok else _refuse(event, label, reason, NOTHING)


def parse_control_fields(event: Event, text: str) -> HookVerdict:
    """The control fields of a JSON answer. Raises `ValueError` with what is wrong."""
    try:
        answer: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Mistake(f"not valid JSON ({error})") from error
    if not isinstance(answer, dict):
        raise _Mistake("expected an object")
    specific = _field(answer, "hookSpecificOutput", dict) or {}
    named = specific.get("hookEventName", event.name)
    if named != event.name:
        raise _Mistake(f"`hookEventName` is {named!r}, expected {event.name!r}")
    verdict = _universal(answer)
    verdict = _apply_decision(event, answer, verdict)
    if event.takes_context and (context := _field(specific, "additionalContext", str)):
        verdict = replace(verdict, context=(context,))
    if event.name == "PreToolUse":
        verdict = _apply_permission(specific, verdict)
    elif event.name == "PermissionRequest":
        verdict = _apply_answer(specific, verdict)
    elif event.name == "PostToolUse":
        output = specific.get("updatedToolOutput", specific.get("updatedMCPToolOutput"))
        verdict = replace(verdict, updated_output=output)
    more = {name: value for name, kind in _MORE.items() if (value := _field(specific, name, kind)) is not None}
    if more:
        verdict = replace(verdict, more={**verdict.more, **more})
    return verdict


def _universal(answer: JsonObject) -> HookVerdict:
    stop = None
    if _field(answer, "continue", bool) is False:
        stop = _field(answer, "stopReason", str) or _NO_STOP_REASON
    message = _field(answer, "systemMessage", str)
    return HookVerdict(stop=stop, messages=(message,) if message else ())


def _apply_decision(event: Event, answer: JsonObject, verdict: HookVerdict) -> HookVerdict:
    decision = _field(answer, "decision", str)
    reason = _field(answer, "reason", str) or ""
    if decision not in (None, "block", "approve"):
        raise _Mistake(f"`decision` is {decision!r}; expected 'block' or 'approve'")
    if event.name == "PreToolUse" and decision is not None:
        return _with_permission(verdict, "deny" if decision == "block" else "allow", reason)
    if decision != "block" or not event.takes_decision:
        return verdict
    if event.refusal is RefusalEffect.TELLS_MODEL:
        return replace(verdict, context=(reason,) if reason else ())
    return replace(verdict, blocked=reason or _NO_REASON)


def _apply_permission(specific: JsonObject, verdict: HookVerdict) -> HookVerdict:
    decision = _field(specific, "permissionDecision", str)
    if decision is not None:
        if decision not in _PERMISSIONS:
            raise _Mistake(f"`permissionDecision` is {decision!r}; expected one of {', '.join(_PERMISSIONS)}")
        reason = _field(specific, "permissionDecisionReason", str) or ""
        verdict = _with_permission(verdict, _PERMISSIONS[decision], reason)
    return replace(verdict, updated_input=_field(specific, "updatedInput", dict))


def _apply_answer(specific: JsonObject, verdict: HookVerdict) -> HookVerdict:
    """The answer to a question that the user would have been asked."""
    decision = _field(specific, "decision", dict)
    if decision is None:
        return verdict
    behavior = decision.get("behavior")
    if behavior not in ("allow", "deny"):
        raise _Mistake(f"`decision.behavior` is {behavior!r}; expected 'allow' or 'deny'")
    reason = _field(decision, "message", str) or ""
    verdict = _with_permission(verdict, "allow" if behavior == "allow" else "deny", reason)
    more = {name: decision[name] for name in ("interrupt", "updatedPermissions") if name in decision}
    return replace(verdict, updated_input=_field(decision, "updatedInput", dict), more=more)


def _with_permission(verdict: HookVerdict, permission: Permission, reason: str) -> HookVerdict:
    blocked = (reason or _NO_REASON) if permission == "deny" else None
    return replace(verdict, permission=permission, reason=reason, blocked=blocked)


def _refuse(event: Event, label: str, reason: str, verdict: HookVerdict) -> HookVerdict:
    """Exit code 2 stands whatever the JSON said; only its other words count."""
    reason = reason or f"blocked by hook {label}, which gave no reason"
    remaining = replace(verdict, permission=None, reason="", blocked=None, updated_input=None, updated_output=None)
    match event.refusal:
        case RefusalEffect.BLOCKS if event.name == "PreToolUse":
            return replace(remaining, permission="deny", reason=reason, blocked=reason)
        case RefusalEffect.BLOCKS:
            return replace(remaining, blocked=reason)
        case RefusalEffect.TELLS_MODEL:
            return replace(remaining, context=(*remaining.context, reason))
        case RefusalEffect.TELLS_USER:
            return replace(remaining, messages=(*remaining.messages, f"hook {label}: {reason}"))
        case RefusalEffect.IGNORED:
            return remaining


def _field(table: JsonObject, name: str, kind: type) -> Any:
    value = table.get(name)
    if value is not None and not isinstance(value, kind):
        raise _Mistake(f"`{name}` is not of type {kind.__name__}")
    return value


def _tail(text: str, chars: int = 300) -> str:
    text = text.strip()
    return text if len(text) <= chars else f"…{text[-chars:]}"


def _colon(text: str) -> str:
    return f": {text}" if text else ""
