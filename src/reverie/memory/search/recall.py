"""Selects the memories that are relevant now: by similarity, by situation, and by a model's choice where one is set.

`recall` never asks a model. `selection` is the flow that does; whoever drives it keeps the embedded answer for when it
fails. What a hit looks like is `render.py`; which directories are searched is `scopes.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from reverie.memory.search.analyze import synonyms, terms
from reverie.memory.search.document import Query, Scored
from reverie.memory.search.render import Hit, Reasons, RenderLimits, excerpt, within
from reverie.memory.search.topic_index import IndexedFolder, document_of
from reverie.memory.search.topic_table import Indexed
from reverie.memory.topics.age import age_days, header, is_expired
from reverie.memory.topics.situations import Situation, matches
from reverie.memory.topics.tasks import tasks_asked
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.topics.anchors import AnchorCheck
    from reverie.memory.topics.value import Topic
    from reverie.messages.blocks import JsonObject
    from reverie.models.ports import Flow

STANDING_PLACES = 3
"""Most hits that rest on a situation alone, so that broad rules leave room for what the request is about."""
_STANDING_WORTH = {"says": 0.6, "matches": 0.55, "in use": 0.5, "about": 0.4}
"""How likely a rule helps by the kind of its situation: a word of its own says more than a kind of task."""
_EXPIRED_WORTH = 0.5
_REASON_CHARS = 100_000
"""How far into a text its words are looked for, to say why it was recalled."""
_SPACED_WORD = r"[^\W_]+(?:['’_.-][^\W_]+)*"
_UNSPACED = "\u3040\u30ff\u3400\u4dbf\u4e00\u9fff\uf900\ufaff\u0e00\u0e7f\U00020000\U0003ffff"
"""First and last characters of the ranges of scripts without spaces."""
_FIELD_WORDS = {
    "title": "name",
    "summary": "description",
    "body": "text",
    "anchors": "anchors",
    "situation": "when",
    "about": "about",
}
_USAGE = (
    r"\b(?:usage|use|using|how to|api|reference|docs?|documentation|syntax|flags?|options?|commands?|parameters?|"
    r"cheat ?sheet)\b|用法|使い方|文档|参数|リファレンス"
)
_CAUTION = (
    r"\b(?:warn\w*|pitfalls?|gotchas?|careful|caution|beware|known (?:issue|problem|bug)s?|bugs?|broken|breaks?|fails?|"
    r"failure|never|avoid|don'?t|do not|must not|danger\w*|trap|workaround)\b|"
    r"注意|警告|坑|陷阱|避免|不要|気をつけ|バグ"
)
_SELECTED = "selected_memories"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {_SELECTED: {"type": "array", "items": {"type": "string"}}},
    "required": [_SELECTED],
    "additionalProperties": False,
}


@value
class Asked:
    """What recall is asked for."""

    query: str
    context: str = ""
    """What was said just before; its words count little."""
    files: tuple[str, ...] = ()
    """Touched in the last turns, relative to the project root."""
    tools: tuple[str, ...] = ()
    """Used in the last turns."""
    exclude: frozenset[str] = frozenset()
    """Whole paths of memories that were shown already, or that the model has read."""
    limit: int = 5
    by_words: bool = False
    """Whether vectors are left aside: loading them takes longer than a hook may."""


@value
class SearchedDirectory:
    """One memory directory to be searched."""

    scope: str
    folder: IndexedFolder

    def path(self, key: str) -> str:
        return f"{self.folder.folder.directory}/{key}"


@value
class Recalled:
    """What recall found."""

    hits: tuple[Hit, ...]
    searched: int
    """How many memories there were to choose from."""
    skipped: str = ""
    """Why nothing was looked for, where nothing was."""


CheckAnchors: TypeAlias = "Callable[[str, Topic], tuple[AnchorCheck, ...]]"
"""Checks the anchors of a topic; the scope says whether they belong to this project."""


def is_worth_recalling(message: str, *, min_words: int = 2, min_unspaced_chars: int = 4) -> bool:
    """Whether a message says enough to look for memories; without spaces, characters count."""
    if len(message.split()) >= min_words:
        return True
    return sum(map(_is_unspaced, message)) >= min_unspaced_chars


def _is_unspaced(char: str) -> bool:
    return not char.isascii() and any(
        first <= char <= last for first, last in zip(_UNSPACED[::2], _UNSPACED[1::2], strict=True)
    )


def recall(
    searched: Sequence[SearchedDirectory],
    asked: Asked,
    *,
    now: datetime,
    limits: RenderLimits | None = None,
    check: CheckAnchors = lambda _scope, _topic: (),
) -> Recalled:
    """The memories that matter now, best first; none when none is likely to."""
    limits = limits or RenderLimits()
    candidates = ranked(searched, asked, now=now)
    hits = _hits(candidates[: asked.limit], asked, limits, now, check)
    return Recalled(hits=within(hits, limits.turn_bytes), searched=sum(len(each.folder) for each in searched))


@value
class RecallCandidate:
    """A memory that may be recalled."""

    searched: SearchedDirectory
    found: Indexed
    score: float
    reasons: Reasons

    @property
    def path(self) -> str:
        return self.searched.path(self.found.topic.path)


def ranked(
    searched: Sequence[SearchedDirectory],
    asked: Asked,
    *,
    now: datetime,
    abstains: bool = True,
    limit: int | None = None,
) -> list[RecallCandidate]:
    """The candidates in order; those of a situation alone take a few places, no text stands twice."""
    wanted = limit or asked.limit
    found = [
        candidate for each in searched for candidate in _candidates(each, asked, now, abstains=abstains, limit=wanted)
    ]
    order = {each.scope: number for number, each in enumerate(searched)}
    found.sort(key=lambda each: (-each.score, order[each.searched.scope], each.found.topic.path))
    kept: list[RecallCandidate] = []
    seen: set[tuple[str, str]] = set()
    by_situation = 0
    for candidate in found:
        topic = candidate.found.topic
        says = (topic.description, topic.body)
        alone = not candidate.reasons.parts
        if says in seen or (alone and by_situation >= STANDING_PLACES) or _is_known_usage(topic, asked.tools):
            continue
        seen.add(says)
        by_situation += alone
        kept.append(candidate)
    return kept[:wanted]


def _candidates(
    searched: SearchedDirectory, asked: Asked, now: datetime, *, abstains: bool, limit: int
) -> list[RecallCandidate]:
    folder = searched.folder
    root = f"{folder.folder.directory}/"
    exclude = frozenset(path.removeprefix(root) for path in asked.exclude if path.startswith(root))
    # The rules on tools and on doubles take hits away, so a few more are asked for.
    query = Query(asked.query, now, asked.context, limit + 5, exclude, abstains)
    alike = {hit.key: hit for hit in folder.search(query, by_words=asked.by_words)}
    standing = _standing(folder, asked, exclude, alike)
    entries = folder.read([*alike, *(path for path in standing if path not in alike)])
    return [
        RecallCandidate(
            searched=searched,
            found=entry,
            score=_score(alike.get(path), standing.get(path, ()), entry, now),
            reasons=_reasons(alike.get(path), standing.get(path, ()), asked.query, entry.topic),
        )
        for path, entry in entries.items()
    ]


def _standing(
    folder: IndexedFolder, asked: Asked, exclude: Collection[str], alike: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """The rules whose situation is this one, with the reasons: those that are alike too, and the best of the rest."""
    situation = Situation(asked.query, asked.files, asked.tools)
    tasks = tasks_asked(asked.query).keys()
    found: dict[str, tuple[str, ...]] = {}
    groups = [
        (reasons, paths)
        for when, paths in folder.standing().items()
        # Most situations are kinds of task, and most of those are not this one.
        if (when.files or when.tools or when.words or not tasks.isdisjoint(when.tasks))
        and (reasons := matches(when, situation))
    ]
    groups.sort(key=lambda group: -_worth(group[0]))
    alone = 0
    for reasons, paths in groups:
        for path in paths:
            if path in exclude or (path not in alike and alone >= STANDING_PLACES):
                continue
            alone += path not in alike
            found[path] = reasons
    return found


def _worth(standing: Sequence[str]) -> float:
    """How likely a rule helps, by the reasons for which it applies."""
    doubt = 1.0
    for reason in standing:
        doubt *= 1.0 - next((worth for word, worth in _STANDING_WORTH.items() if word in reason), 0.4)
    return 1.0 - doubt


def _score(alike: Scored | None, standing: Sequence[str], entry: Indexed, now: datetime) -> float:
    """The two grounds together: either is enough, both are better."""
    score = 1.0 - (1.0 - (alike.score if alike else 0.0)) * (1.0 - _worth(standing))
    return score * _EXPIRED_WORTH if is_expired(entry.topic, now) else score


def _reasons(alike: Scored | None, standing: tuple[str, ...], query: str, topic: Topic) -> Reasons:
    if alike is None:
        return Reasons(situation=standing)
    document = document_of(topic)
    texts = {
        "title": document.name,
        "summary": document.description,
        "body": document.body,
        "anchors": " ".join(document.anchors),
        "situation": document.when,
        "about": " ".join(document.about),
    }
    corrected = {word: others for word, others in alike.why.corrected.items() if word in terms(query)}
    words = {
        _FIELD_WORDS.get(place, place): named
        for place, found in alike.why.words.items()
        if (named := _spelled(texts.get(place, ""), found, query, corrected))
    }
    return Reasons(words, corrected, alike.why.similarity, standing, dict(alike.why.parts))


def _spelled(text: str, found: Iterable[str], query: str, corrected: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """The words of a text that stand for these terms, as they are written there; without spaces, whole stretches."""
    wanted = {other for term in found for other in (term, *synonyms(term), *corrected.get(term, ()))}
    text = text[:_REASON_CHARS]
    asked = {word.lower(): word for word in re.findall(_SPACED_WORD, query)}
    written = dict.fromkeys(word.lower() for word in re.findall(_SPACED_WORD, text))
    spaced = [asked.get(word, word) for word in written if not wanted.isdisjoint(terms(word))]
    pairs = [number for number in range(len(query) - 1) if query[number : number + 2] in wanted]
    stretches: list[list[int]] = []
    for number in pairs:
        if stretches and number <= stretches[-1][1] and query[stretches[-1][0] : number + 2] in text:
            stretches[-1][1] = number + 1
        else:
            stretches.append([number, number + 1])
    unspaced = [query[first : last + 1] for first, last in stretches if _is_unspaced(query[first])]
    return tuple(dict.fromkeys([*(word for word in spaced if not any(map(_is_unspaced, word))), *unspaced]))


def _is_known_usage(topic: Topic, tools: Iterable[str]) -> bool:
    """Whether a memory only explains a tool in use, whose working use is in the conversation already."""
    title = f"{topic.name} {topic.description}"
    if topic.type not in {"reference", None}:
        return False
    if not any(re.search(rf"(?<!\w){re.escape(tool)}(?!\w)", title, re.IGNORECASE) for tool in tools):
        return False
    warns = re.search(_CAUTION, f"{title} {topic.body}", re.IGNORECASE) is not None
    return not warns and re.search(_USAGE, title, re.IGNORECASE) is not None


def _hits(
    candidates: Sequence[RecallCandidate], asked: Asked, limits: RenderLimits, now: datetime, check: CheckAnchors
) -> list[Hit]:
    wanted = frozenset(terms(asked.query))
    hits = []
    for candidate in candidates:
        topic, file_time = candidate.found.topic, candidate.found.file_time
        checks = check(candidate.searched.scope, topic)
        text = excerpt(candidate.found.head, topic.body, wanted, limits, path=candidate.path)
        hits.append(
            Hit(
                topic=topic,
                score=round(candidate.score, 4),
                why=str(candidate.reasons) or "near in meaning",
                text=text,
                header=header(
                    replace(topic, path=candidate.path), now, file_time=file_time, checks=checks, limits=limits.age
                ),
                age_days=age_days(topic, now, file_time),
                anchors=checks,
                reasons=candidate.reasons,
                path=candidate.path,
                scope=candidate.searched.scope,
            )
        )
    return hits


def chosen(
    candidates: Sequence[RecallCandidate],
    names: Sequence[str],
    asked: Asked,
    *,
    now: datetime,
    limits: RenderLimits | None = None,
    check: CheckAnchors = lambda _scope, _topic: (),
) -> tuple[Hit, ...]:
    """The candidates of these names as hits, in the order of the names."""
    limits = limits or RenderLimits()
    by_name = named(candidates)
    picked = [by_name[name] for name in names]
    return within(_hits(picked, asked, limits, now, check), limits.turn_bytes)


def named(candidates: Iterable[RecallCandidate]) -> dict[str, RecallCandidate]:
    """The names that a manifest gives to candidates: paths inside their directory, with the scope where they repeat."""
    found: dict[str, RecallCandidate] = {}
    for candidate in candidates:
        path = candidate.found.topic.path
        found[path if path not in found else f"{candidate.searched.scope}:{path}"] = candidate
    return found


def selection(
    candidates: Sequence[RecallCandidate],
    asked: Asked,
    *,
    embedded: Sequence[str],
    max_tokens: int = 256,
) -> Flow[tuple[str, ...]]:
    """Ask a model which of the candidates to show; `embedded` names what stands without one.

    Raises:
        ValueError: the answer is not what was asked for; the embedded choice then stands.
    """
    from reverie.models.ports import Ask

    by_name = named(candidates)
    reply = yield Ask(
        purpose="recall",
        prompt=_prompt(by_name, asked),
        embedded=lambda: json.dumps({_SELECTED: list(embedded)}),
        max_tokens=max_tokens,
        output_schema=SCHEMA,
    )
    try:
        answer = json.loads(_json_in(reply.text))
    except RecursionError:
        raise ValueError("the selector's answer is nested too deeply") from None
    names = answer.get(_SELECTED) if isinstance(answer, dict) else None
    if not isinstance(names, list):
        raise ValueError(f"the selector named no {_SELECTED}")
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name in by_name))[: asked.limit]


def _json_in(text: str) -> str:
    """The object in an answer that wraps it in words or a fence."""
    return text[text.find("{") : text.rfind("}") + 1]


def _prompt(candidates: Mapping[str, RecallCandidate], asked: Asked) -> str:
    text = (Path(__file__).parents[1] / "prompts" / "select.md").read_text(encoding="utf-8")
    text = re.sub(r"\A<!--.*?-->\n", "", text, flags=re.DOTALL)
    tools = (
        f"- In use right now: {', '.join(asked.tools)}. Notes that only explain how to use these are not needed; notes "
        "that warn of their traps and known problems are needed most now.\n"
        if asked.tools
        else ""
    )
    values = {
        "limit": str(asked.limit),
        "tools_rule": tools,
        "query": asked.query,
        "manifest": "\n".join(manifest_line(name, each) for name, each in candidates.items()),
    }
    return re.sub(r"\{(limit|tools_rule|query|manifest)\}", lambda match: values[match[1]], text)


def manifest_line(name: str, candidate: RecallCandidate) -> str:
    """One line on a memory: type, file, time, description; what is missing is left out."""
    topic = candidate.found.topic
    kind = f"[{topic.type}] " if topic.type else ""
    about = f": {topic.description}" if topic.description else ""
    return f"- {kind}{name} ({candidate.found.file_time.isoformat(timespec='seconds')}){about}"
