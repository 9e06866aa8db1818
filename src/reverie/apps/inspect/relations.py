"""Relations: which memories contradict or repeat each other, what each is anchored to, what was never recalled."""

from __future__ import annotations

from collections import defaultdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reverie.apps.inspect.memories import url_of
from reverie.apps.inspect.page import inspected, render
from reverie.memory.store.usage_log import read_counts
from reverie.memory.topics.anchors import describe_anchor

_SHOWN = 200


def show_relations(request: Request) -> Response:
    """What a clean-up would look at, from the rules of a dream; nothing is changed."""
    with inspected(request).reading() as memory:
        preview = memory.dreams.preview()
        topics = list(memory.topics())
        uses = read_counts(memory.scope.folder)
        anchored: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for topic in topics:
            for check in memory.check_anchors(topic):
                place = describe_anchor(check.anchor)
                anchored[place].append((topic.name, url_of(memory.scope.name, topic.path), check.state.value))
        names = {topic.path: topic.name for topic in topics}
        scope = memory.scope.name
    unused = [(topic.name, url_of(scope, topic.path), topic.observed) for topic in topics if not uses.get(topic.path)]
    return render(
        request,
        "relations",
        contradictions=[
            [
                (names.get(path, path), url_of(scope, path), says)
                for path, says in zip(each.paths, each.says, strict=True)
            ]
            + [each.reason]
            for each in preview.contradictions
        ],
        steps=preview.steps,
        anchored=sorted(anchored.items())[:_SHOWN],
        unused=unused[:_SHOWN],
        unused_count=len(unused),
        every=len(topics),
    )


ROUTES = (Route("/relations", show_relations),)
