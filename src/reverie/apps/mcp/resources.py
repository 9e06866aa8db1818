"""Topics and indexes by address: `reverie://project/index`, `reverie://user/topics/feedback_no_mocks.md`.

A client with several projects has `project`, `project-2` and so on, in the order of its roots.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from reverie.apps.mcp.served_memories import ServedMemories
from reverie.errors import UserMistake
from reverie.messages.injection import harmless
from reverie.values import value

if TYPE_CHECKING:
    from reverie.memory.memory import Memory

_SCHEME = "reverie://"
TEMPLATES = (f"{_SCHEME}project/topics/{{path}}", f"{_SCHEME}user/topics/{{path}}")


@value
class MemoryResource:
    """One text that can be read by its address."""

    uri: str
    name: str
    title: str
    description: str


def list_resources(served: ServedMemories) -> Iterator[MemoryResource]:
    """The indexes first, then all topics."""
    areas = _areas(served)
    for area in areas:
        whose = "your user memory, which applies in all projects" if area == "user" else "the memory of this project"
        yield MemoryResource(f"{_SCHEME}{area}/index", f"{area}/MEMORY.md", "Index of memories", f"Index of {whose}.")
    for area, memory in areas.items():
        if memory.off is not None:
            continue
        memory.index.sweep()
        for path, fields in memory.index.read_fields():
            uri = f"{_SCHEME}{area}/topics/{quote(path)}"
            yield MemoryResource(uri, path, str(fields["name"]), str(fields.get("description", "")))


def read_resource(served: ServedMemories, uri: str) -> str:
    """The text behind an address, as data.

    Raises:
        UserMistake: there is no such text.
        Damaged: its file cannot be read.
    """
    area, _, rest = uri.removeprefix(_SCHEME).partition("/")
    memory = _areas(served).get(area) if uri.startswith(_SCHEME) else None
    if memory is None:
        raise UserMistake(f"there is no resource {uri}; list the resources for those there are")
    if rest == "index":
        return _index_of(memory)
    kind, _, path = rest.partition("/")
    if kind != "topics" or not path:
        raise UserMistake(f"there is no resource {uri}; topics are {TEMPLATES[0]}")
    from reverie.memory.topics.topic import render_topic

    return harmless(render_topic(memory.read(unquote(path))))


def _areas(served: ServedMemories) -> dict[str, Memory]:
    areas = {f"project-{number}" if number > 1 else "project": each for number, each in enumerate(served.projects, 1)}
    user = served.with_user()[len(served.projects) :]
    return areas | dict(zip(("user",), user, strict=False))


def _index_of(memory: Memory) -> str:
    from reverie.memory.store.index.memory_md import IndexLimits, index_for_model
    from reverie.memory.store.worktree import INDEX_FILE, read_tracked

    content = b"" if memory.off is not None else read_tracked(memory.scope.folder, INDEX_FILE) or b""
    text = index_for_model(content.decode("utf-8", "replace"), IndexLimits.of(memory.settings.index))[0]
    return harmless(text).strip() or "There are no memories yet."
