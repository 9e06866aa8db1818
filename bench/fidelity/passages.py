"""Items as passages of text, each with the file or command it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reverie.messages.blocks import Json, Text, ToolUse
from reverie.messages.message import Role
from reverie.messages.view import Item

_SUBJECTS = ("file_path", "notebook_path", "path", "command", "pattern", "url", "query", "description")


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text that belongs together."""

    text: str
    item: int
    """The number of the item it comes from."""
    owner: str = ""
    """The file, command or search that it is about."""
    by_model: bool = False
    """Written by the model: its words or the input of a call."""
    is_result: bool = False


def passages(items: Sequence[Item]) -> list[Passage]:
    """All text of some items."""
    calls = {call.id: call for item in items for call in item.message.tool_uses}
    return [one for number, item in enumerate(items) for one in _of_item(item, number, items, calls)]


def _of_item(item: Item, number: int, items: Sequence[Item], calls: dict[str, ToolUse]) -> Iterable[Passage]:
    by_model = item.message.role is Role.ASSISTANT
    answers_text = number > 0 and not by_model and items[number - 1].message.role is Role.ASSISTANT
    for block in item.message.content:
        if isinstance(block, Text):
            owner = _command_in(items[number - 1].message.text) if answers_text and item.kind != "typed" else ""
            yield Passage(block.text, number, owner, by_model, bool(owner))
        elif isinstance(block, ToolUse):
            text = "\n".join(_strings(dict(block.input)))
            yield Passage(text, number, subject(block), by_model=True)
    for result in item.message.tool_results:
        call = calls.get(result.tool_use_id)
        yield Passage(result.text, number, subject(call) if call else "", is_result=True)


def subject(call: ToolUse) -> str:
    """What a call is about."""
    for key in _SUBJECTS:
        value = call.input.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return call.name


def _strings(value: Json) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif value is not None:
        yield str(value)


def _command_in(text: str) -> str:
    """The shell block of a plain reply."""
    for fence in ("```bash\n", "```sh\n"):
        if fence in text:
            return text.rsplit(fence, 1)[1].split("```", 1)[0].strip()
    return ""
