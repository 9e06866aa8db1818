"""Decides on one call: deny rules, then ask rules, then the mode, then allow rules; everything else asks.

Reasons are sentences that a model can act on. Nothing here asks anybody or changes anything.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from reverie.permissions.covers import covers_need, covers_path, names_tool
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Mode, Policy
from reverie.permissions.real_paths import is_protected, is_within, resolve_path
from reverie.permissions.rule import RuleKind
from reverie.permissions.run import (
    Examined,
    allowing_rules,
    examine,
    find_uncovered_commands,
    first_rule,
    hidden_from_rules,
)
from reverie.values import value

_NOTHING = Path("/dev/null")


class PermissionVerdict(StrEnum):
    """Whether a call runs, asks or is refused."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@value
class PermissionDecision:
    """The verdict and why."""

    verdict: PermissionVerdict
    reason: str
    """A sentence for the person who is asked or the model that is refused."""
    rule: str = ""
    """The rule that decided, with its place; empty when it was the mode or nothing at all."""


def decide(need: Need, policy: Policy) -> PermissionDecision:
    """Whether a call may run now."""
    decision = _judge_need(need, policy)
    if decision.verdict is PermissionVerdict.ASK and policy.mode is Mode.DONT_ASK:
        reason = f"{decision.reason} The mode `dontAsk` refuses instead of asking; work without it."
        return replace(decision, verdict=PermissionVerdict.DENY, reason=reason)
    return decision


def _judge_need(need: Need, policy: Policy) -> PermissionDecision:
    examined = examine(need, policy) if need.act is Act.RUN else None
    for kind, verdict in ((RuleKind.DENY, PermissionVerdict.DENY), (RuleKind.ASK, PermissionVerdict.ASK)):
        rule = _first_rule(need, policy, kind, examined)
        if rule and verdict is PermissionVerdict.DENY:
            return PermissionDecision(
                verdict, f"The rule {rule} forbids this. Do not try it in another way; ask the user.", rule
            )
        if rule:
            return PermissionDecision(verdict, f"The rule {rule} requires asking each time.", rule)
    hidden = hidden_from_rules(examined, policy) if examined is not None and policy.mode is not Mode.PLAN else ""
    if hidden:
        return PermissionDecision(
            PermissionVerdict.ASK,
            f"What `{_short(hidden)}` would run is unknown, and rules apply to some programs; name it directly.",
        )
    if policy.mode is Mode.BYPASS:
        return PermissionDecision(PermissionVerdict.ALLOW, "The mode `bypassPermissions` allows everything.")
    match need.act:
        case Act.NONE:
            return PermissionDecision(PermissionVerdict.ALLOW, "It has no effect outside the conversation.")
        case Act.READ:
            return _read(need, policy)
        case Act.EDIT:
            return _edit(need, policy)
        case Act.RUN:
            assert examined is not None
            return _run(need, policy, examined)
        case Act.FETCH | Act.OTHER:
            rule = _first_rule(need, policy, RuleKind.ALLOW, None)
            if rule:
                return _allow_by_rule(rule)
            what = f"requests {need.url}" if need.act is Act.FETCH else f"uses {need.tool}"
            return PermissionDecision(PermissionVerdict.ASK, f"No rule covers a call that {what}.")


def _first_rule(need: Need, policy: Policy, kind: RuleKind, examined: Examined | None) -> str:
    if examined is not None:
        return first_rule(examined, policy, kind)
    return next((str(rule) for rule in policy.rules(kind) if covers_need(rule, need, kind)), "")


def _read(need: Need, policy: Policy) -> PermissionDecision:
    for path in need.paths:
        if not may_read(need.tool, path, policy):
            return PermissionDecision(
                PermissionVerdict.ASK,
                f"{_describe_path(path)} is outside the directories of this session ({_folders(policy)}); "
                "read inside them, or ask the user.",
            )
    return PermissionDecision(PermissionVerdict.ALLOW, "It only reads inside the directories of this session.")


def may_read(tool: str, path: Path, policy: Policy) -> bool:
    """Whether a file may be read without a question: it lies in the roots, is the plan, or a rule names it."""
    if path == _NOTHING or is_within(path, policy.roots):
        return True
    return _is_plan(path, policy) or bool(_path_rule(tool, path, policy))


def _edit(need: Need, policy: Policy) -> PermissionDecision:
    if policy.mode is Mode.PLAN:
        if need.paths and all(_is_plan(path, policy) for path in need.paths):
            return PermissionDecision(PermissionVerdict.ALLOW, "The plan may be written in plan mode.")
        return PermissionDecision(PermissionVerdict.DENY, _only_reading(policy))
    rule = ""
    for path in need.paths:
        if _steers(path, policy):
            return PermissionDecision(
                PermissionVerdict.ASK,
                f"{_describe_path(path)} controls what programs do later, so changing it asks each time.",
            )
        inside = is_within(path, policy.roots)
        rule = _path_rule(need.tool, path, policy, inside=inside)
        if rule or (inside and policy.mode in (Mode.ACCEPT_EDITS, Mode.AUTO)):
            continue
        if not inside:
            sentence = f"{_describe_path(path)} is outside the directories of this session ({_folders(policy)})"
            return PermissionDecision(PermissionVerdict.ASK, f"{sentence}; write inside them, or ask the user.")
        return PermissionDecision(PermissionVerdict.ASK, f"Changing {_describe_path(path)} needs approval.")
    if not need.paths:
        return PermissionDecision(PermissionVerdict.ASK, "The file it would change is unknown.")
    return (
        _allow_by_rule(rule)
        if rule
        else PermissionDecision(PermissionVerdict.ALLOW, f"Edits are accepted in the mode `{policy.mode}`.")
    )


def _steers(path: Path, policy: Policy) -> bool:
    """Whether a file controls what programs do later, this one included: trust, settings, servers."""
    if is_protected(path):
        return True
    folders = [folder for folder in policy.steering if is_within(path, (folder,))]
    own = [
        root
        for root in policy.roots
        if is_within(root, folders) and resolve_path(root) not in map(resolve_path, folders)
    ]
    return bool(folders) and not is_within(path, own)


def _path_rule(tool: str, path: Path, policy: Policy, *, inside: bool = False) -> str:
    """The allow rule that covers a file. Outside of the roots only a rule that names a path counts."""
    for rule in policy.allow:
        named = names_tool(rule, tool, RuleKind.ALLOW) and (rule.about or inside)
        if named and covers_path(rule, path, RuleKind.ALLOW):
            return str(rule)
    return ""


def _run(need: Need, policy: Policy, examined: Examined) -> PermissionDecision:
    if examined.script.problem and (examined.script.is_broken or not examined.blanket):
        return _refuse_in_plan(policy) or PermissionDecision(
            PermissionVerdict.ASK,
            f"The command cannot be analysed: {examined.script.problem}. A simpler command may not need approval.",
        )
    if examined.reads is not None:
        outside = next((path for path in examined.reads.paths if not may_read("Read", path, policy)), None)
        if outside is None:
            return PermissionDecision(
                PermissionVerdict.ALLOW, "The command only reads inside the directories of this session."
            )
        if policy.mode is Mode.PLAN or find_uncovered_commands(
            examined, policy, lambda path: may_read("Read", path, policy)
        ):
            return PermissionDecision(
                PermissionVerdict.ASK, f"The command reads {_describe_path(outside)}, outside {_folders(policy)}."
            )
    refusal = _refuse_in_plan(policy)
    if refusal is not None:
        return refusal
    for redirect in examined.written:
        answer = _edit(replace(need, tool="Edit", act=Act.EDIT, paths=(redirect,)), policy)
        if answer.verdict is not PermissionVerdict.ALLOW and not (examined.blanket and not _steers(redirect, policy)):
            return PermissionDecision(
                PermissionVerdict.ASK, f"The command writes {_describe_path(redirect)}. {answer.reason}"
            )
    uncovered = find_uncovered_commands(examined, policy, lambda path: may_read("Read", path, policy))
    if not uncovered:
        rules = ", ".join(allowing_rules(examined, policy))
        return (
            _allow_by_rule(rules)
            if rules
            else PermissionDecision(PermissionVerdict.ALLOW, "All parts of the command are read-only.")
        )
    shown = "; ".join(dict.fromkeys(uncovered))
    return PermissionDecision(
        PermissionVerdict.ASK, f"No rule allows `{_short(shown)}`, and it is not recognised as read-only."
    )


def _refuse_in_plan(policy: Policy) -> PermissionDecision | None:
    return PermissionDecision(PermissionVerdict.DENY, _only_reading(policy)) if policy.mode is Mode.PLAN else None


def _only_reading(policy: Policy) -> str:
    plan = f" write the plan to {policy.plan_file} and" if policy.plan_file else ""
    return f"In plan mode only reading is possible;{plan} ask the user to approve it before changing anything."


def _is_plan(path: Path, policy: Policy) -> bool:
    return (
        policy.plan_file is not None
        and resolve_path(path) is not None
        and resolve_path(path) == resolve_path(policy.plan_file)
    )


def _allow_by_rule(rule: str) -> PermissionDecision:
    return PermissionDecision(PermissionVerdict.ALLOW, f"The rule {rule} allows this.", rule)


def _folders(policy: Policy) -> str:
    return ", ".join(str(root) for root in policy.roots) or "none"


def _describe_path(path: Path) -> str:
    actual = resolve_path(path)
    return str(path) if actual is None or actual == path else f"{path} (really {actual})"


def _short(text: str, limit_chars: int = 200) -> str:
    return text if len(text) <= limit_chars else f"{text[:limit_chars]}…"
