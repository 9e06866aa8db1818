"""How often the lister of contradictions is right: on labelled pairs, and on memories learnt from real sessions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.memory.dream.kit import text

from reverie.memory.dream.contradictions import contradictions
from reverie.memory.dream.proposal import Contradiction
from reverie.memory.topics.topic import MemoryType, parse_topic

LABELLED = Path(__file__).with_name("contradictions.tsv")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements and whether they can both hold."""

    is_contradiction: bool
    kind: str
    one: str
    other: str


def read_pairs(path: Path = LABELLED) -> Iterator[Pair]:
    """The labelled pairs: label, type of memory, two statements, with tabs between."""
    for line in path.read_text(encoding="utf-8").splitlines():
        label, kind, one, other = line.split("\t")
        yield Pair(label == "yes", kind, one, other)


def is_listed(pair: Pair) -> bool:
    """Whether a dream would tell the user about a pair."""
    made = [("a.md", pair.one), ("b.md", pair.other)]
    topics = [parse_topic(path, text(path, said, kind=pair.kind)) for path, said in made]
    return bool(contradictions(topics))


def print_labelled() -> None:
    """Precision and recall on the labelled pairs; what was judged wrongly by name."""
    pairs = list(read_pairs())
    listed = {pair for pair in pairs if is_listed(pair)}
    true = {pair for pair in pairs if pair.is_contradiction}
    for pair in pairs:
        if (pair in listed) != pair.is_contradiction:
            what = "missed" if pair.is_contradiction else "wrong"
            print(f"  {what}: {pair.one}  |  {pair.other}")
    right = len(listed & true)
    precision = f"{right / len(listed):.2f}" if listed else "–"
    print(
        f"contradictions: {len(pairs)} labelled pairs, {len(true)} true: precision {precision} "
        f"({right} of {len(listed)} listed), recall {right / len(true):.2f}"
    )


def print_on_data() -> None:
    """Every pair that is listed among what people said in recorded conversations, to be read and judged."""
    from bench.recall.data import folder, read_chat_cases

    if not folder().is_dir():
        print(f"contradictions: no recorded conversations in {folder()}")
        return
    for name in ("observation", "session"):
        said = 0
        found: list[Contradiction] = []
        for case in read_chat_cases(name):
            topics = [replace(topic, name="", type=MemoryType.user) for topic in case.topics.values()]
            said += len(topics)
            found += contradictions(topics)
        for each in found:
            print(f"  {each.reason}: {each.says[0]}  |  {each.says[1]}")
        print(f"contradictions: {len(found)} pairs listed among {said} {name}s")
