"""Checks the result of a model's dream file by file against the topics that it began with.

Front matter must be valid, nothing may be missing, no secret and no injected instruction may have been added, and
nothing may be attributed to the user that they did not say. What fails is discarded and
reported; the rest becomes steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reverie.errors import Damaged
from reverie.files import front_matter
from reverie.files.front_matter import Scalar, parse_value
from reverie.files.secret_scan import scan
from reverie.memory.dream.proposal import DreamStep, StepKind, find_lost_facts
from reverie.memory.extraction.candidate import MemoryCandidate, RefusalReason, RefusedCandidate
from reverie.memory.extraction.gate import GateContext, judge
from reverie.memory.model_asks import INSTRUCTIONS, drop_bad_asks
from reverie.memory.store.worktree import INDEX_FILE, is_safe_path, is_topic_path
from reverie.memory.topics.topic import MemoryType, Source, Topic, Trust, parse_topic, render_topic, strip_code_fence
from reverie.messages.injection import flags
from reverie.values import value

RETIRED = "retired"
"""The key by which a dream archives a topic; its value is the reason."""
REPLACED_BY = "replaced_by"
"""The key that names the topic which carries on what an archived one said."""


@value
class DreamRules:
    """What a result is judged by."""

    was_said: Callable[[Source], bool] = lambda _source: False
    """Whether the user really said this."""
    is_erased: Callable[[str], bool] = lambda _text: False


@dataclass(slots=True)
class CheckedDream:
    """What may stand, and what was thrown away."""

    steps: tuple[DreamStep, ...] = ()
    refused: tuple[str, ...] = ()


class _Refusal(Exception):
    """One file may not stand."""


@dataclass(slots=True)
class _Result:
    texts: dict[str, str] = field(default_factory=dict)
    retired: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Path → reason, and the path of what replaces it."""
    refused: list[str] = field(default_factory=list)


def check_result(before: Mapping[str, str], after: Mapping[str, str], rules: DreamRules) -> CheckedDream:
    """Judge a staging tree."""
    result = _Result()
    said_sources = {source for text in before.values() for source in _find_sources(text, said_only=True)}
    quoted = {source.quote for text in before.values() for source in _find_sources(text)}
    for path in sorted(before.keys() - after.keys()):
        result.refused.append(f"{path}: was removed; topics are archived, never deleted")
    for path in sorted(after):
        if after[path] == before.get(path):
            continue
        try:
            _judge(path, before.get(path), after[path], rules, said_sources, quoted, result)
        except _Refusal as refusal:
            result.refused.append(f"{path}: {refusal}")
    return CheckedDream(tuple(_steps(before, result)), tuple(result.refused))


def refusal_of_write(path: str, text: str) -> str:
    """Why a fork may not even write this into its copy: a sentence for the model, or nothing."""
    if path.rsplit("/", 1)[-1] == INDEX_FILE:
        return f"{INDEX_FILE} is generated from the topic files; write only those."
    if not is_safe_path(path) or not is_topic_path(path):
        return "Only topic files (`.md`, outside hidden folders) may be written here."
    rules_hit = sorted({finding.rule for finding in scan(text)})
    return f"Not written: it holds what looks like a secret ({', '.join(rules_hit)})." if rules_hit else ""


def _judge(
    path: str,
    before: str | None,
    after: str,
    rules: DreamRules,
    said_sources: set[Source],
    quoted: set[str | None],
    result: _Result,
) -> None:
    after = strip_code_fence(after)
    refusal = refusal_of_write(path, after)
    if refusal:
        raise _Refusal(refusal)
    try:
        topic = parse_topic(path, after)
        old = parse_topic(path, before) if before is not None else None
    except Damaged as problem:
        raise _Refusal(f"cannot be read as a topic: {problem}") from None
    matter = front_matter.split(path, after)
    if matter is None or not topic.description.strip() or (old is None and topic.type is None):
        raise _Refusal("lacks front matter with name, description and type")
    marks = {key: _plain(value) for key, value in topic.extra if key in {RETIRED, REPLACED_BY}}
    if marks.get(RETIRED):
        if old is None:
            raise _Refusal("cannot be archived, because it is new")
        result.retired[path] = (marks[RETIRED], marks.get(REPLACED_BY, ""))
        return
    _check_trust(topic, old, rules, said_sources)
    if any(source.quote and source.quote not in quoted and not rules.was_said(source) for source in topic.sources):
        raise _Refusal("quotes words that nobody said")
    if topic.pinned != (old is not None and old.pinned):
        raise _Refusal("only a person pins or unpins a memory")
    judged, dropped = drop_bad_asks(_restore_fields(topic, old), old)
    _check_text(judged, old, before, rules)
    result.refused += [f"{path}: {each}" for each in dropped]
    if judged != old:
        result.texts[path] = after if judged == topic else render_topic(judged, after)


def _restore_fields(topic: Topic, old: Topic | None) -> Topic:
    """The topic with the fields that a model left out when it wrote the file anew; only the text is its to shorten."""
    if old is None:
        return topic
    is_same_text = (topic.description, topic.body) == (old.description, old.body)
    keys = {key for key, _ in topic.extra}
    return replace(
        topic,
        type=topic.type or old.type,
        trust=old.trust if is_same_text and topic.trust is None else topic.trust,
        observed=topic.observed or old.observed,
        verified=topic.verified or old.verified,
        expires=topic.expires or old.expires,
        anchors=topic.anchors or old.anchors,
        when=topic.when or old.when,
        asks=topic.asks or old.asks,
        about=topic.about or old.about,
        sources=tuple(dict.fromkeys((*old.sources, *topic.sources))),
        extra=(*topic.extra, *(pair for pair in old.extra if pair[0] not in keys)),
    )


def _check_trust(topic: Topic, old: Topic | None, rules: DreamRules, said_sources: set[Source]) -> None:
    if topic.trust is Trust.seen and topic.type in {MemoryType.user, MemoryType.feedback}:
        raise _Refusal("what was only seen does not become an instruction")
    if topic.trust is not Trust.said:
        return
    allowed = set(old.sources) if old is not None and old.trust is Trust.said else set()
    fresh = [source for source in topic.sources if source not in allowed]
    unheard = [source for source in fresh if source not in said_sources and not rules.was_said(source)]
    if unheard or (not topic.sources and not (old is not None and old.trust is Trust.said)):
        raise _Refusal("claims a word of the user that the user did not say")


def _check_text(topic: Topic, old: Topic | None, before: str | None, rules: DreamRules) -> None:
    if rules.is_erased(f"{topic.description}\n{topic.body}"):
        raise _Refusal("brings back what was erased")
    orders = {flag.suspicion for flag in flags(render_topic(topic))} & INSTRUCTIONS
    if orders and not orders <= ({flag.suspicion for flag in flags(before)} if before is not None else set()):
        raise _Refusal(f"has {', '.join(sorted(each.value for each in orders))}")
    reason = _gate_reason(topic)
    if reason is not None and (old is None or _gate_reason(old) != reason):
        raise _Refusal(f"it {reason.value}")


def _gate_reason(topic: Topic) -> RefusalReason | None:
    """What the gate of extraction has against a memory, whoever it is from."""
    kind, trust = topic.type or MemoryType.project, topic.trust or Trust.inferred
    candidate = MemoryCandidate(
        kind, topic.name, topic.description, topic.body, topic.description, "", trust=trust, observed=topic.observed
    )
    verdict = judge(candidate, GateContext())
    return verdict.reason if isinstance(verdict, RefusedCandidate) else None


def _steps(before: Mapping[str, str], result: _Result) -> Iterator[DreamStep]:
    """Each changed file is a step; those that take the place of archived ones form one with them."""
    together: dict[str, list[str]] = {}
    for path, (reason, place) in result.retired.items():
        if place in result.texts:
            together.setdefault(place, []).append(path)
            continue
        yield DreamStep(StepKind.retire, f"{path} is archived: {reason}", {path: before[path]}, {path: None})
    for path, text in result.texts.items():
        gone = together.get(path, [])
        if gone:
            why = "; ".join(f"{each} is merged into {path}: {result.retired[each][0]}" for each in gone)
            kind = StepKind.merge
        else:
            why = f"{path} is {'brought up to date' if path in before else 'added'}"
            kind = StepKind.edit if path in before else StepKind.add
        step = DreamStep(
            kind,
            why,
            {path: before.get(path), **{each: before[each] for each in gone}},
            {path: text, **dict.fromkeys(gone)},
        )
        lost = dict.fromkeys(fact for each in step.before for fact in find_lost_facts(step, each))
        yield replace(step, reason=f"{why}; no longer says: {', '.join(lost)}") if lost else step


def _find_sources(text: str, *, said_only: bool = False) -> tuple[Source, ...]:
    try:
        topic = parse_topic("topic.md", text)
    except Damaged:
        return ()
    return topic.sources if topic.trust is Trust.said or not said_only else ()


def _plain(canonical: str) -> str:
    parsed = parse_value(canonical)
    return parsed.text.strip() if isinstance(parsed, Scalar) else canonical
