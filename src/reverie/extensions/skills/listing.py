"""The list of skills that the model is sent: one line each, within a size budget.

Names go before descriptions: when the budget is short, all descriptions are cut to one length, and only when the names
alone do not fit are the last of them left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reverie.extensions.skills.skill import Skill

DESCRIPTION_CHARS = 1_536
"""Longest description with its `when_to_use`."""
BUDGET_CHARS = 8_000
"""Longest listing when nobody names another budget."""

_SHORTEST_CHARS = 16
"""A description that is cut shorter than this tells nothing any more."""


def listing(
    skills: Iterable[Skill], *, budget_chars: int = BUDGET_CHARS, description_chars: int = DESCRIPTION_CHARS
) -> str:
    """The text of the attachment; empty when there is nothing to announce."""
    announced = [skill for skill in skills if skill.for_model]
    for limit in _limits(announced, description_chars):
        text = "\n".join(_line(skill, limit) for skill in announced)
        if len(text) <= budget_chars:
            return text
    return _names(announced, budget_chars)


def skills_in_play(
    skills: Iterable[Skill], touched: Iterable[str], *, covers: Callable[[tuple[str, ...], str], bool]
) -> tuple[Skill, ...]:
    """The skills that are in play: those for all files, and those whose patterns cover a touched file.

    `covers` says whether patterns cover a name relative to the project, as they do in the rules of instructions.
    """
    names = tuple(touched)
    return tuple(skill for skill in skills if not skill.paths or any(covers(skill.paths, name) for name in names))


def describe(skill: Skill, description_chars: int = DESCRIPTION_CHARS) -> str:
    """What a skill is for, on one line."""
    text = " ".join(f"{skill.description} {skill.when_to_use}".split())
    if len(text) <= description_chars:
        return text
    return f"{text[: max(0, description_chars - 1)].rstrip()}…" if description_chars > 1 else ""


def _limits(skills: list[Skill], longest: int) -> Iterable[int]:
    """Ever shorter descriptions, in steps that waste little of the budget."""
    limit = max((len(describe(skill, longest)) for skill in skills), default=0)
    yield limit
    while (limit := limit * 9 // 10) >= _SHORTEST_CHARS:
        yield limit
    yield 0


def _line(skill: Skill, limit: int) -> str:
    about = describe(skill, limit)
    return f"- {skill.name}: {about}" if about else f"- {skill.name}"


def _names(skills: list[Skill], budget_chars: int) -> str:
    lines: list[str] = []
    for number, skill in enumerate(skills):
        rest = f"- and {len(skills) - number} more"
        if len("\n".join([*lines, f"- {skill.name}", rest])) > budget_chars:
            return "\n".join([*lines, rest]) if len("\n".join([*lines, rest])) <= budget_chars else "\n".join(lines)
        lines.append(f"- {skill.name}")
    return "\n".join(lines)
