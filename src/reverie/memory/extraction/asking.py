"""Ask a model what a past session taught: a flow of one question per piece, and what the answer means as candidates.

The gate judges what comes back; a quote that no message holds is refused there. Without a model the rules answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from reverie.memory.extraction.candidate import Candidate, Said
from reverie.memory.extraction.dates import placed
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.fork import filled
from reverie.memory.extraction.typed import own_words
from reverie.memory.topics.topic import MemoryType
from reverie.messages.blocks import JsonObject
from reverie.ports import Ask, Flow

PIECE_CHARS = 40_000
"""How much of a session one question holds."""
MESSAGE_CHARS = 4_000
ANSWER_TOKENS = 2_048

_TEXT: JsonObject = {"type": "string"}
_FIELDS = ("type", "name", "description", "body", "why", "how_to_apply", "quote", "message")
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {field: dict(_TEXT) for field in _FIELDS},
                "required": list(_FIELDS),
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


def propose(messages: Sequence[Said], manifest: str) -> Flow[tuple[Candidate, ...]]:
    """Ask what these messages teach.

    Raises:
        ValueError: the answer is not what was asked for.
    """
    found: list[Candidate] = []
    for piece in pieces(messages):
        reply = yield Ask(
            "extraction",
            prompt_for(piece, manifest),
            embedded=partial(_embedded, piece),
            max_tokens=ANSWER_TOKENS,
            output_schema=SCHEMA,
        )
        found += _read_answer(reply.text, piece)
    return tuple(found)


def pieces(messages: Sequence[Said]) -> Iterator[tuple[Said, ...]]:
    """The messages in runs that fit one question."""
    piece: list[Said] = []
    size = 0
    for message in messages:
        length = min(len(message.text), MESSAGE_CHARS)
        if piece and size + length > PIECE_CHARS:
            yield tuple(piece)
            piece, size = [], 0
        piece.append(message)
        size += length
    if piece:
        yield tuple(piece)


def prompt_for(messages: Iterable[Said], manifest: str) -> str:
    """The question over these messages; only what the person wrote by hand is shown."""
    shown = "\n\n".join(
        f"[{each.message}] {each.when.date().isoformat() if each.when else 'unknown day'}\n"
        f"{own_words(each.text)[:MESSAGE_CHARS]}"
        for each in messages
    )
    return filled("extraction_learn", {"manifest": manifest or "(none yet)", "messages": shown})


def _embedded(messages: Iterable[Said]) -> str:
    found = [
        {
            "type": each.type.value,
            "name": each.name,
            "description": each.description,
            "body": each.body,
            "why": "",
            "how_to_apply": "",
            "quote": each.quote,
            "message": each.message,
        }
        for message in messages
        for each in find_candidates(message)
    ]
    return json.dumps({"memories": found}, ensure_ascii=False)


def _read_answer(text: str, messages: Sequence[Said]) -> Iterator[Candidate]:
    answer = json.loads(text[text.find("{") : text.rfind("}") + 1])
    rows = answer.get("memories") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        raise ValueError("the answer names no memories")
    by_id = {each.message: each for each in messages}
    for row in rows:
        if isinstance(row, dict):
            said = {field: str(row.get(field) or "").strip() for field in _FIELDS}
            found = _candidate(said, by_id)
            if found is not None:
                yield found


def _candidate(said: dict[str, str], by_id: dict[str, Said]) -> Candidate | None:
    if said["type"] not in set(MemoryType) or not said["name"] or not said["description"]:
        return None
    message = by_id.get(said["message"]) or next((one for one in by_id.values() if said["quote"] in one.text), None)
    day = message.when.date() if message and message.when else None
    labels = {"Why": said["why"], "How to apply": said["how_to_apply"]}
    kept = [f"**{label}:** {words}" for label, words in labels.items() if words]
    body = placed("\n\n".join([said["body"] or said["description"], *kept]), day)
    return Candidate(
        MemoryType(said["type"]),
        said["name"],
        placed(said["description"], day).text,
        body.text,
        said["quote"],
        message.message if message else "",
        message.session if message else "",
        cue="model",
        observed=day,
    )
