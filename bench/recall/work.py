"""`python -m bench.recall.work`: recall on developers' memories and requests, through `Memory.save_many` and `recall`.

The product as shipped, abstention on: every store becomes a memory directory of topic files, every request is asked of
it with its files and tools. What is shown counts, at most five memories and `BUDGET_BYTES` a request. Beside it the
first five of other systems over the same texts (names, descriptions and bodies, with `asks` where a row says so), by
the same measure; none of them abstains.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import (
    BOOTSTRAP,
    Figure,
    Result,
    Row,
    Table,
    add_options,
    default_models,
    default_peers,
    mean,
    report,
)
from bench.recall.data import folder as shared_folder
from bench.recall.peers import available_peers
from bench.recall.systems import System, fts5, fused, grep, vectors
from reverie import Memory, Topic
from reverie.memory.search.render import attachment

OWN_STORES = Path(__file__).with_name("stores")
BUDGET_BYTES = 3_000
MOST_HITS = 5
WARM_SECONDS = 60.0
KINDS = ("words", "paraphrase", "standing")
_COLUMNS = ("same words", "paraphrases", "standing rules")
_ABOUT = (
    "Must: memories that a request needs and that were shown, whole or as a line; then by kind of request, and shown "
    "whole. Unrelated: requests that no memory concerns, how many of them get a whole memory, and how much text they "
    "get. `asks` are questions and words that a model would have stored with each memory; here people wrote them."
)
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
    """What was shown for the requests of some stores; each value with the request it belongs to."""

    shown: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    whole: list[tuple[str, float]] = field(default_factory=list)
    unrelated_whole: list[tuple[str, float]] = field(default_factory=list)
    unrelated_bytes: list[tuple[str, float]] = field(default_factory=list)

    def add(self, request: Request, shown: Sequence[str], whole: Iterable[str], size_bytes: int) -> None:
        whole, text = set(whole), request.text
        if request.kind == "none":
            self.unrelated_whole.append((text, float(bool(whole))))
            self.unrelated_bytes.append((text, float(size_bytes)))
            return
        self.shown[request.kind] += [(text, float(name in shown)) for name in request.musts]
        self.whole += [(text, float(name in whole)) for name in request.musts]

    def join(self, other: Outcome) -> None:
        """Add what another store came to."""
        for kind in KINDS:
            self.shown[kind] += other.shown[kind]
        self.whole += other.whole
        self.unrelated_whole += other.unrelated_whole
        self.unrelated_bytes += other.unrelated_bytes

    def figures(self) -> dict[str, Figure]:
        """The figures by name."""
        return {
            "must": mean([value for kind in KINDS for value in self.shown[kind]]),
            **{name: mean(self.shown[kind]) for kind, name in zip(KINDS, _COLUMNS, strict=True)},
            "must, whole": mean(self.whole),
            "unrelated: a whole one": mean(self.unrelated_whole),
            "unrelated: size": mean(self.unrelated_bytes, "bytes"),
        }


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


def measure_hook(store: WorkStore, *, with_asks: bool, models: Path | None = None) -> Outcome:
    """The same through `reverie hook UserPromptSubmit`, in this process; files and tools stand in a transcript.

    With a model a warm process answers where it does so in time, as after the start of a session.
    """
    from reverie import Settings
    from reverie.apps.hook.run import respond
    from reverie.apps.hook.state import HookFolder
    from reverie.hosts.hook_events import read_event
    from reverie.settings.load import Configuration, Secrets, places

    outcome = Outcome()
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        root, project = Path(directory) / "home", Path(directory) / "project"
        project.mkdir()
        settings = Settings(home=str(root), config_home=str(root / "host"))
        configuration = Configuration(settings, {}, (), root, root / "host", project, Secrets({}))
        with Memory.at(places(configuration), settings, project) as memory:
            memory.save_many(draft(each, with_asks=with_asks) for each in store.memories)
            ids = {f"{memory.directory}/{topic.path}": _id_of(topic, store.memories) for topic in memory.topics()}
        if models is not None:
            stack.enter_context(_warm_process(root, models, project))
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


@contextmanager
def _warm_process(root: Path, models: Path, project: Path) -> Iterator[None]:
    """The process that answers hooks of a home with vectors, once it has loaded the model."""
    from reverie.apps.hook.warm import ask_warm
    from reverie.memory.search.document import Query

    if not (root / "models").exists():
        (root / "models").symlink_to(models.resolve())
    command = [sys.executable, "-m", "reverie.apps.hook.warm", str(root)]
    with subprocess.Popen(command, env={**os.environ, "REVERIE_HOME": str(root)}) as process:
        try:
            until = time.monotonic() + WARM_SECONDS
            while ask_warm(root, project, Query("are you there?", NOW), WARM_SECONDS) is None:
                if time.monotonic() > until or process.poll() is not None:
                    raise RuntimeError("the warm process does not answer")
                time.sleep(0.2)
            yield
        finally:
            process.terminate()


def _write_calls(path: Path, request: Request) -> Path:
    """A transcript whose last calls use the files and tools of a request."""
    calls = [{"name": tool, "input": {"command": "-"}} for tool in request.tools]
    calls += [{"name": "Read", "input": {"file_path": str(path.parent / file)}} for file in request.files]
    line = json.dumps({"type": "assistant", "message": {"content": calls}})
    path.write_text(f"{line}\n", encoding="utf-8")
    return path


def measure_ranking(store: WorkStore, system: System, *, with_asks: bool = False) -> Outcome:
    """The first five of a system that ranks texts, whole, whatever they are."""
    outcome = Outcome()
    texts = {each["id"]: f"{each['name']}\n{each['description']}\n{each['body']}" for each in store.memories}
    if with_asks:
        added = {each["id"]: [*each.get("asks", ()), *each.get("words", ())] for each in store.memories}
        texts = {name: "\n".join([text, *added[name]]) for name, text in texts.items()}
    rank = system(texts)
    for request in store.requests:
        shown = rank(request.text)[:MOST_HITS]
        while shown and sum(len(texts[name].encode()) for name in shown) > BUDGET_BYTES:
            shown.pop()
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
    models: Path | None, peers: Path, *, only: str | None = None, quick: bool = False, with_hook: bool = False
) -> Result:
    """Measure the stores every way; `with_hook` through it too."""
    groups = {
        name: [store for store in stores if only in (None, store.name)]
        for name, stores in zip(("shared", "own"), _grouped(quick=quick), strict=True)
    }
    result = Result()
    if not groups["shared"] and only is None:
        result.left_out.append("the three stores of the sample data, which is not here (`REVERIE_SHARED_DATA`)")
    if models is None:
        result.left_out.append("rows with vectors: their weights are not installed (`reverie models install`)")
    rows: dict[str, list[Row]] = {name: [] for name in groups}
    with tempfile.TemporaryDirectory(prefix="bench-vectors-") as cache:
        for label, system, with_asks in _systems(models, peers, Path(cache) / "vectors.sqlite", result):
            try:
                _measure_way(rows, groups, label, partial(measure_ranking, system=system, with_asks=with_asks))
            except RuntimeError as problem:
                result.left_out.append(f"{label}: {problem}")
    for label, place in (("words", None), *((("vectors", models),) if models else ())):
        with home(place):
            for more, with_asks in (("", False), (" and asks", True)):
                way = partial(measure_product, with_asks=with_asks)
                _measure_way(rows, groups, f"reverie, {label}{more}", way, is_ours=True)
                if with_hook:
                    way = partial(measure_hook, with_asks=with_asks, models=place)
                    _measure_way(rows, groups, f"reverie hook, {label}{more}", way, is_ours=True)
    for name, title in (("shared", "Stores by other hands"), ("own", "Stores of our own")):
        if groups[name]:
            requests = sum(len(store.requests) for store in groups[name])
            told = f"{len(groups[name])} stores, {requests} requests. {_ABOUT}"
            if name == "own":
                told += " A paraphrase shares no word with its memory by construction."
            told += " The ranking is fitted to all fifteen stores; what it shows of a store that it never saw:"
            told += " `python -m bench.recall.fit`."
            interval = f"{BOOTSTRAP}, whole requests drawn"
            result.tables.append(Table(name, title, told, interval, rows[name], picture="must"))
    return result


def _grouped(*, quick: bool) -> tuple[list[WorkStore], list[WorkStore]]:
    """The shared stores, and our own, of which a quick run takes one in six."""
    stores = read_stores()
    shared = [store for store in stores if store.name.startswith("store")]
    own = [store for store in stores if store not in shared]
    return shared, own[:: 6 if quick else 1]


def _systems(models: Path | None, peers: Path, cache: Path, result: Result) -> Iterator[tuple[str, System, bool]]:
    """Other systems, each with whether it is given the `asks` as well."""
    yield "grep, first five", grep, False
    yield "FTS5/BM25, first five", fts5, False
    yield "FTS5/BM25 and asks, first five", fts5, True
    embedder = None
    if models is not None:
        from bench.recall.embedding import RememberingEmbedder
        from reverie.memory.search.weights import find_weights

        weights = find_weights(models)
        assert weights is not None
        embedder = RememberingEmbedder(weights, cache)
        yield "MiniLM, first five", vectors(embedder), False
        yield "MiniLM and asks, first five", vectors(embedder), True
        yield "FTS5 and MiniLM fused, first five", fused(fts5, vectors(embedder)), False
    for name, system in available_peers(peers, embedder, result.left_out).items():
        yield f"{name}, first five", system, False


def _measure_way(
    rows: Mapping[str, list[Row]],
    groups: Mapping[str, Sequence[WorkStore]],
    label: str,
    measure: Callable[[WorkStore], Outcome],
    *,
    is_ours: bool = False,
) -> None:
    """Add the row of every group of stores."""
    for name, stores in groups.items():
        if stores:
            outcome = Outcome()
            for store in stores:
                outcome.join(measure(store))
            rows[name].append(Row(label, outcome.figures(), is_ours))
            print(f"{label}, {name} stores: must {rows[name][-1].figures['must']}", flush=True)


def main(arguments: Sequence[str]) -> int:
    parser = add_options(argparse.ArgumentParser(prog="python -m bench.recall.work", description=__doc__))
    parser.add_argument("--models", type=Path, default=default_models(), help="where the weights of vectors lie")
    parser.add_argument("--peers", type=Path, default=default_peers(), help="environments of other libraries")
    parser.add_argument("--only", help="one store")
    parser.add_argument("--hook", action="store_true", help="also through `reverie hook UserPromptSubmit`")
    options = parser.parse_args(arguments)
    if options.only and options.only not in [store.name for store in read_stores()]:
        parser.error(f"no store {options.only!r}")
    from reverie.memory.search.weights import find_weights

    models = options.models if find_weights(options.models) else None
    result = measure_work(models, options.peers, only=options.only, quick=options.quick, with_hook=options.hook)
    return report(result, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
