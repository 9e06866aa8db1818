"""A summary under nine headings, within a limit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from reverie.context.digest.choose import choose, worths
from reverie.context.digest.drafts import DraftLines
from reverie.context.digest.line import DigestLine, DigestTopic, Weigh, quote_requests
from reverie.context.facts.outcomes import cut
from reverie.context.facts.terms import terms
from reverie.context.facts.values import Facts, UserRequest
from reverie.context.spans import short_ids

REQUESTS_SHARE = 0.5
"""What the user's words may take of a summary when the caller sets no limit of their own."""
SPANS_SHARE = 0.25
"""What the index of spans may take of the rest."""


def summary(
    facts: Facts,
    *,
    limit_tokens: int,
    weigh: Weigh,
    requests_tokens: int | None = None,
    beside: str = "",
    kept_ids: Collection[str] = (),
    rereads: bool = True,
) -> str:
    """Write the summary.

    `requests_tokens` limits the user's words within it. `beside` is text that stays in view next to it: what is told
    there is not told twice. `kept_ids` are ids of typed messages that stay in view themselves. Without
    `rereads` nothing is listed that could only be read again by its id.
    """
    allowed = limit_tokens * REQUESTS_SHARE if requests_tokens is None else requests_tokens
    requests = quote_requests(
        facts.requests, limit_tokens=allowed, weigh=weigh, kept_ids=kept_ids, short=short_ids(facts.ids)
    )
    drafts = DraftLines(facts, {one.uuid for one in facts.requests if one.uuid in kept_ids or _is_whole(one, requests)})
    fixed = _render_summary(facts, drafts, [], [], requests)
    tokens_left = limit_tokens - weigh(fixed)
    spans = _fitting(drafts.spans() if rereads else (), tokens_left * SPANS_SHARE, weigh)
    tokens_left -= sum(weigh(line.text) + 2 for line in spans)
    told_terms = terms(fixed) | {name for line in spans for name in line.terms}
    visible = terms(beside) if beside else frozenset[str]()
    chosen = choose(
        drafts.lines(), worths(facts, visible), limit_tokens=tokens_left, weigh=weigh, told_terms=told_terms
    )
    while True:
        text = _render_summary(facts, drafts, chosen, spans, requests)
        if weigh(text) <= limit_tokens:
            return text
        if chosen:
            chosen = _without_last(chosen)
        elif spans:
            spans = spans[1:]
        elif requests:
            requests = requests[1:]
        else:
            return fitting(text, limit_tokens, weigh)


def fitting(text: str, limit_tokens: float, weigh: Weigh) -> str:
    """The first lines of a text that fit."""
    rows = text.split("\n")
    while rows and weigh("\n".join(rows)) > limit_tokens:
        rows.pop()
    return "\n".join(rows).rstrip()


def _is_whole(request: UserRequest, pieces: Sequence[str]) -> bool:
    return any(piece.endswith(request.text.strip("\n")) for piece in pieces)


def _without_last(chosen: Sequence[DigestLine]) -> list[DigestLine]:
    """The least of the chosen goes, with whatever stood under it."""
    last = chosen[-1]
    return [line for line in chosen[:-1] if not last.key or line.under != last.key]


def _fitting(spans: Sequence[DigestLine], limit_tokens: float, weigh: Weigh) -> list[DigestLine]:
    """The newest spans that fit, in their order."""
    taken: list[DigestLine] = []
    for line in reversed(spans):
        limit_tokens -= weigh(line.text) + 2
        if limit_tokens < 0:
            break
        taken.append(line)
    return taken[::-1]


def _render_summary(
    facts: Facts, drafts: DraftLines, chosen: Sequence[DigestLine], spans: Sequence[DigestLine], requests: Sequence[str]
) -> str:
    sections = (
        ("1. Primary Request and Intent", _intent(facts, drafts, chosen)),
        ("2. Key Technical Concepts", bullets(chosen, DigestTopic.CONCEPT, DigestTopic.SKILL)),
        ("3. Files and Code Sections", file_lines(drafts, chosen)),
        ("4. Errors and Fixes", bullets(chosen, DigestTopic.TROUBLE)),
        ("5. Problem Solving", _solving(chosen, spans)),
        ("6. All User Messages", requests),
        ("7. Pending Tasks", [*bullets(chosen, DigestTopic.TODO), *plain_lines(chosen, DigestTopic.PLAN)]),
        ("8. Current Work", current_work(facts, drafts)),
        ("9. Optional Next Step", next_step(facts, drafts)),
    )
    return "\n\n".join("\n".join([f"## {heading}", *rows]) for heading, rows in sections if rows)


def bullets(chosen: Iterable[DigestLine], *topics: DigestTopic) -> list[str]:
    """The lines of some topics as a list."""
    return [f"- {line}" for line in plain_lines(chosen, *topics)]


def plain_lines(chosen: Iterable[DigestLine], *topics: DigestTopic) -> list[str]:
    """The lines of some topics in their places."""
    lines = [line for line in chosen if line.topic in topics]
    return [line.text for line in sorted(lines, key=lambda line: (topics.index(line.topic), line.place))]


def file_lines(drafts: DraftLines, chosen: Iterable[DigestLine]) -> list[str]:
    """Each file with its definitions, its changes and the lines of it that mattered, the newest file first."""
    chosen = list(chosen)
    files = sorted(
        (line for line in chosen if line.topic is DigestTopic.FILE), key=lambda line: line.place, reverse=True
    )
    rows = [f"Paths are relative to {drafts.root}."] if drafts.root and files else []
    for file in files:
        rows.append(f"- {file.text}")
        under = [line for line in chosen if line.under == file.key]
        symbols = plain_lines(under, DigestTopic.SYMBOL)
        if symbols:
            rows.append(f"  defines {'; '.join(symbols)}")
        rows.extend(f"  {row}" for row in plain_lines(under, DigestTopic.EXCERPT, DigestTopic.CHANGE))
    return rows


def command_lines(chosen: Iterable[DigestLine]) -> list[str]:
    """Commands with their outcomes and the lines of output that mattered."""
    chosen = list(chosen)
    rows: list[str] = []
    for line in sorted((line for line in chosen if line.topic is DigestTopic.COMMAND), key=lambda line: line.place):
        rows.append(f"- {line.text}")
        rows.extend(
            f"  {row}" for row in plain_lines((one for one in chosen if one.under == line.key), DigestTopic.OUTPUT)
        )
    return rows


def statement_lines(chosen: Iterable[DigestLine]) -> list[str]:
    """What the assistant said, the sentences of one round together."""
    rounds: dict[int, list[str]] = {}
    for line in sorted((one for one in chosen if one.topic is DigestTopic.STATEMENT), key=lambda one: one.place):
        rounds.setdefault(line.place[0], []).append(line.text)
    return [f"- {' '.join(texts)}" for texts in rounds.values()]


def current_work(facts: Facts, drafts: DraftLines) -> list[str]:
    """The last thing said and done."""
    rows = []
    if facts.statements:
        last = facts.statements[-1].round
        statements = [one.text for one in facts.statements if one.round == last]
        rows.append(f"- last said: “{cut(' '.join(statements), 400)}”")
    done = [drafts.in_words(deed) for step in facts.steps[-3:] for deed in step.deeds]
    if done:
        rows.append(f"- last done: {'; '.join(done)}")
    return rows


def next_step(facts: Facts, drafts: DraftLines) -> list[str]:
    """The task in progress, else the first open one, else what still waits for an answer."""
    begun = [todo.text for todo in facts.open_todos if todo.status == "in_progress"]
    waiting = begun or [todo.text for todo in facts.open_todos]
    if waiting:
        return [f"- {waiting[0]}"]
    current = facts.current_request
    if current is not None and current.round >= facts.rounds:
        return [f"- answer the last message of the user [{drafts.name(current.uuid)}]"]
    return []


def _intent(facts: Facts, drafts: DraftLines, chosen: Sequence[DigestLine]) -> list[str]:
    current = facts.current_request
    rows = (
        [f"- current request [{drafts.name(current.uuid)}]: “{cut(' '.join(current.text.split()), 160)}”"]
        if current
        else []
    )
    stated = bullets(chosen, DigestTopic.DECISION)
    return rows + (["The user stated:", *stated] if stated else [])


def _solving(chosen: Sequence[DigestLine], spans: Sequence[DigestLine]) -> list[str]:
    rows = [*plain_lines(chosen, DigestTopic.EARLIER)]
    statements = statement_lines(chosen)
    if statements:
        rows += ["The assistant said:", *statements]
    ran = command_lines(chosen)
    if ran:
        rows += ["Commands:", *ran]
    looked = bullets(chosen, DigestTopic.LOOKUP, DigestTopic.DELEGATION)
    if looked:
        rows += ["Looked up and delegated:", *looked]
    if spans:
        rows += ["Everything before, in pieces that can be read again by their ids:", *bullets(spans, DigestTopic.SPAN)]
    return rows
