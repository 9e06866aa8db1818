"""A request as the sequence that the model reads: tools, then system, then messages, block by block.

Each piece carries a digest of its content without cache marks and its tokens; the prompt cache and the context edits
work on pieces only. Fields of a block are compared whatever their order, but what a user nests inside (`input`,
`input_schema`) keeps its order, because the provider renders it as it stands. Marks are read here, judged in `rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from reverie.messages.blocks import Json, JsonObject
from reverie.simulator.counting import TokenCounter
from reverie.simulator.facts import ModelFacts
from reverie.simulator.memo import Memo, digest
from reverie.simulator.weights import (
    MESSAGE_TOKENS,
    REPLY_OPENING_TOKENS,
    TOOLS_TOKENS,
    block_tokens,
    tool_tokens,
)
from reverie.simulator.wire import as_object, blocks_at, encode, flag_at, object_at, objects_at, text_at


class Level(StrEnum):
    """The parts of a prompt in the order in which they are read; a change in one invalidates those after it."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of the prompt."""

    level: Level
    path: str
    """Where it stands in the request, as error messages name places."""
    role: str
    kind: str
    digest: bytes
    tokens: int
    ttl: str | None = None
    """How long a prefix that ends here is to be cached: `5m`, `1h`, or None without a mark."""
    takes_mark: bool = True
    """Whether an automatic mark may land here."""
    turn: int = 0
    """The message it belongs to."""
    tool_use_id: str = ""
    tool_name: str = ""
    deletes: tuple[str, ...] = ()
    """Tool calls whose results a `cache_edits` block removes."""
    deleted_tokens: int = 0
    """What it weighed before a `cache_edits` block removed it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a request says to the model."""

    facts: ModelFacts
    pieces: tuple[Piece, ...]
    scopes: tuple[tuple[Level, str], ...]
    """Settings that are part of the cache key from a level on: changing one changes all hashes from there."""
    automatic_ttl: str | None = None
    """The top-level mark, which lands on the last block that takes one."""
    thinks: bool = False

    @property
    def tokens(self) -> int:
        """All input tokens."""
        return sum(piece.tokens for piece in self.pieces) + REPLY_OPENING_TOKENS

    @property
    def deleted_tokens(self) -> int:
        return sum(piece.deleted_tokens for piece in self.pieces)

    def marks(self) -> dict[int, str]:
        """Position and lifetime of every breakpoint, the automatic one included."""
        marks = {at: piece.ttl for at, piece in enumerate(self.pieces) if piece.ttl is not None}
        if self.automatic_ttl is not None:
            last = next((at for at in reversed(range(len(self.pieces))) if self.pieces[at].takes_mark), None)
            if last is not None:
                marks.setdefault(last, self.automatic_ttl)
        return marks


class PromptReader:
    """Turns request bodies into prompts and remembers the tokens of blocks it has seen."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._tokens: Memo[int] = Memo(100_000)

    def read(self, body: JsonObject, facts: ModelFacts) -> Prompt:
        """The prompt of a well-formed body, before any context edit."""
        pieces = (*self._tools(body, facts), *self._system(body, facts), *self._messages(body, facts))
        cache_control = object_at(body, "cache_control")
        return Prompt(
            facts=facts,
            pieces=_after_deletions(_with_turn_frames(_since_compaction(pieces))),
            scopes=tuple(_scopes(body, facts)),
            automatic_ttl=text_at(cache_control, "ttl", "5m") if cache_control else None,
            thinks=_thinks(body, facts),
        )

    def summary_piece(self, summary: str, facts: ModelFacts) -> Piece:
        """The piece that a summary of everything before it becomes."""
        block: JsonObject = {"type": "compaction", "content": summary}
        return self._block_piece(block, facts, Level.MESSAGES, "messages", "assistant", 0)

    def _tools(self, body: JsonObject, facts: ModelFacts) -> Iterator[Piece]:
        preamble = TOOLS_TOKENS
        for at, tool in enumerate(objects_at(body, "tools")):
            # A deferred tool is not in the prompt until a search brings it up.
            if flag_at(tool, "defer_loading"):
                continue
            content = encode(_own_fields(tool, without={"cache_control", "type"} if _is_custom(tool) else None))
            key = digest(b"tool", content, str(facts.tokens_factor).encode())
            tokens = self._tokens.get(key, lambda tool=tool: tool_tokens(tool, facts, self.counter))  # type: ignore[misc]
            yield Piece(
                level=Level.TOOLS,
                path=f"tools.{at}",
                role="",
                kind="tool",
                digest=key,
                tokens=tokens + preamble,
                ttl=_ttl(tool),
                tool_name=text_at(tool, "name"),
            )
            preamble = 0

    def _system(self, body: JsonObject, facts: ModelFacts) -> Iterator[Piece]:
        for at, block in enumerate(blocks_at(body, "system")):
            yield self._block_piece(block, facts, Level.SYSTEM, f"system.{at}", "system", 0)

    def _messages(self, body: JsonObject, facts: ModelFacts) -> Iterator[Piece]:
        tool_names: dict[str, str] = {}
        for turn, message in enumerate(objects_at(body, "messages")):
            role = text_at(message, "role")
            for at, block in enumerate(blocks_at(message, "content")):
                if block.get("type") == "compaction" and block.get("content") is None:
                    continue
                path = f"messages.{turn}.content.{at}"
                piece = self._block_piece(block, facts, Level.MESSAGES, path, role, turn)
                if piece.kind == "tool_use":
                    tool_names[piece.tool_use_id] = piece.tool_name
                elif piece.kind == "tool_result":
                    piece = replace(piece, tool_name=tool_names.get(piece.tool_use_id, ""))
                yield piece

    def _block_piece(
        self, block: JsonObject, facts: ModelFacts, level: Level, path: str, role: str, turn: int
    ) -> Piece:
        content = encode(canonical(block))
        key = digest(content, str(facts.tokens_factor).encode())
        kind = text_at(block, "type")
        return Piece(
            level=level,
            path=path,
            role=role,
            kind=kind,
            digest=digest(level.encode(), role.encode(), content),
            tokens=self._tokens.get(key, lambda: block_tokens(block, facts, self.counter)),
            ttl=_ttl(block),
            takes_mark=_takes_mark(block),
            turn=turn,
            tool_use_id=text_at(block, "id") or text_at(block, "tool_use_id"),
            tool_name=text_at(block, "name"),
            deletes=tuple(text_at(edit, "cache_reference") for edit in objects_at(block, "edits")),
        )


def canonical(block: JsonObject) -> Json:
    """The block without cache marks and empty fields, its own fields in one order."""
    fields = dict(_own_fields(block))
    if block.get("type") == "tool_result":
        fields["content"] = [canonical(inside) for inside in blocks_at(block, "content")]
        if fields.get("is_error") is False:
            del fields["is_error"]
    elif isinstance(inside := fields.get("content"), list):
        fields["content"] = [canonical(as_object(each)) for each in inside]
    if isinstance(source := fields.get("source"), dict):
        fields["source"] = canonical(source)
    return fields


def _own_fields(block: JsonObject, without: set[str] | None = None) -> JsonObject:
    skipped = without or {"cache_control"}
    return {key: block[key] for key in sorted(block) if key not in skipped and block[key] is not None}


def _is_custom(tool: JsonObject) -> bool:
    return text_at(tool, "type", "custom") == "custom"


def _ttl(block: JsonObject) -> str | None:
    """The mark on a block. Blocks inside it cannot be cached on their own, so their mark is the block's."""
    for holder in (block, *objects_at(block, "content")):
        if cache_control := object_at(holder, "cache_control"):
            return text_at(cache_control, "ttl", "5m")
    return None


def _takes_mark(block: JsonObject) -> bool:
    match block.get("type"):
        case "thinking" | "redacted_thinking" | "cache_edits":
            return False
        case "text":
            return bool(text_at(block, "text"))
        case _:
            return True


def _since_compaction(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Drop what a summary stands for: every message before the last one."""
    last = max((at for at, piece in enumerate(pieces) if piece.kind == "compaction"), default=0)
    return tuple(piece for at, piece in enumerate(pieces) if at >= last or piece.level is not Level.MESSAGES)


def _with_turn_frames(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Add the frame of a turn to its first block; neighbours of one role are one turn."""
    framed, before = [], ""
    for piece in pieces:
        starts_turn = piece.level is Level.MESSAGES and piece.role != before
        framed.append(replace(piece, tokens=piece.tokens + MESSAGE_TOKENS) if starts_turn else piece)
        before = piece.role
    return tuple(framed)


def _after_deletions(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Empty the results that `cache_edits` blocks remove; their digests stay, so the prefix does too."""
    gone = {name for piece in pieces for name in piece.deletes}
    if not gone:
        return pieces
    return tuple(
        replace(piece, tokens=0, deleted_tokens=piece.tokens)
        if piece.kind == "tool_result" and piece.tool_use_id in gone
        else piece
        for piece in pieces
    )


def _thinks(body: JsonObject, facts: ModelFacts) -> bool:
    kind = object_at(body, "thinking").get("type")
    return kind != "disabled" if kind else facts.version >= (5, 0)


def _scopes(body: JsonObject, facts: ModelFacts) -> Iterator[tuple[Level, str]]:
    """What besides the blocks decides whether a prefix may be reused, and from which level on."""
    thinking, output = object_at(body, "thinking"), object_at(body, "output_config")
    choice = body.get("tool_choice") or ({"type": "auto"} if body.get("tools") else None)
    yield Level.TOOLS, f"model={facts.name}"
    yield Level.SYSTEM, f"speed={text_at(body, 'speed', 'standard')}"
    yield Level.SYSTEM, f"citations={_cites(body)}"
    yield Level.MESSAGES, f"thinking={text_at(thinking, 'type', 'default')}:{thinking.get('budget_tokens')}"
    yield Level.MESSAGES, f"effort={text_at(output, 'effort', 'high')}"
    yield Level.MESSAGES, f"tool_choice={encode(choice).decode()}"
    yield Level.MESSAGES, f"images={has_images(objects_at(body, 'messages'))}"


def has_images(messages: Iterable[JsonObject]) -> bool:
    """Whether an image stands anywhere, inside tool results too."""
    return any(
        each.get("type") == "image"
        for message in messages
        for block in objects_at(message, "content")
        for each in (block, *objects_at(block, "content"))
    )


def _cites(body: JsonObject) -> bool:
    return any(
        flag_at(object_at(block, "citations"), "enabled")
        for message in objects_at(body, "messages")
        for block in objects_at(message, "content")
    )
