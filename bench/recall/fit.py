"""`python -m bench.recall.fit`: fit the tables of `rank.py` and print them, with figures on stores left out.

Two logistic models, by words and with vectors, over the features of every candidate of every request: the stores of
memories and requests, each with and without `asks`; then what differs for texts kept as they were said is fitted to
conversations saved as topics, which changes nothing for other memories. Thresholds are the least with which unrelated
requests get a whole memory, and bytes, no more often than wanted. The figures are those of a model and of thresholds
that never saw the store (leave one store out); the printed tables come from all.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.recall.data import CHAT_SETS, read_chat_cases
from bench.recall.embedding import RememberingEmbedder
from bench.recall.work import BUDGET_BYTES, KINDS, MOST_HITS, NOW, WorkStore, draft, read_stores
from reverie.memory.search.document import Query
from reverie.memory.search.engine import SearchIndex, embed_documents
from reverie.memory.search.features import BY_MEANING_VERBATIM, BY_WORDS_VERBATIM
from reverie.memory.search.render import DESCRIBED_FROM, Hit, attachment, describe_in_a_line
from reverie.memory.search.semantic import can_read
from reverie.memory.search.topic_index import document_of
from reverie.memory.search.weights import find_weights
from reverie.memory.topics.age import header
from reverie.memory.topics.filenames import file_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie import Topic

    Array = NDArray[np.float64]

_BY_WORDS = (
    "words_lead", "best_coverage", "title", "length", "file_words", "file_situation", "in_always",
    "in_task", "in_word", "situation_share", "ask_share", "ask_lead", "ask_likeness", "has_asks", "feedback",
    "user", "request_terms", "request_short", "request_known", "request_asks", "request_orders",
)  # fmt: skip
_BY_MEANING = ("text_meaning_lead", "ask_meaning_lead", "best_meaning_lead")
_LEFT_TO_MEANING = frozenset({"ask_likeness", "length"})
"""What vectors say better than words."""
_VERBATIM = ("verbatim", *(f"verbatim_{name}" for name in BY_WORDS_VERBATIM))
_VERBATIM_BY_MEANING = tuple(f"verbatim_{name}" for name in BY_MEANING_VERBATIM)
_HELPS_WORTH = 0.3
"""What a memory counts that only helps, beside one that must be shown."""
_EVERY_CHAT = 4
"""One question in so many of those that each have a store of their own: embedding all takes an hour."""
_SOFTNESS = 3.0
"""How strongly weights are held near zero."""
_UNRELATED_WHOLE, _UNRELATED_BYTES = 0.12, 360.0
"""What the thresholds aim at."""
_DIRECTORY = "/tmp/tmp12345678/memory"
_HEADING_BYTES, _LEAST_WHOLE_BYTES = 70.0, 1_000.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its candidates' features, which of them are relevant, and what each would cost to show."""

    kind: str
    features: Array
    grades: Array
    pieces: tuple[tuple[int, ...], ...]
    """What must be shown: places of candidates of which one is enough, none where there is no candidate for it."""
    name_bytes: Array
    line_bytes: Array
    whole_bytes: Array
    is_by_meaning: bool


Sample = Mapping[str, Mapping[str, list[Asked]]]
"""Store → with or without asks → its requests."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.fit", description=__doc__)
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-vectors.sqlite")
    parser.add_argument("--keep", type=Path, help="keep what was measured in this file, and use it if it is there")
    parser.add_argument("--drop", default="", help="features to leave out, with commas between them")
    options = parser.parse_args(arguments)
    folder = find_weights(options.models)
    if folder is None:
        print(f"no model in {options.models}; run `reverie models install` first", file=sys.stderr)
        return 2
    if options.keep and options.keep.is_file():
        samples = pickle.loads(options.keep.read_bytes())
    else:
        embedder = RememberingEmbedder(folder, options.cache)
        samples = {label: _measure_all(used) for label, used in (("words", None), ("vectors", embedder))}
        if options.keep:
            options.keep.write_bytes(pickle.dumps(samples))
    dropped = frozenset(options.drop.split(","))
    by_words = _print_figures("words", samples["words"], None, dropped)
    _print_figures("vectors", samples["vectors"], (samples["words"], by_words), dropped | _LEFT_TO_MEANING)
    return 0


def _measure_all(embedder: RememberingEmbedder | None) -> dict[str, dict[str, list[Asked]]]:
    sample: dict[str, dict[str, list[Asked]]] = {}
    for store in read_stores():
        print(store.name, file=sys.stderr, flush=True)
        sample[store.name] = {
            label: _measure_store(store, embedder, with_asks=with_asks)
            for label, with_asks in (("plain", False), ("asks", True))
        }
    for name in CHAT_SETS:
        print(name, file=sys.stderr, flush=True)
        sample[f"chat {name}"] = {"plain": _measure_chat(name, embedder)}
    return sample


def _measure_store(store: WorkStore, embedder: RememberingEmbedder | None, *, with_asks: bool) -> list[Asked]:
    topics = {each["id"]: replace(draft(each, with_asks=with_asks), path=f"{each['id']}.md") for each in store.memories}
    queries = [
        (
            each.kind,
            Query(each.text, NOW, files=each.files, tools=each.tools),
            tuple((name,) for name in each.musts),
            each.relevant,
        )
        for each in store.requests
    ]
    return _ask(topics, queries, embedder)


def _measure_chat(name: str, embedder: RememberingEmbedder | None) -> list[Asked]:
    asked: list[Asked] = []
    for case in read_chat_cases(name)[:: _EVERY_CHAT if name == "longmemeval" else 1]:
        queries = [
            (f"chat {name}", Query(each.text, NOW), each.pieces, {key: 2 for piece in each.pieces for key in piece})
            for each in case.questions
        ]
        asked += _ask(case.topics, queries, embedder)
    return asked


def _ask(
    topics: Mapping[str, Topic],
    queries: Iterable[tuple[str, Query, tuple[tuple[str, ...], ...], Mapping[str, int]]],
    embedder: RememberingEmbedder | None,
) -> list[Asked]:
    names = list_features(has_vectors=embedder is not None)
    costs = {each.path: _costs(each) for each in topics.values()}
    keys = {name: topic.path for name, topic in topics.items()}
    asked = []
    with tempfile.TemporaryDirectory() as folder, SearchIndex(Path(folder) / "index.sqlite", embedder) as index:
        documents = [document_of(topic) for topic in topics.values()]
        index.update(documents)
        if embedder is not None:
            index.write_vectors(embed_documents(documents, embedder))
        for kind, query, pieces, relevant in queries:
            grades = {keys[name]: grade for name, grade in relevant.items() if name in keys}
            candidates = index.measure_candidates(query)[1]
            places = {each.key: place for place, each in enumerate(candidates)}
            asked.append(
                Asked(
                    kind,
                    np.array([[each.values.get(name, 0.0) for name in names] for each in candidates]).reshape(
                        -1, len(names)
                    ),
                    np.array([grades.get(each.key, 0) for each in candidates], dtype=np.float64),
                    tuple(tuple(places[keys[name]] for name in piece if keys.get(name) in places) for piece in pieces),
                    np.array([costs[each.key][0] for each in candidates], dtype=np.float64),
                    np.array([costs[each.key][1] for each in candidates], dtype=np.float64),
                    np.array([costs[each.key][2] for each in candidates], dtype=np.float64),
                    embedder is not None and can_read(query.text),
                )
            )
    return asked


def list_features(*, has_vectors: bool) -> tuple[str, ...]:
    """The features of a model, those of verbatim texts last."""
    if has_vectors:
        return (*_BY_WORDS, *_BY_MEANING, *_VERBATIM, *_VERBATIM_BY_MEANING)
    return (*_BY_WORDS, *_VERBATIM)


def _costs(topic: Topic) -> tuple[int, int, int]:
    """What a topic takes in a conversation: named by its file, with its description, and whole."""
    topic = replace(topic, path=file_name(topic.type, topic.name))
    head = f'---\nname: "{topic.name}"\ndescription: "{topic.description}"\ntype: {topic.type}\n---\n'
    path = f"{_DIRECTORY}/{topic.path}"
    hit = Hit(topic, 0.0, "", head + topic.body, header=header(replace(topic, path=path), NOW), path=path)
    whole = len(attachment([hit]).encode()) + 2
    name, line = (len(describe_in_a_line(replace(hit, score=score)).encode()) + 1 for score in (0.0, 1.0))
    return name, line, min(BUDGET_BYTES, whole)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A logistic model."""

    bias: float
    weights: Array

    def __call__(self, features: Array) -> Array:
        return 1 / (1 + np.exp(-np.clip(features @ self.weights + self.bias, -60, 60)))


def fit_logistic(asked: Iterable[Asked], used: NDArray[np.int64], base: Fitted | None = None) -> Fitted:
    """Fit these features by Newton's method, brought to one scale; with `base` only what they add to it."""
    chosen = [each for each in asked if len(each.grades)]
    every = np.vstack([each.features for each in chosen])
    grades = np.concatenate([each.grades for each in chosen])
    y, w = (grades > 0).astype(np.float64), np.where(grades == 1, _HELPS_WORTH, 1.0)
    offset = every @ base.weights + base.bias if base else np.zeros(len(y))
    x = every[:, used]
    mean, spread = x.mean(axis=0), x.std(axis=0)
    is_fixed = spread == 0
    mean[is_fixed], spread[is_fixed] = 0.0, 1.0
    x = np.hstack([(x - mean) / spread, np.ones((len(x), 0 if base else 1))])
    held = np.full(x.shape[1], _SOFTNESS)
    if base is None:
        held[-1] = 0.0
    beta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta + offset, -60, 60)))
        gradient = x.T @ (w * (p - y)) + held * beta
        curvature = (x * (w * p * (1 - p))[:, None]).T @ x + np.diag(held + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-6:
            break
    weights = np.zeros(every.shape[1])
    weights[used] = beta[: len(used)] / spread
    shift = float(weights[used] @ mean)
    if base is None:
        return Fitted(float(beta[-1] - shift), weights)
    # What is left of the scaling goes to `verbatim` itself, which is 1 for all of these.
    weights[used[0]] -= shift
    return Fitted(base.bias, base.weights + weights)


_STEPS = 30


def fit_both(sample: Sample, names: Sequence[str], left: str, dropped: frozenset[str]) -> Fitted:
    """Fit to all stores but one, then what differs for verbatim texts to all conversations but one."""
    first = names.index("verbatim")
    columns = np.array([number for number, name in enumerate(names[:first]) if name not in dropped])
    stores = [each for name in sample if _is_store(name) and name != left for each in _all(sample[name])]
    chats = [each for name in sample if not _is_store(name) and name != left for each in _all(sample[name])]
    return fit_logistic(chats, np.arange(first, len(names)), fit_logistic(stores, columns))


def _is_store(name: str) -> bool:
    return not name.startswith("chat")


def _all(by_asks: Mapping[str, list[Asked]]) -> list[Asked]:
    return [each for requests in by_asks.values() for each in requests]


@dataclass(slots=True)
class Shown:
    """What thresholds show of some requests."""

    must: dict[str, list[float]]
    whole: list[float]
    unrelated_whole: list[float]
    unrelated_bytes: list[float]


def show(asked: Iterable[tuple[Asked, Array]], line: float, whole: float) -> Shown:
    """Count what is shown: at most five memories within the budget, whole from one threshold on, lines from another."""
    shown = Shown({}, [], [], [])
    for each, likely in asked:
        order = np.argsort(-likely, kind="stable")[:MOST_HITS]
        chosen = order[likely[order] >= line].tolist()
        line_bytes = np.where(likely >= DESCRIBED_FROM, each.line_bytes, each.name_bytes)
        room, named, wholes = BUDGET_BYTES - (_HEADING_BYTES if chosen else 0.0), set(), set()
        for number, place in enumerate(chosen):
            spare = room - float(line_bytes[chosen[number + 1 :]].sum())
            if likely[place] >= whole and spare >= min(_LEAST_WHOLE_BYTES, each.whole_bytes[place]):
                room -= min(spare, each.whole_bytes[place])
                wholes.add(place)
            elif line_bytes[place] <= room:
                room -= line_bytes[place]
            else:
                break
            named.add(place)
        if len(named) == len(wholes):
            room += _HEADING_BYTES if chosen else 0.0
        if each.kind == "none":
            shown.unrelated_whole.append(float(bool(wholes)))
            shown.unrelated_bytes.append(BUDGET_BYTES - room)
            continue
        shown.must.setdefault(each.kind, []).extend(float(not named.isdisjoint(piece)) for piece in each.pieces)
        shown.whole += [float(not wholes.isdisjoint(piece)) for piece in each.pieces]
    return shown


def choose_thresholds(asked: Sequence[tuple[Asked, Array]]) -> tuple[float, float]:
    """From which probability on a line, from which on the whole."""
    best = [float(likely.max(initial=0.0)) for each, likely in asked if each.kind == "none"]
    whole = float(np.quantile(best, 1 - _UNRELATED_WHOLE))
    low, high = 1e-4, whole
    for _ in range(14):
        middle = (low * high) ** 0.5
        is_too_much = np.mean(show(asked, middle, whole).unrelated_bytes) > _UNRELATED_BYTES
        low, high = (middle, high) if is_too_much else (low, middle)
    return high, whole


def _print_figures(
    label: str, sample: Sample, beside: tuple[Sample, dict[str, Fitted]] | None, dropped: frozenset[str]
) -> dict[str, Fitted]:
    """Print the figures of left-out stores and the tables from all; return the model that left each store out."""
    names = list_features(has_vectors=beside is not None)
    stores = [name for name in sample if _is_store(name)]
    fitted = {left: fit_both(sample, names, left, dropped) for left in sample}
    everything = fit_both(sample, names, "", dropped)

    def rate(name: str, asks: str) -> list[tuple[Asked, Array]]:
        """Requests in another script are ranked by words, with vectors too."""
        rated = []
        for number, each in enumerate(sample[name][asks]):
            if beside is not None and not each.is_by_meaning:
                other = beside[0][name][asks][number]
                rated.append((other, beside[1][name](other.features)))
            else:
                rated.append((each, fitted[name](each.features)))
        return rated

    print(f"\n{label}: stores left out one at a time")
    thresholds: dict[str, tuple[float, float]] = {}
    for asks in ("plain", "asks"):
        rated = {name: rate(name, asks) for name in stores}
        shown = {}
        for name in stores:
            others = [each for other in stores if other != name for each in rated[other]]
            shown[name] = show(rated[name], *choose_thresholds(others))
        line, whole = choose_thresholds([each for name in stores for each in rated[name]])
        thresholds[asks] = line, whole
        for group, members in (
            ("shared", [name for name in stores if name.startswith("store")]),
            ("own", [name for name in stores if not name.startswith("store")]),
        ):
            if members:
                _print_row(f"{asks}, {group}", [shown[name] for name in members])
        print(f"  thresholds from all: line {line:.4f}, whole {whole:.3f}")
        for loose in (0.5, 2.0, 4.0) if asks == "asks" else ():
            rows = [show(rated[name], line * loose, min(0.99, whole * loose**0.5)) for name in stores]
            _print_row(f"{asks}, all, line {line * loose:.4f}", rows)
    line, whole = thresholds["plain"]
    for name in sample:
        if not _is_store(name):
            found = show(rate(name, "plain"), line, whole).must[name]
            free = show(rate(name, "plain"), 0.0, 2.0).must[name]
            print(f"  {name}: shown {np.mean(found):.3f}, without abstention {np.mean(free):.3f}")
    table = {"bias": everything.bias} | dict(zip(names, everything.weights.tolist(), strict=True))
    print(label, {name: round(weight, 3) for name, weight in table.items() if weight})
    return fitted


def _print_row(label: str, rows: Sequence[Shown]) -> None:
    kinds = {kind: [value for row in rows for value in row.must.get(kind, ())] for kind in KINDS}
    cells = {"shown": [value for values in kinds.values() for value in values], **kinds}
    cells["whole"] = [value for row in rows for value in row.whole]
    cells["unrelated whole"] = [value for row in rows for value in row.unrelated_whole]
    cells["unrelated bytes"] = [value for row in rows for value in row.unrelated_bytes]
    print(f"  {label:24}", *(f"{name} {np.mean(values):.3f}" for name, values in cells.items()), sep="  ", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
