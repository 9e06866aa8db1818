"""Asks a model what a piece of a past session taught, and parses its answer into candidates.

The gate judges what comes back; a quote that no message holds is refused there. Without a model the rules answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from reverie.files.secret_scan import scan
from reverie.memory.extraction.candidate import MemoryCandidate, RefusedCandidate, UserMessage
from reverie.memory.extraction.dates import resolve_dates
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.refusals import refuse_ask
from reverie.memory.extraction.typed import own_words
from reverie.memory.model_asks import drop_bad_asks
from reverie.memory.prompt_files import fill_prompt
from reverie.memory.store.erased_sentences import normal
from reverie.memory.topics.topic import MemoryType
from reverie.messages.blocks import Json, JsonObject
from reverie.messages.codec import decode_json
from reverie.models.ports import Ask, Flow
from reverie.values import value

PIECE_CHARS = 40_000
"""How much of a session one question holds."""
MESSAGE_CHARS = 4_000
ANSWER_TOKENS = 2_048
MAX_SITUATIONS = 10
"""More situations than these and a memory applies to no one in particular."""

_TEXT: JsonObject = {"type": "string"}
_FIELDS = ("type", "name", "description", "body", "why", "how_to_apply", "quote", "message")
_LISTS = ("when", "asks")
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    **{field: dict(_TEXT) for field in _FIELDS},
                    **{field: {"type": "array", "items": dict(_TEXT)} for field in _LISTS},
                },
                "required": [*_FIELDS, *_LISTS],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@value
class ModelAnswer:
    """What a model proposes for a piece of a session."""

    candidates: tuple[MemoryCandidate, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    """Asks that may not be kept; their memories are, without them."""
    problem: str = ""
    """Why only a part of the answer could be used; empty for a whole one."""


def propose(piece: Sequence[UserMessage], manifest: str) -> Flow[ModelAnswer]:
    """Ask what these messages teach.

    Raises:
        ValueError: the answer is not what was asked for, and says in what.
    """
    reply = yield Ask(
        "extraction",
        prompt_for(piece, manifest),
        embedded=partial(_answer_by_rules, piece),
        max_tokens=ANSWER_TOKENS,
        output_schema=SCHEMA,
    )
    return _read_answer(reply.text, piece)


def pieces(messages: Sequence[UserMessage]) -> Iterator[tuple[UserMessage, ...]]:
    """The messages in runs that fit one question."""
    piece: list[UserMessage] = []
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


def prompt_for(messages: Iterable[UserMessage], manifest: str) -> str:
    """The question over these messages; only what the person wrote by hand is shown."""
    shown = "\n\n".join(
        f"[{each.message}] {each.when.date().isoformat() if each.when else 'unknown day'}\n"
        f"{own_words(each.text)[:MESSAGE_CHARS]}"
        for each in messages
    )
    return fill_prompt("extraction_learn", {"manifest": manifest or "(none yet)", "messages": shown})


def _answer_by_rules(messages: Iterable[UserMessage]) -> str:
    rows: list[JsonObject] = [
        {
            "type": each.type.value,
            "name": each.name,
            "description": each.description,
            "body": each.body,
            "why": "",
            "how_to_apply": "",
            "quote": each.quote,
            "message": each.message,
            "when": [],
            "asks": [],
        }
        for message in messages
        for each in find_candidates(message)
    ]
    return json.dumps({"memories": rows}, ensure_ascii=False)


def _read_answer(text: str, messages: Sequence[UserMessage]) -> ModelAnswer:
    rows, problem = _rows(text)
    by_id = {each.message: each for each in messages}
    judged = [_judge_asks(each) for row in rows if isinstance(row, dict) and (each := _candidate(row, by_id))]
    candidates = tuple(candidate for candidate, _ in judged)
    if rows and not candidates:
        raise ValueError("none of its memories has a type, a name and a description")
    heard = [normal(each.text) for each in messages]
    if candidates and not any(normal(each.quote) in words for each in candidates for words in heard):
        raise ValueError("a quote is not in the conversation")
    return ModelAnswer(candidates, tuple(refusal for _, refusals in judged for refusal in refusals), problem)


def _rows(text: str) -> tuple[list[Json], str]:
    """The memories of an answer, which some models give without the object around them, or with words around it.

    Of an answer that breaks off, those before the break, and a sentence that says so.
    """
    if not text.strip():
        raise ValueError("it is empty")
    for first, last in sorted((("{", "}"), ("[", "]")), key=lambda pair: text.find(pair[0]) % (len(text) + 1)):
        try:
            answer = decode_json(text[text.find(first) : text.rfind(last) + 1])
        except ValueError:
            continue
        rows = answer.get("memories") if isinstance(answer, dict) else answer
        if isinstance(rows, list):
            return rows, ""
        raise ValueError("it contains no memories")
    whole = _rows_before_break(text)
    if not whole:
        raise ValueError("it is not valid JSON")
    return whole, f"it breaks off after {len(whole)} {'memory' if len(whole) == 1 else 'memories'}"


def _rows_before_break(text: str) -> list[Json]:
    """The whole objects at the beginning of a list that is not whole itself."""
    decoder, rows = json.JSONDecoder(), list[Json]()
    place = text.find("{", text.find("[") + 1) if "[" in text else -1
    while place >= 0:
        try:
            row, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        rows.append(row)
        between = re.match(r"\s*,\s*(?=\{)", text[end:])
        place = end + between.end() if between else -1
    return rows


def _candidate(row: JsonObject, by_id: dict[str, UserMessage]) -> MemoryCandidate | None:
    answer = {field: str(row.get(field) or "").strip() for field in _FIELDS}
    if answer["type"] not in set(MemoryType) or not answer["name"] or not answer["description"]:
        return None
    message = by_id.get(answer["message"]) or next((one for one in by_id.values() if answer["quote"] in one.text), None)
    day = message.when.date() if message and message.when else None
    labels = {"Why": answer["why"], "How to apply": answer["how_to_apply"]}
    paragraphs = [f"**{label}:** {words}" for label, words in labels.items() if words]
    body = resolve_dates("\n\n".join([answer["body"] or answer["description"], *paragraphs]), day)
    return MemoryCandidate(
        MemoryType(answer["type"]),
        answer["name"],
        resolve_dates(answer["description"], day).text,
        body.text,
        answer["quote"],
        message.message if message else "",
        message.session if message else "",
        cue="model",
        observed=day,
        when=tuple(each for each in _lines(row.get("when")) if not scan(each))[:MAX_SITUATIONS],
        asks=_lines(row.get("asks")),
    )


def _judge_asks(candidate: MemoryCandidate) -> tuple[MemoryCandidate, tuple[RefusedCandidate, ...]]:
    """A candidate with the asks that may stand, and a refusal for each that is dangerous."""
    topic, dropped = drop_bad_asks(candidate.topic())
    refused = (refuse_ask(each, candidate.message, candidate.session) for each in dropped if each.is_dangerous)
    return replace(candidate, asks=topic.asks), tuple(refused)


def _lines(values: Json) -> tuple[str, ...]:
    """The texts of a list, one line each; what a model gives instead of a list counts for nothing."""
    texts = [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
    return tuple(filter(None, (" ".join(text.split()) for text in texts)))
