"""Rows of a name and a sentence on a part of a session, for people: `/permissions`, `/hooks`, `/cost` and the like."""

from __future__ import annotations

from reverie.amounts import format_count
from reverie.models.ledger import Governor, by, total
from reverie.permissions.policy import Policy
from reverie.permissions.rule import RuleKind
from reverie.session.parts import SessionParts


def describe_part(parts: SessionParts, subject: str) -> tuple[tuple[str, str], ...] | None:
    """Rows of a name and a sentence on a part of the session."""
    match subject:
        case "permissions":
            return _rules(parts.permits.policy)
        case "hooks":
            return tuple((f"{hook.event} {hook.matcher or '*'}", str(hook.handler)) for hook in parts.hooks.hooks)
        case "mcp":
            return parts.extensions.mcp_tools.connections.rows
        case "skills":
            return tuple((name, about) for name, about, _ in parts.extensions.commands)
        case "plugins":
            return tuple((one.name, one.description or str(one.root)) for one in parts.extensions.plugins.plugins)
        case "trust":
            return tuple((part.kind, f"{part.place}: {part.text}") for part in parts.extensions.waiting_for_trust)
        case "cost":
            return _costs(parts.governor)
        case "output-style":
            return parts.opening_prompt.styling.rows
        case "agents":
            return parts.subagents.roles
        case "tasks":
            return (*parts.subagents.rows, *parts.chore_rows)
        case _:
            return None


def _rules(policy: Policy) -> tuple[tuple[str, str], ...]:
    rows = [("mode", str(policy.mode))]
    rows += [(kind.value, str(rule)) for kind in RuleKind for rule in policy.rules(kind)]
    rows += [("folder", str(root)) for root in policy.roots]
    return tuple(rows)


def _costs(governor: Governor) -> tuple[tuple[str, str], ...]:
    rows = []
    for line in [*by(governor.bookings, lambda one: one.purpose), total(governor.bookings)]:
        share = "" if line.cache_share is None else f", {line.cache_share:.0%} of the input from the cache"
        price = "price unknown" if line.cost_usd is None else f"${line.cost_usd:.4f}"
        rows.append((line.key, f"{format_count(line.calls, 'call')}, {price}{share}"))
    refused = governor.refuses()
    return (*rows, *((("background work", refused),) if refused else ()))
