"""Selector, extraction and dream with a model that may say anything: what holds whatever it says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from reverie import Memory, Settings
from reverie.memory.topics.topic import parse_topic
from reverie.models.ports import Model
from reverie.session.subagents.fork import LoopForks
from tests.memory.dream.kit import read, text
from tests.session.session_desk import desk
from tests.session.sessions import hold

Drive: TypeAlias = Callable[[Model, Path], Awaitable[None]]

SAID = ("Never push directly to main, open a PR instead.", "Our launch moved to the week after Easter.")
FACTS = {
    "kayaks": "Kayaks at the harbour carry flares",
    "crates": "Crates at the harbour are weighed twice",
    "ladders": "Ladders in the orchard belong to Maren",
}


async def drive_selector(model: Model, root: Path) -> None:
    """The best memory by words is shown, and nothing that is not stored."""
    memory = _open(root)
    for name, said in FACTS.items():
        memory.save(name=name, description=said, type="project", body=said)
    query = memory.build_query("which kayaks at the harbour carry flares?")
    hits = memory.recall_report(query).hits
    chosen = await memory.select(query, hits, model)

    assert hits
    assert hits[0].path in {hit.path for hit in chosen}
    assert {hit.topic.path for hit in chosen} <= {topic.path for topic in memory.topics()}


async def drive_learning(model: Model, root: Path) -> None:
    """What is kept was said, and a reply that is of no use is told."""
    memory = _open(root)
    learned = await memory.learn([hold(root / "s1.jsonl", *SAID)], model=model)

    assert (learned.failed, learned.replies) == ((), 1)
    for topic in memory.topics():
        assert any(str(topic.sources[0].quote) in said for said in SAID), topic
        assert len(topic.asks) <= 5
    assert learned.unusable or len(list(memory.topics())) <= len(SAID)


async def drive_dream(model: Model, root: Path) -> None:
    """Whatever the model does, every memory can be read afterwards, here or in the archive."""
    store = {f"{name}.md": text(f"{name}.md", said, kind="project") for name, said in FACTS.items()}
    with desk(root) as at:
        at.model, at.models = model.name, {model.name: model}
        session = at.start()
        session.memory.store.write_files(store, author="user", reason="begin")
        done = await session.memory.dreams.run(forks=LoopForks(session.parts.loop))
        await session.close()
        archive = session.memory.directory / ".archive"
        after = read(session.memory.directory)

        assert done.state in {"completed", "unchanged", "proposed", "failed"}
        for path, before in store.items():
            assert path in after or (archive / f"{path}.archived").read_text(encoding="utf-8") == before
        for path, made in after.items():
            assert parse_topic(path, made).description


def _open(root: Path) -> Memory:
    (root / "memory").mkdir()
    settings = Settings(home=str(root / "home"), config_home=str(root / "claude"))
    return Memory(root / "memory", project=root, settings=settings)
