"""The content of replies: blocks, ids, signatures, and the default reply for requests that no script answers.

Ids and signatures look like the provider's. A signature holds a digest of its thinking text, so that a block which is
sent back changed is refused; signatures made elsewhere are accepted unchecked.
"""

from __future__ import annotations

import random
from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.memo import digest
from reverie_simulator.wire import blocks_at, encode, join_text, object_at, objects_at, text_at

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_SIGNATURE_PREFIX = b"\x12\x0breverie-sim"
ECHO_CHARS = 400
SEARCH_TOOL = "web_search"
USUAL_THOUGHT = "What was asked is clear."


@value
class ScriptedReply:
    """A reply of the simulated model."""

    blocks: tuple[JsonObject, ...]
    stop_reason: str
    stop_sequence: str | None = None


class IdMaker:
    """Ids in the provider's form, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, prefix: str) -> str:
        """A fresh id such as `msg_01…`."""
        return f"{prefix}_01{''.join(self._random.choices(_ALPHABET, k=22))}"


def signature_of(thinking: str) -> str:
    """The signature of a thinking text."""
    return b64encode(_SIGNATURE_PREFIX + digest(thinking.encode(errors="replace"))).decode()


def is_forged(thinking: str, signature: str) -> bool:
    """Whether a signature is empty, or made here for another text."""
    if not signature:
        return True
    try:
        raw = b64decode(signature, validate=True)
    except (NotBase64, ValueError):
        return False
    return raw.startswith(_SIGNATURE_PREFIX) and signature != signature_of(thinking)


def text_block(text: str) -> JsonObject:
    """A text block."""
    return {"type": "text", "text": text}


def thinking_block(thinking: str) -> JsonObject:
    """A thinking block with its signature."""
    return {"type": "thinking", "thinking": thinking, "signature": signature_of(thinking)}


def call_block(call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    """A tool call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": dict(arguments), "caller": {"type": "direct"}}


def stop_reason_of(blocks: tuple[JsonObject, ...]) -> str:
    """`tool_use` when a tool is called, else `end_turn`."""
    return "tool_use" if any(block.get("type") == "tool_use" for block in blocks) else "end_turn"


def default_blocks(body: JsonObject, new_id: IdMaker) -> tuple[JsonObject, ...]:
    """The reply without a script: a forced tool call, a web search, JSON for the requested schema, or an echo."""
    opening = (thinking_block(USUAL_THOUGHT),) if must_think(body) else ()
    choice = object_at(body, "tool_choice")
    if choice.get("type") in {"any", "tool"}:
        return (*opening, _force_call(body, text_at(choice, "name"), new_id))
    if any(text_at(tool, "type").startswith(f"{SEARCH_TOOL}_") for tool in objects_at(body, "tools")):
        return (*opening, *_search(last_user_text(body), new_id))
    schema = object_at(object_at(object_at(body, "output_config"), "format"), "schema")
    return (*opening, text_block(encode(sample_of(schema)).decode() if schema else _echo(body)))


def default_summary(body: JsonObject) -> str:
    """The summary of a conversation when no script gives one."""
    messages = objects_at(body, "messages")
    return (
        f"Summary of {len(messages)} messages. The last words of the user were: {_shorten_echo(last_user_text(body))}"
    )


def last_user_text(body: JsonObject) -> str:
    """The text of the last user message that has any; tool results do not count."""
    for message in reversed(objects_at(body, "messages")):
        if message.get("role") == "user":
            texts = [block for block in blocks_at(message, "content") if block.get("type") == "text"]
            if texts:
                return join_text(texts)
    return ""


def last_results(body: JsonObject) -> tuple[JsonObject, ...]:
    """The tool results with which the conversation ends."""
    messages = objects_at(body, "messages")
    last = messages[-1] if messages else {}
    return tuple(block for block in blocks_at(last, "content") if block.get("type") == "tool_result")


def sample_of(schema: JsonObject) -> Json:
    """The smallest value for a JSON schema; keywords beyond type, enum, const and variants are ignored."""
    if isinstance(choices := schema.get("enum"), list) and choices:
        return choices[0]
    if "const" in schema:
        return schema["const"]
    for variants in ("anyOf", "oneOf"):
        if options := objects_at(schema, variants):
            return sample_of(options[0])
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) and kind else kind:
        case "object":
            properties, required = object_at(schema, "properties"), schema.get("required")
            names = required if isinstance(required, list) else []
            return {name: sample_of(object_at(properties, name)) for name in names if isinstance(name, str)}
        case "array":
            return []
        case "integer" | "number":
            return 0
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return "sample"


def must_think(body: JsonObject) -> bool:
    """Whether a request asks for thinking before the reply."""
    return object_at(body, "thinking").get("type") == "enabled"


def _force_call(body: JsonObject, name: str, new_id: IdMaker) -> JsonObject:
    tools = [tool for tool in objects_at(body, "tools") if not name or tool.get("name") == name]
    arguments = sample_of(object_at(tools[0], "input_schema"))
    return call_block(new_id("toolu"), text_at(tools[0], "name"), arguments if isinstance(arguments, dict) else {})


def _search(asked: str, new_id: IdMaker) -> tuple[JsonObject, ...]:
    """A search of the web, made by the provider itself, with two results."""
    call, query = new_id("srvtoolu"), _shorten_echo(asked.strip().splitlines()[-1] if asked.strip() else "")
    results: list[Json] = [
        {
            "type": "web_search_result",
            "url": f"https://example.com/{number}",
            "title": f"Page {number} on {query}",
            "encrypted_content": b64encode(digest(query.encode(errors="replace"))).decode(),
            "page_age": None,
        }
        for number in (1, 2)
    ]
    return (
        {"type": "server_tool_use", "id": call, "name": SEARCH_TOOL, "input": {"query": query}},
        {"type": "web_search_tool_result", "tool_use_id": call, "content": results},
        text_block(f"Two pages speak of {query}."),
    )


def _echo(body: JsonObject) -> str:
    results = last_results(body)
    if results:
        return f"Read {len(results)} tool result{'s' if len(results) > 1 else ''}: {_shorten_echo(join_text(results))}"
    return f"You said: {_shorten_echo(last_user_text(body))}"


def _shorten_echo(text: str) -> str:
    return text if len(text) <= ECHO_CHARS else f"{text[:ECHO_CHARS]}…"
