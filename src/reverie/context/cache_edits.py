"""Deletions of tool results inside the provider's cache: the one place that reads them in a view or a request.

A `ClearEntry` of the server's kind becomes an item with a `cache_edits` block (`messages.view`); the results that it
names stay whole here, so that the cached prefix keeps its bytes. `microcompact` asks for deletions. Once sent, a
deletion stays where it is: a provider refuses one whose result has left the request, and one that cannot delete gets
the results emptied instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reverie.messages.blocks import Block, JsonObject, Opaque, ToolResult
from reverie.messages.message import Message, Role
from reverie.messages.view import CACHE_EDITS, Item, ItemKind, View, deletions


def is_cache_edit(item: Item) -> bool:
    """Whether an item is nothing but deletions inside the cache."""
    return item.label == CACHE_EDITS


def is_cache_edit_block(block: Block) -> bool:
    """Whether a block of a message is such a list of deletions."""
    return isinstance(block, Opaque) and block.kind == CACHE_EDITS


def count_cache_edits(messages: Iterable[Message]) -> int:
    """How many blocks of these messages delete inside the cache."""
    return sum(map(is_cache_edit_block, (block for message in messages for block in message.content)))


def find_deleted(items: Sequence[Item]) -> set[str]:
    """Tool calls whose results the provider was asked to delete inside its cache."""
    return {name for item in items if is_cache_edit(item) for name in _list_deleted_references(item)}


def empty_deleted(view: View, cleared_text: str) -> View:
    """The view for a provider that cannot delete inside its cache: what it would have deleted is emptied here."""
    deleted = find_deleted(view.items)
    if not deleted:
        return view
    items = [_empty_results(item, deleted, cleared_text) for item in view.items if not is_cache_edit(item)]
    return view.with_items(items)


def drop_invalid_edits(view: View) -> View:
    """The view without deletions of results that left it, or that were deleted already; a provider refuses those."""
    if not any(map(is_cache_edit, view.items)):
        return view
    results_in_view: set[str] = set()
    items: list[Item] = []
    for item in view.items:
        results_in_view.update(result.tool_use_id for result in item.message.tool_results)
        if is_cache_edit(item):
            references = _list_deleted_references(item)
            valid = [name for name in dict.fromkeys(references) if name in results_in_view]
            results_in_view.difference_update(valid)
            if not valid:
                continue
            if valid != references:
                item = replace(item, message=Message(Role.USER, (deletions(valid),)))
        items.append(item)
    return view if items == list(view.items) else view.with_items(items)


def _list_deleted_references(item: Item) -> list[str]:
    return [
        str(edit.get("cache_reference"))
        for block in item.message.content
        if isinstance(block, Opaque)
        for edit in _edits(block)
    ]


def _edits(block: Opaque) -> list[JsonObject]:
    edits = block.wire.get("edits")
    return [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []


def _empty_results(item: Item, deleted: set[str], cleared_text: str) -> Item:
    if item.kind is not ItemKind.RESULT:
        return item
    content = tuple(
        replace(block, content=cleared_text)
        if isinstance(block, ToolResult) and block.tool_use_id in deleted
        else block
        for block in item.message.content
    )
    return item if content == item.message.content else replace(item, message=Message(Role.USER, content))
