"""A new memory compared with the stored ones: a free name, and which of them say the same or nearly the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

from reverie.errors import Unavailable, UserMistake
from reverie.memory.search.analyze import terms
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.topics.draft import draft_topic
from reverie.memory.topics.topic import MemoryType, Topic, Trust

NEARLY_THE_SAME = 0.75
"""The share of common words from which on two memories probably say the same thing."""
_COMPARED_CHARS = 500
NAME_CHARS = 60
DESCRIPTION_CHARS = 200
_COMPARED = 5
"""One of them is the memory itself."""


def draft_from_text(folder: IndexedFolder, text: str) -> Topic:
    """The topic of words that a person wants kept: their own words, named by how they begin, typed by what they say.

    A name that a memory with other words has already is not taken: nobody chose it, so it updates nothing.

    Raises:
        UserMistake: there are no words.
    """
    flat = " ".join(text.split())
    if not flat:
        raise UserMistake("nothing to save: give the memory as a sentence")
    kind = _infer_type(text)
    return draft_topic(_free_name(folder, text), _cut(flat, DESCRIPTION_CHARS), kind, text.strip(), trust=Trust.said)


def _infer_type(text: str) -> MemoryType:
    """The type that the sentence reads like which is most worth a memory; who says who they are is the user."""
    from reverie.memory.extraction.classify import classify_sentences
    from reverie.memory.extraction.cues import infer_type
    from reverie.memory.extraction.typed import find_typed_sentences

    if infer_type(" ".join(text.split())) is MemoryType.user:
        return MemoryType.user
    readings = classify_sentences(find_typed_sentences(text), is_answer=False)
    return max(readings, key=lambda reading: reading.worth).type if readings else MemoryType.project


def name_of(text: str) -> str:
    """The first sentence or its first words."""
    line = " ".join(text.split())
    for stop in (". ", "; ", "。"):
        line = line.partition(stop)[0]
    return _cut(line.rstrip(".。!"), NAME_CHARS)


def _free_name(folder: IndexedFolder, text: str) -> str:
    whole = _cut(" ".join(text.split()), NAME_CHARS)
    names = chain((name_of(text), whole), (f"{whole} ({number})" for number in count(2)))
    return next(name for name in names if _is_free(folder, name, text))


def _is_free(folder: IndexedFolder, name: str, text: str) -> bool:
    try:
        path = folder.find_path_by_name(name)
        return path is None or folder.read([path])[path].topic.body.strip() == text.strip()
    except (Unavailable, KeyError):
        return True


def _cut(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    return (line[:limit].rpartition(" ")[0] or line[:limit]).rstrip() + "…"


def same_text(folder: IndexedFolder, topic: Topic) -> Topic | None:
    """The topic that says exactly this already, under whatever name; a full disk has no index to tell."""
    if not topic.body:
        return None
    try:
        same = folder.with_body(topic.body)
    except Unavailable:
        return None
    return next((each for each in same if each.description == topic.description and each.type == topic.type), None)


def find_same(folder: IndexedFolder, topic: Topic) -> Sequence[Topic]:
    """Other topics that say the same already, in the same words or nearly; a full disk has no index to tell."""
    from reverie.memory.extraction.candidate import MemoryCandidate
    from reverie.memory.extraction.known import KnownTopics, Likeness

    try:
        sharing = folder.sharing(f"{topic.name} {topic.description} {topic.body[:_COMPARED_CHARS]}", _COMPARED)
        topics = [each.topic for each in folder.read([path for path in sharing if path != topic.path]).values()]
    except Unavailable:
        return ()
    kind = topic.type or MemoryType.project
    candidates = [
        MemoryCandidate(kind, topic.name, topic.description, body, "", "") for body in dict.fromkeys((topic.body, ""))
    ]
    known_topics = KnownTopics.of(topics)
    same = [known_topics.find(candidate) for candidate in candidates]
    paths = {each.path for each in same if each.likeness is Likeness.same}
    return [each for each in topics if each.path in paths]


def near_topics(folder: IndexedFolder, topic: Topic) -> Sequence[Topic]:
    """Other topics that say nearly the same; a full disk has no index to tell."""
    mine = set(terms(f"{topic.description}\n{topic.body}"))
    try:
        sharing = folder.sharing(f"{topic.name} {topic.description}", _COMPARED)
        topics = folder.read([path for path in sharing if path != topic.path])
    except Unavailable:
        return ()
    near = []
    for each in topics.values():
        theirs = set(terms(f"{each.topic.description}\n{each.topic.body}"))
        if mine and theirs and len(mine & theirs) / len(mine | theirs) >= NEARLY_THE_SAME:
            near.append(each.topic)
    return near
