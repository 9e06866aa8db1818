"""Selects the memories that are relevant now, by similarity and by situation. Never asks a model.

A `Query` goes in. Each index answers with candidates (`engine.py`), which become hits here. What a hit shows is
`render.py`; which directories are searched is `directories.py`; a model's choice among the hits is
`model_selection.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from reverie.memory.search.analyze import synonyms, terms
from reverie.memory.search.document import Query, Reasons, situation_text
from reverie.memory.search.rank import is_worth_whole
from reverie.memory.search.render import Hit, RenderLimits, fit_into_turn
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.search.topic_table import when_from_row
from reverie.memory.store.worktree import TEAM
from reverie.memory.topics.age import age_days, header, is_expired
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.search.features import Candidate
    from reverie.memory.topics.anchors import AnchorCheck
    from reverie.memory.topics.value import Topic

_EXPIRED_WORTH = 0.5
_OWN_FIELDS = frozenset({"name", "description", "text", "anchors", "about"})
"""Where words of the request must stand for a memory of somebody else to be shown whole."""
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
    "asks": "asks",
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
    query: Query,
    *,
    limits: RenderLimits | None = None,
    check: CheckAnchors = lambda _scope, _topic: (),
) -> Recalled:
    """The memories that matter now, best first; none when none is likely to."""
    hits = rank_memories(searched, query)
    hits = [replace(hit, shown="whole" if _is_whole(hit, query) else "line") for hit in hits]
    hits = [hit for hit in hits if hit.shown == "whole" or hit.path not in query.named]
    rendered = render_hits(hits, query, limits or RenderLimits(), check)
    return Recalled(hits=rendered, searched=sum(len(each.folder) for each in searched))


def _is_whole(hit: Hit, query: Query) -> bool:
    is_others_word = hit.topic.trust == "seen" or hit.topic.path.startswith(TEAM)
    if is_others_word and not _OWN_FIELDS.intersection(hit.reasons.words):
        return False  # what others wrote about when it matters is no proof that it does
    has_vectors = hit.reasons.similarity is not None
    return is_worth_whole(hit.score, query.caution, has_vectors=has_vectors, has_asks=bool(hit.topic.asks))


def rank_memories(searched: Sequence[SearchedDirectory], query: Query) -> list[Hit]:
    """The hits in order, not yet cut; no text stands twice."""
    hits = [hit for each in searched for hit in _search(each, query)]
    order = {each.scope: number for number, each in enumerate(searched)}
    hits.sort(key=lambda hit: (-hit.score, order[hit.scope], hit.topic.path))
    hits_kept: list[Hit] = []
    seen: set[tuple[str, str]] = set()
    for hit in hits:
        text = (hit.topic.description, hit.topic.body)
        if text not in seen and not _is_known_usage(hit.topic, query.tools):
            seen.add(text)
            hits_kept.append(hit)
    return hits_kept[: query.limit]


def _search(searched: SearchedDirectory, query: Query) -> list[Hit]:
    """The hits of one directory."""
    folder = searched.folder
    root = f"{folder.folder.directory}/"
    exclude = frozenset(path.removeprefix(root) for path in query.exclude if path.startswith(root))
    # The rules on tools and on doubles take hits away, so a few more are asked for.
    found = {hit.key: hit for hit in folder.search(replace(query, limit=query.limit + 5, exclude=exclude))}
    return [
        Hit(
            topic=entry.topic,
            score=found[path].score * (_EXPIRED_WORTH if is_expired(entry.topic, query.now) else 1.0),
            why="",
            text=f"{_shown_head(entry.head)}{entry.topic.body}",
            reasons=explain(found[path], query.text, entry.topic),
            path=searched.path(path),
            scope=searched.scope,
            file_time=entry.file_time,
        )
        for path, entry in folder.read(list(found)).items()
    ]


def _shown_head(head: str) -> str:
    """Front matter as it is shown: what serves the search, and what the header says anyway, is left out."""
    kept = re.findall(r"(?m)^(?:name|description|type|trust|about|expires):.*\n(?:(?:[ \t]|-[ \t]).*\n)*", head)
    return "".join(("---\n", *kept, "---\n")) if kept else ""


def render_hits(hits: Iterable[Hit], query: Query, limits: RenderLimits, check: CheckAnchors) -> tuple[Hit, ...]:
    """The hits as they are shown: with header, age and the state of their anchors, as much of them as fits."""
    described = [_describe_hit(hit, query.now, limits, check) for hit in hits]
    return fit_into_turn(described, frozenset(terms(query.text)), limits)


def _describe_hit(hit: Hit, now: datetime, limits: RenderLimits, check: CheckAnchors) -> Hit:
    topic = hit.topic
    checks = check(hit.scope, topic)
    return replace(
        hit,
        score=round(hit.score, 4),
        why=str(hit.reasons) or "near in meaning",
        header=header(replace(topic, path=hit.path), now, file_time=hit.file_time, checks=checks, limits=limits.age),
        age_days=age_days(topic, now, hit.file_time),
        anchors=checks,
    )


def explain(hit: Candidate, query: str, topic: Topic) -> Reasons:
    """The reasons with the words as they are written in the memory, instead of the terms of the index."""
    words = {
        _FIELD_WORDS.get(place, place): named
        for place, found in hit.why.words.items()
        if (named := _find_spellings(_read_field(place, hit, topic), found, query, hit.why.corrected))
    }
    return replace(hit.why, words=words)


def _read_field(place: str, hit: Candidate, topic: Topic) -> str:
    """The text of a memory that one field of the index holds."""
    if place == "anchors":
        from reverie.memory.topics.anchors import describe_anchor

        return " ".join(map(describe_anchor, topic.anchors))
    if place == "situation" and hit.row.situation is not None:
        return situation_text(when_from_row(json.loads(hit.row.situation)))
    texts = {"title": topic.name, "summary": topic.description, "body": topic.body}
    return texts[place] if place in texts else "\n".join(topic.asks if place == "asks" else topic.about)


def _find_spellings(
    text: str, found_terms: Iterable[str], query: str, corrected: Mapping[str, Iterable[str]]
) -> tuple[str, ...]:
    """The words of a text that stand for these terms, as they are written there; without spaces, whole stretches."""
    wanted = {other for term in found_terms for other in (term, *synonyms(term), *corrected.get(term, ()))}
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
