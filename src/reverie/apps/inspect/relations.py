"""Relations: which memories replace, contradict or repeat each other, what each is anchored to, what nobody recalled.

What a clean-up would do is asked of the rules of a dream. With thousands of memories that takes seconds, so the page is
there first, and the answer is kept until a memory changes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reverie.apps.inspect.catalogue import read_catalogue, read_states, read_topics, url_of
from reverie.apps.inspect.page import Inspected, inspected, render
from reverie.memory.dream.proposal import Contradiction, DreamStep, StepKind
from reverie.memory.store.change import Commit
from reverie.memory.store.past import original_path
from reverie.memory.store.usage_log import read_counts
from reverie.memory.topics.anchors import FileAnchor, SymbolAnchor, describe_anchor
from reverie.memory.topics.topic import Topic
from reverie.values import value

_SHOWN = 100
_COMMITS = 1_000
"""How far back the history is looked at for what replaced what."""
_DRAWN_MEMORIES, _DRAWN_FILES = 36, 24
_ROW = 26
"""Height of a line of the picture."""
_LABEL_CHARS = 50
_LEFT = 130
"""Room for the lines between memories."""


def show_relations(request: Request) -> Response:
    """What is anchored to which file, and what was never recalled; the rest follows by itself."""
    shown = inspected(request)
    with shown.reading() as memory:
        topics = read_topics(shown, memory)
        uses = read_counts(memory.scope.folder)
        states = read_states(shown, memory)
        anchored: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for topic in topics:
            for anchor, state in states.of(topic):
                place = describe_anchor(anchor)
                anchored[place].append((topic.name, url_of(memory.scope.name, topic.path), state.value))
        scope = memory.scope.name
    unused = [(topic.name, url_of(scope, topic.path), topic.observed) for topic in topics if not uses.get(topic.path)]
    unused.sort(key=lambda each: str(each[2] or ""))
    by_trouble = sorted(
        anchored.items(), key=lambda item: (-sum(state != "fresh" for _, _, state in item[1]), item[0].casefold())
    )
    return render(
        request,
        "relations",
        anchored=by_trouble[:_SHOWN],
        anchored_count=len(anchored),
        unused=unused[:_SHOWN],
        unused_count=len(unused),
        every=len(topics),
    )


def show_clean_up(request: Request) -> Response:
    """The picture, contradictions, what replaced what, and what a dream would do."""
    shown = inspected(request)
    links = _read_links(shown)
    with shown.reading() as memory:
        topics = {topic.path: topic for topic in read_topics(shown, memory)}
        states = read_states(shown, memory)
        files: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for topic in topics.values():
            for anchor, state in states.of(topic):
                if isinstance(anchor, FileAnchor | SymbolAnchor) and anchor.path:
                    files[anchor.path].append((topic.path, state.value))
        scope = memory.scope.name
    names = {**links.archived, **{path: topic.name for path, topic in topics.items()}}

    def name_link(path: str) -> tuple[str, str]:
        return names.get(path, path), url_of(scope, path) if path in topics else ""

    return render(
        request,
        "clean_up",
        picture=_draw(links, topics, names, files, scope),
        contradictions=[
            ([(*name_link(path), says) for path, says in zip(each.paths, each.says, strict=True)], each.reason)
            for each in links.contradictions[:_SHOWN]
        ],
        replaced=[(name_link(each.old), name_link(each.new), each) for each in links.replaced[:_SHOWN]],
        steps=[
            (step.kind.value, step.reason, [name_link(path) for path in step.before if path in topics])
            for step in links.steps[:_SHOWN]
        ],
        steps_count=len(links.steps),
    )


@value
class _Links:
    """What connects memories."""

    contradictions: Sequence[Contradiction]
    steps: Sequence[DreamStep]
    replaced: Sequence[Replaced]
    archived: Mapping[str, str]
    """Path → name of every memory in the archive."""


@value
class Replaced:
    """A memory that was archived because another took its place."""

    old: str
    new: str
    when: datetime
    reason: str


def _read_links(shown: Inspected) -> _Links:
    with shown.reading() as memory:
        key = read_catalogue(shown, memory).key

    def read() -> _Links:
        with shown.reading_apart() as memory:
            preview = memory.dreams.preview()
            replaced = list(_list_replaced(memory.log(limit=_COMMITS)))
            archived = {topic.path: topic.name for topic in memory.archived()}
        return _Links(preview.contradictions, preview.steps, replaced, archived)

    return shown.remember("links", key, read)


def _list_replaced(commits: Iterable[Commit]) -> Iterable[Replaced]:
    """Which memory took the place of which: the archived one and the one that the reason names with it.

    Where the reason names no other, it is the only one that was written by the same change.
    """
    for commit in commits:
        if commit.change.undoes:
            continue
        archived = {original_path(path) for path in commit.paths if original_path(path) != path}
        written = [path for path in commit.paths if original_path(path) == path and path not in archived]
        for path in sorted(archived):
            clause = next((each for each in commit.change.reason.split("; ") if path in each), "")
            named = [other for other in re.findall(r"[\w./-]+\.md", clause) if other != path]
            if named or (len(archived) == len(written) == 1):
                yield Replaced(path, (named or written)[0], commit.when, clause or commit.change.reason)


def _draw(
    links: _Links,
    topics: Mapping[str, Topic],
    names: Mapping[str, str],
    files: Mapping[str, list[tuple[str, str]]],
    scope: str,
) -> dict[str, Any] | None:
    """Places of memories, files and lines for the picture; None when nothing is connected."""
    arcs = [(*each.paths, "contradicts") for each in links.contradictions]
    arcs += [(each.old, each.new, "supersedes") for each in links.replaced if each.new in topics]
    for step in links.steps:
        if step.kind is StepKind.merge:
            paths = list(step.before)
            arcs += [(paths[0], other, "repeats") for other in paths[1:]]
    weights: Counter[str] = Counter()
    for one, other, _ in arcs:
        weights.update({one: 100, other: 100})
    for places in files.values():
        for path, state in places:
            weights[path] += 20 if state != "fresh" else min(len(places), 5)
    drawn = [path for path, _ in weights.most_common(_DRAWN_MEMORIES)]
    if not drawn:
        return None
    near = {path for arc in arcs for path in arc[:2]}
    order = {path: number for number, path in enumerate(sorted(drawn, key=lambda path: (path not in near, path)))}
    arcs = [arc for arc in arcs if arc[0] in order and arc[1] in order]
    ranked = sorted(files, key=lambda file: -sum(path in order for path, _ in files[file]))[:_DRAWN_FILES]
    ranked = [file for file in ranked if any(path in order for path, _ in files[file])]
    ranked.sort(key=lambda file: _middle([order[path] for path, _ in files[file] if path in order]))
    rows = max(len(order), len(ranked))
    memory_y = {path: round((number + 0.5) * _ROW * rows / len(order)) for path, number in order.items()}
    file_y = {file: round((number + 0.5) * _ROW * rows / len(ranked)) for number, file in enumerate(ranked)}
    return {
        "height": rows * _ROW,
        "left": _LEFT if arcs else 20,
        "memories": [
            {
                "y": y,
                "name": _shorten(names.get(path, path)),
                "url": url_of(scope, path) if path in topics else "",
                "kind": (topics[path].type or "none") if path in topics else "gone",
            }
            for path, y in memory_y.items()
        ],
        "files": [{"y": y, "name": _shorten(file, from_end=True)} for file, y in file_y.items()],
        "anchors": [
            {"from": memory_y[path], "to": file_y[file], "state": state, "name": _shorten(names.get(path, path))}
            for file in ranked
            for path, state in sorted(set(files[file]))
            if path in memory_y
        ],
        "arcs": [
            {
                "from": memory_y[one],
                "to": memory_y[other],
                "kind": kind,
                "bend": min(30 + abs(memory_y[one] - memory_y[other]) // 3, _LEFT),
                "title": f"{names.get(other, other)} {kind} {names.get(one, one)}",
            }
            for one, other, kind in arcs
        ],
        "left_out": len(weights) - len(drawn),
    }


def _middle(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers)


def _shorten(text: str, *, from_end: bool = False) -> str:
    if len(text) <= _LABEL_CHARS:
        return text
    return f"…{text[-_LABEL_CHARS:]}" if from_end else f"{text[:_LABEL_CHARS].rstrip()}…"


ROUTES = (Route("/relations", show_relations), Route("/relations/clean-up", show_clean_up))
