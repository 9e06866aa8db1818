"""Finds which lines of a transcript belong to the conversation, and their order.

A file is a tree: resumed, rewound and retried turns leave branches. The chain is the path from the newest leaf to its
root. The bare path loses parallel tool calls, because each result hangs under its own call;
`linearize` puts every record of a reply together and every result right behind its call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reverie.messages.blocks import ToolResult, ToolUse
from reverie.messages.entries import (
    AssistantEntry,
    BoundaryEntry,
    Entry,
    Envelope,
    MarkEntry,
    UserEntry,
    envelope_of,
)


def linearize(entries: Sequence[Entry], leaf: str | None = None) -> list[Entry]:
    """The entries of one conversation in the order in which a model would see them.

    `leaf` names the entry to end at; without it the newest leaf of the main conversation is taken. Returns an empty
    list when no entry hangs on a chain.
    """
    return EntryTree(entries).path(leaf)


class EntryTree:
    """The entries of a file by what hangs under what; read once for any number of paths."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._nodes = _nodes(entries)
        self._over = _relink_after_compactions(self._nodes)
        self._replies: dict[str, list[AssistantEntry]] = {}
        self._results: dict[str, list[UserEntry]] = {}
        for entry in self._nodes.values():
            if isinstance(entry, AssistantEntry):
                if entry.message_id:
                    self._replies.setdefault(entry.message_id, []).append(entry)
            elif isinstance(entry, UserEntry):
                for block in entry.message.content:
                    if isinstance(block, ToolResult):
                        self._results.setdefault(block.tool_use_id, []).append(entry)

    def path(self, leaf: str | None = None) -> list[Entry]:
        """As `linearize`."""
        nodes = self._nodes
        if not nodes:
            return []
        if leaf is None and _is_flat(nodes):
            path = list(nodes.values())
        else:
            end = leaf or _newest_leaf(nodes)
            path = self._walk(end) if end is not None else []
        return self._with_whole_replies(path)

    def _walk(self, leaf: str) -> list[Entry]:
        """From the leaf to its root, turned round; a circle ends where it closes."""
        nodes, over = self._nodes, self._over
        path: list[Entry] = []
        seen: set[str] = set()
        at: str | None = leaf
        while at is not None and at in nodes and at not in seen:
            seen.add(at)
            path.append(nodes[at])
            at = over.get(at, _of(nodes[at]).parent)
        path.reverse()
        return path

    def _with_whole_replies(self, path: list[Entry]) -> list[Entry]:
        """Put the records of each reply together, then all results of its calls, each once."""
        on_path = {_of(entry).uuid for entry in path}
        placed: set[str] = set()
        called: set[str] = set()
        ordered: list[Entry] = []

        def place(entry: Entry) -> bool:
            uuid = _of(entry).uuid
            if uuid in placed:
                return False
            placed.add(uuid)
            ordered.append(entry)
            return True

        for entry in path:
            if not place(entry) or not isinstance(entry, AssistantEntry):
                continue
            calls = _new_calls(entry, called)
            for sibling in _rest_of_the_reply(entry, self._replies, on_path):
                theirs = _new_calls(sibling, called)
                if theirs or not sibling.message.tool_uses:
                    place(sibling)
                    calls += theirs
            for call in calls:
                answer = _answer(self._results.get(call, ()), entry.envelope, on_path)
                if answer is not None:
                    place(answer)
        return ordered


def newest_leaf(entries: Sequence[Entry]) -> str | None:
    """The id of the entry under which the next one belongs."""
    return _newest_leaf(_nodes(entries))


def is_headless(entries: Sequence[Entry]) -> bool:
    """Whether the conversation starts under an entry that the file does not hold."""
    chain = linearize(entries)
    return bool(chain) and _of(chain[0]).parent is not None


def _nodes(entries: Iterable[Entry]) -> dict[str, Entry]:
    """All entries of the chain by id; of two with one id the later counts."""
    nodes: dict[str, Entry] = {}
    for entry in entries:
        envelope = envelope_of(entry)
        if envelope is not None:
            nodes[envelope.uuid] = entry
    return nodes


def _is_flat(nodes: dict[str, Entry]) -> bool:
    """Whether no entry hangs under another; such a file is simply a list."""
    return len(nodes) > 1 and not any(
        _of(entry).parent in nodes or isinstance(entry, BoundaryEntry) for entry in nodes.values()
    )


def _newest_leaf(nodes: dict[str, Entry]) -> str | None:
    """The latest in the file of the entries that end a branch, those of the main conversation preferred."""
    parents = {_of(entry).parent for entry in nodes.values()}
    best: str | None = None
    best_is_main = False
    position = {uuid: number for number, uuid in enumerate(nodes)}
    for uuid in nodes:
        if uuid in parents:
            continue
        spoken = _nearest_spoken(nodes, uuid)
        if spoken is None:
            continue
        envelope = _of(nodes[spoken])
        is_main = not (envelope.is_sidechain or envelope.team or envelope.is_meta)
        if best is None or (is_main, position[uuid]) > (best_is_main, position[best]):
            best, best_is_main = uuid, is_main
    return best


def _nearest_spoken(nodes: dict[str, Entry], uuid: str) -> str | None:
    seen: set[str] = set()
    at: str | None = uuid
    while at is not None and at in nodes and at not in seen:
        # A mark is somebody's decision too: where one went back to, or that everything begins anew.
        if isinstance(nodes[at], UserEntry | AssistantEntry | MarkEntry):
            return at
        seen.add(at)
        at = _of(nodes[at]).parent
    return None


def _relink_after_compactions(nodes: dict[str, Entry]) -> dict[str, str]:
    """Some writers hang what follows a compaction under the last kept entry; it is taken to hang under the summary.

    A mark there is a decision of ours to go back, and stays where it is.
    """
    over: dict[str, str] = {}
    anchors: dict[str, str] = {}
    for uuid, entry in nodes.items():
        anchor = anchors.get(_of(entry).parent or "")
        if anchor is not None and not isinstance(entry, MarkEntry):
            over[uuid] = anchor
        if isinstance(entry, BoundaryEntry) and entry.relinks and entry.kept and entry.anchor in nodes:
            anchors[entry.kept[-1]] = entry.anchor
    return over


def _rest_of_the_reply(
    entry: AssistantEntry, replies: dict[str, list[AssistantEntry]], on_path: set[str]
) -> Iterable[AssistantEntry]:
    """The other records of a reply; a copy that another branch holds of one on the path is left out."""
    siblings = [one for one in replies.get(entry.message_id or "", ()) if _same_writer(one.envelope, entry.envelope)]
    messages = [one.message for one in siblings if one.envelope.uuid in on_path]
    for sibling in siblings:
        if sibling.envelope.uuid in on_path or sibling.message not in messages:
            yield sibling


def _new_calls(entry: AssistantEntry, called: set[str]) -> list[str]:
    calls = [block.id for block in entry.message.content if isinstance(block, ToolUse) and block.id not in called]
    called.update(calls)
    return calls


def _answer(candidates: Iterable[UserEntry], asker: Envelope, on_path: set[str]) -> UserEntry | None:
    """The record that answers a call: one on the path if there is one, else the first of the same writer."""
    same = [entry for entry in candidates if _same_writer(entry.envelope, asker)]
    for entry in same:
        if entry.envelope.uuid in on_path:
            return entry
    return same[0] if same else None


def _same_writer(one: Envelope, other: Envelope) -> bool:
    return one.is_sidechain == other.is_sidechain and one.agent_id == other.agent_id


def _of(entry: Entry) -> Envelope:
    envelope = envelope_of(entry)
    assert envelope is not None, "only entries of the chain are nodes"
    return envelope
