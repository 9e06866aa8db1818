"""Session notes under their ten headings, each section and the whole within their limits.

The default template is the prompt `notes_template`; one of the user's own may rename, drop or add headings. A heading
that we know gets its content, any other keeps only its instruction line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reverie.context.digest.choose import choose, worths
from reverie.context.digest.drafts import DraftLines
from reverie.context.digest.line import DigestLine, DigestTopic, Weigh, quote_requests
from reverie.context.digest.summary import bullets, command_lines, current_work, file_lines, next_step, plain_lines
from reverie.context.facts.values import Facts
from reverie.context.prompt import read_prompt
from reverie.context.spans import short_ids
from reverie.values import value

_HEADING = re.compile(r"^# (.+?)\s*$", re.MULTILINE)
TITLE_WORDS = 10
FIRST_SECTIONS = 3


@value
class _Section:
    heading: str
    instruction: str


def notes(facts: Facts, *, section_tokens: int, total_tokens: int, weigh: Weigh, template: str = "") -> str:
    """Fill the template, or the default one; its headings and instruction lines stay as they are."""
    drafts = DraftLines(facts)
    sections = _sections(template or read_prompt("notes_template"))
    tokens_left = total_tokens - weigh(_render_notes(sections, {}))
    lines = drafts.lines()
    writers: dict[str, Callable[[float], list[str]]] = {
        "session title": lambda _: _title(facts),
        "current state": lambda _: [
            *current_work(facts, drafts),
            *next_step(facts, drafts),
            *bullets(lines, DigestTopic.TODO),
        ],
        "task specification": lambda limit: _task(facts, lines, limit, weigh),
        "files and functions": lambda limit: _fill_section(
            lambda chosen: file_lines(drafts, chosen), facts, lines, limit, weigh,
            DigestTopic.FILE, DigestTopic.SYMBOL, DigestTopic.CHANGE, DigestTopic.EXCERPT,
        ),
        "workflow": lambda limit: _fill_section(
            command_lines, facts, lines, limit, weigh, DigestTopic.COMMAND, DigestTopic.OUTPUT
        ),
        "errors & corrections": lambda limit: _fill_bullets(facts, lines, limit, weigh, DigestTopic.TROUBLE),
        "codebase and system documentation": lambda limit: _fill_bullets(
            facts,
            lines,
            limit,
            weigh,
            DigestTopic.CONCEPT,
            DigestTopic.SKILL,
            DigestTopic.LOOKUP,
            DigestTopic.DELEGATION,
        ),
        "learnings": lambda limit: _fill_bullets(facts, lines, limit, weigh, DigestTopic.STATEMENT),
        "key results": lambda limit: _newest_answer(facts, limit, weigh),
        "worklog": lambda limit: _newest(bullets(drafts.spans(), DigestTopic.SPAN), limit, weigh),
    }  # fmt: skip
    content: dict[str, list[str]] = {}
    for number, section in enumerate(sections):
        writer = writers.get(section.heading.lower())
        if writer is None:
            continue
        # The first sections say what it is about; each may take its whole limit before the rest shares what is left.
        share = tokens_left if number < FIRST_SECTIONS else tokens_left / (len(sections) - number)
        limit = min(section_tokens - weigh(f"# {section.heading}\n{section.instruction}"), share)
        is_log = writer is writers["worklog"]
        rows = (_newest if is_log else _cut)(writer(limit), limit, weigh)
        # Weights do not quite add up, and the limit is one of the whole section.
        while rows and weigh(_render_notes([section], {section.heading: rows})) > section_tokens:
            rows.pop(0 if is_log else -1)
        content[section.heading] = rows
        tokens_left = max(0.0, tokens_left - weigh("\n".join(rows)) - 1)
    while weigh(_render_notes(sections, content)) > total_tokens and any(content.values()):
        max(content.values(), key=len).pop()
    return _render_notes(sections, content)


def _sections(template: str) -> list[_Section]:
    parts = _HEADING.split(template)
    return [_Section(parts[at], parts[at + 1].strip("\n")) for at in range(1, len(parts) - 1, 2)]


def _render_notes(sections: Sequence[_Section], content: dict[str, list[str]]) -> str:
    return (
        "\n\n".join(
            "\n".join([f"# {one.heading}", one.instruction, *content.get(one.heading, [])]).rstrip("\n")
            for one in sections
        )
        + "\n"
    )


def _title(facts: Facts) -> list[str]:
    for request in facts.requests:
        words = request.text.split()
        if words:
            return [" ".join(words[:TITLE_WORDS]) + ("…" if len(words) > TITLE_WORDS else "")]
    return []


def _task(facts: Facts, lines: Sequence[DigestLine], limit: float, weigh: Weigh) -> list[str]:
    requests = quote_requests(facts.requests, limit_tokens=limit * 0.7, weigh=weigh, short=short_ids(facts.ids))
    rest = limit - sum(weigh(row) + 1 for row in requests)
    return [
        *requests,
        *plain_lines(lines, DigestTopic.PLAN),
        *_fill_bullets(facts, lines, rest, weigh, DigestTopic.DECISION),
    ]


def _fill_bullets(
    facts: Facts, lines: Sequence[DigestLine], limit: float, weigh: Weigh, *topics: DigestTopic
) -> list[str]:
    return _fill_section(lambda chosen: bullets(chosen, *topics), facts, lines, limit, weigh, *topics)


def _fill_section(
    write: Callable[[list[DigestLine]], list[str]],
    facts: Facts,
    lines: Sequence[DigestLine],
    limit: float,
    weigh: Weigh,
    *topics: DigestTopic,
) -> list[str]:
    of_these = [line for line in lines if line.topic in topics]
    return write(choose(of_these, worths(facts), limit_tokens=limit, weigh=weigh))


def _newest_answer(facts: Facts, limit: float, weigh: Weigh) -> list[str]:
    if not facts.statements:
        return []
    last = facts.statements[-1].round
    return _cut([one.text for one in facts.statements if one.round == last], limit, weigh)


def _cut(rows: Sequence[str], limit: float, weigh: Weigh) -> list[str]:
    """The first rows that fit."""
    taken: list[str] = []
    for row in rows:
        limit -= weigh(row) + 1
        if limit < 0:
            break
        taken.append(row)
    return taken


def _newest(rows: Sequence[str], limit: float, weigh: Weigh) -> list[str]:
    return _cut(rows[::-1], limit, weigh)[::-1]
