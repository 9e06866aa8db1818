"""`python -m bench.recall.work`: recall on developers' memories and requests, through `Memory.save_many` and `recall`.

The product as shipped, abstention on: every store becomes a memory directory of topic files, every request is asked of
it with its files and tools. What is shown counts, at most five memories and `BUDGET_BYTES` a request. Beside it the
first five of FTS5's BM25 over the same texts, which never abstains.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.recall.data import folder as shared_folder
from bench.recall.figures import figure
from bench.recall.systems import fts5
from reverie import Memory, Topic
from reverie.memory.search.render import attachment

OWN_STORES = Path(__file__).with_name("stores")
BUDGET_BYTES = 3_000
MOST_HITS = 5
KINDS = ("words", "paraphrase", "standing")
NOW = datetime(2026, 11, 1)


@dataclass(frozen=True, slots=True)
class Request:
    """What a person typed, and the memories it needs: id → 2 (must be recalled) or 1 (helps)."""

    text: str
    kind: str
    files: tuple[str, ...]
    tools: tuple[str, ...]
    relevant: Mapping[str, int]

    @property
    def musts(self) -> list[str]:
        return [name for name, grade in self.relevant.items() if grade == 2]


@dataclass(frozen=True, slots=True)
class WorkStore:
    """One person's memories and requests."""

    name: str
    memories: tuple[Mapping[str, Any], ...]
    requests: tuple[Request, ...]


@dataclass(slots=True)
class Outcome:
    """What was shown for the requests of some stores."""

    shown: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    whole: list[float] = field(default_factory=list)
    unrelated_whole: list[float] = field(default_factory=list)
    unrelated_bytes: list[float] = field(default_factory=list)

    def add(self, request: Request, shown: Sequence[str], whole: Iterable[str], size_bytes: int) -> None:
        if request.kind == "none":
            self.unrelated_whole.append(float(bool(list(whole))))
            self.unrelated_bytes.append(float(size_bytes))
            return
        whole = set(whole)
        self.shown[request.kind] += [float(name in shown) for name in request.musts]
        self.whole += [float(name in whole) for name in request.musts]

    def row(self) -> dict[str, float]:
        """The figures by name."""
        musts = [value for kind in KINDS for value in self.shown[kind]]
        means = {kind: figure(self.shown[kind]).mean for kind in KINDS}
        unrelated = {
            "unrelated whole": figure(self.unrelated_whole).mean,
            "unrelated bytes": figure(self.unrelated_bytes).mean,
        }
        return {"shown": figure(musts).mean, **means, "whole": figure(self.whole).mean, **unrelated}


def read_stores() -> list[WorkStore]:
    """Our own stores, and those of the shared data where they are."""
    shared = shared_folder() / "work"
    files = [*sorted(OWN_STORES.glob("*.jsonl")), *sorted(shared.glob("store*.jsonl"))]
    return [_read_store(path) for path in files]


def _read_store(path: Path) -> WorkStore:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    beside = path.with_name(path.name.replace("store", "asks"))
    asks = {}
    if beside != path and beside.is_file():
        asks = {line["id"]: line for line in map(json.loads, beside.read_text(encoding="utf-8").splitlines())}
    memories = tuple(line["memory"] | asks.get(line["memory"]["id"], {}) for line in lines if "memory" in line)
    requests = tuple(
        Request(each["text"], each["kind"], tuple(each["files"]), tuple(each["tools"]), each["relevant"])
        for line in lines
        if (each := line.get("request"))
    )
    return WorkStore(path.stem, memories, requests)


def measure_product(store: WorkStore, *, with_asks: bool) -> Outcome:
    """Save the memories as topics and recall for every request."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as directory, Memory(Path(directory) / "memory", now=lambda: NOW) as memory:
        memory.save_many(draft(each, with_asks=with_asks) for each in store.memories)
        ids = {topic.path: _id_of(topic, store.memories) for topic in memory.topics()}
        for request in store.requests:
            hits = memory.recall(request.text, files=request.files, tools=request.tools)[:MOST_HITS]
            size = len(attachment(hits).encode())
            while hits and size > BUDGET_BYTES:
                hits.pop()
                size = len(attachment(hits).encode())
            shown = [ids[hit.topic.path] for hit in hits]
            whole = [ids[hit.topic.path] for hit in hits if hit.shown == "whole"]
            outcome.add(request, shown, whole, size)
    return outcome


def measure_hook(store: WorkStore, *, with_asks: bool) -> Outcome:
    """The same through `reverie hook UserPromptSubmit`, in this process; files and tools stand in a transcript."""
    from reverie import Settings
    from reverie.apps.hook.run import respond
    from reverie.apps.hook.state import HookFolder
    from reverie.hosts.hook_events import read_event
    from reverie.settings.load import Configuration, Secrets, places

    outcome = Outcome()
    with tempfile.TemporaryDirectory() as directory:
        root, project = Path(directory) / "home", Path(directory) / "project"
        project.mkdir()
        settings = Settings(home=str(root), config_home=str(root / "host"))
        configuration = Configuration(settings, {}, (), root, root / "host", project, Secrets({}))
        with Memory.at(places(configuration), settings, project) as memory:
            memory.save_many(draft(each, with_asks=with_asks) for each in store.memories)
            ids = {f"{memory.directory}/{topic.path}": _id_of(topic, store.memories) for topic in memory.topics()}
        for number, request in enumerate(store.requests):
            transcript = _write_calls(project / f"{number}.jsonl", request)
            payload = {"session_id": str(number), "cwd": str(project), "prompt": request.text}
            event = read_event("UserPromptSubmit", payload | {"transcript_path": str(transcript)}, {}, "claude-code")
            size = len(respond(event, configuration).encode())
            with HookFolder(root).session("claude-code", str(number)) as state:
                shown = [ids[row["path"]] for row in state.shown]
                whole = [ids[row["path"]] for row in state.shown if not row["line"]]
            outcome.add(request, shown, whole, size)
    return outcome


def _write_calls(path: Path, request: Request) -> Path:
    """A transcript whose last calls use the files and tools of a request."""
    calls = [{"name": tool, "input": {"command": "-"}} for tool in request.tools]
    calls += [{"name": "Read", "input": {"file_path": str(path.parent / file)}} for file in request.files]
    line = json.dumps({"type": "assistant", "message": {"content": calls}})
    path.write_text(f"{line}\n", encoding="utf-8")
    return path


def measure_bm25(store: WorkStore) -> Outcome:
    """The first five of FTS5's BM25, whole, whatever they are."""
    outcome = Outcome()
    texts = {each["id"]: f"{each['name']}\n{each['description']}\n{each['body']}" for each in store.memories}
    rank = fts5(texts)
    for request in store.requests:
        shown = rank(request.text)[:MOST_HITS]
        outcome.add(request, shown, shown, sum(len(texts[name].encode()) for name in shown))
    return outcome


def draft(memory: Mapping[str, Any], *, with_asks: bool) -> Topic:
    """A memory of a store as the program would save it."""
    from reverie.memory.topics.draft import draft_topic

    return draft_topic(
        memory["name"],
        memory["description"],
        memory["type"],
        memory["body"],
        trust="inferred",
        source=None,
        observed=date.fromisoformat(memory["observed"]),
        when=memory.get("words", ()) if with_asks else (),
        asks=memory.get("asks", ()) if with_asks else (),
    )


def _id_of(topic: Topic, memories: Iterable[Mapping[str, Any]]) -> str:
    return next(str(each["id"]) for each in memories if each["name"] == topic.name and each["body"] == topic.body)


@contextmanager
def home(models: Path | None) -> Iterator[None]:
    """An own home for the program, with the model of vectors or without."""
    before = os.environ.get("REVERIE_HOME")
    with tempfile.TemporaryDirectory() as home:
        if models is not None:
            (Path(home) / "models").symlink_to(models)
        os.environ["REVERIE_HOME"] = home
        try:
            yield
        finally:
            os.environ.pop("REVERIE_HOME")
            if before is not None:
                os.environ["REVERIE_HOME"] = before


def measure_work(
    models: Path | None, *, only: str | None = None, quick: bool = False, with_hook: bool = False
) -> dict[str, Any]:
    """Measure every store both ways, with and without asks, and print the figures; `with_hook` through it too."""
    stores = [store for store in read_stores() if only in (None, store.name)][:: 4 if quick else 1]
    report: dict[str, dict[str, dict[str, float]]] = {}
    _measure_way(report, "FTS5/BM25, first five", stores, measure_bm25)
    for label, place in (("words", None), *((("vectors", models),) if models else ())):
        with home(place):
            _measure_way(report, f"reverie, {label}", stores, lambda store: measure_product(store, with_asks=False))
            if with_hook and place is None:
                _measure_way(report, "hook, words", stores, lambda store: measure_hook(store, with_asks=False))
                _measure_way(report, "hook, words and asks", stores, lambda store: measure_hook(store, with_asks=True))
            way = f"reverie, {label} and asks"
            _measure_way(report, way, stores, lambda store: measure_product(store, with_asks=True))
    return report


def _measure_way(
    report: dict[str, dict[str, dict[str, float]]],
    label: str,
    stores: Sequence[WorkStore],
    measure: Callable[[WorkStore], Outcome],
) -> None:
    """Add each store's figures, and print their means."""
    rows = report[label] = {store.name: measure(store).row() for store in stores}
    for group, members in (
        ("shared stores", [name for name in rows if name.startswith("store")]),
        ("own stores", [name for name in rows if not name.startswith("store")]),
    ):
        if members:
            means = {figure: fmean(rows[name][figure] for name in members) for figure in rows[members[0]]}
            print(
                f"{label:28} {group:14}",
                *(f"{name} {value:.2f}" for name, value in means.items()),
                sep="  ",
                flush=True,
            )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.recall.work", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--models", type=Path, default=Path.home() / ".reverie" / "models", help="where the model lies")
    parser.add_argument("--only", help="one store")
    parser.add_argument("--hook", action="store_true", help="also through `reverie hook UserPromptSubmit`, by words")
    options = parser.parse_args(arguments)
    if options.only and options.only not in [store.name for store in read_stores()]:
        parser.error(f"no store {options.only!r}")
    models = options.models if options.models.is_dir() else None
    if models is None:
        print(f"no model in {options.models}: no rows with vectors (`reverie models install`)", file=sys.stderr)
    report = measure_work(models, only=options.only, with_hook=options.hook)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
