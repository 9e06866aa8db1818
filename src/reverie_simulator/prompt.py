"""A request as the sequence of blocks that the model reads: tools, then system, then messages.

Each piece carries a digest of its content without cache marks and its tokens; the prompt cache and the context edits
work on pieces only. Fields of a block are compared whatever their order, but what a user nests inside (`input`,
`input_schema`) keeps its order, because the provider renders it stands. Marks are read here, judged in `rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.facts import ModelFacts
from reverie_simulator.memo import Memo, digest
from reverie_simulator.weights import (
    MESSAGE_TOKENS,
    REPLY_OPENING_TOKENS,
    TOOLS_TOKENS,
    TokenCounter,
    block_tokens,
    tool_tokens,
)
from reverie_simulator.wire import as_object, blocks_at, encode, flag_at, object_at, objects_at, text_at


class PromptLevel(StrEnum):
    """The parts of a prompt in the order in which they are read; a change in one invalidates those after it."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"


@value
class BlockContent:
    """What a block says, wherever it stands; worked out once per content."""

    kind: str
    digest: bytes
    """Of the content without cache marks."""
    tokens: int
    ttl: str | None = None
    """How long a prefix that ends here is to be cached: `5m`, `1h`, or None without a mark."""
    takes_mark: bool = True
    """Whether an automatic mark may land here."""
    tool_use_id: str = ""
    tool_name: str = ""
    deletes: tuple[str, ...] = ()
    """Tool calls whose results a `cache_edits` block removes."""
    has_image: bool = False
    is_cited: bool = False


@value
class PromptPiece:
    """One block of the prompt in its place."""

    content: BlockContent
    level: PromptLevel
    path: str
    """Where it stands in the request, as error messages name places."""
    role: str
    turn: int
    """The message it belongs to."""
    tokens: int
    """Those of the content and of the frame that it opens."""
    tool_name: str = ""
    """The tool that is called or answered."""
    deleted_tokens: int = 0
    """What it weighed before a `cache_edits` block removed it."""

    @property
    def kind(self) -> str:
        return self.content.kind


@value
class SimulatedPrompt:
    """What a request says to the model."""

    facts: ModelFacts
    pieces: tuple[PromptPiece, ...]
    scopes: tuple[tuple[PromptLevel, str], ...]
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
        marks = {at: piece.content.ttl for at, piece in enumerate(self.pieces) if piece.content.ttl is not None}
        if self.automatic_ttl is not None:
            last = next((at for at in reversed(range(len(self.pieces))) if self.pieces[at].content.takes_mark), None)
            if last is not None:
                marks.setdefault(last, self.automatic_ttl)
        return marks


class PromptReader:
    """Turns request bodies into prompts and remembers the blocks it has seen."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._contents: Memo[BlockContent] = Memo(100_000)
        self._tokens: Memo[int] = Memo(100_000)

    def read(self, body: JsonObject, facts: ModelFacts) -> SimulatedPrompt:
        """The prompt of a well-formed body, before any context edit."""
        messages = _since_compaction(self._messages(body, facts))
        pieces = (*self._tools(body, facts), *self._system(body, facts), *messages)
        cache_control = object_at(body, "cache_control")
        return SimulatedPrompt(
            facts=facts,
            pieces=_after_deletions(pieces),
            scopes=tuple(_scopes(body, facts, pieces)),
            automatic_ttl=text_at(cache_control, "ttl", "5m") if cache_control else None,
            thinks=_thinks(body, facts),
        )

    def summary_piece(self, summary: str, facts: ModelFacts) -> PromptPiece:
        """The piece that a summary of everything before it becomes."""
        content = self._content({"type": "compaction", "content": summary}, facts)
        return PromptPiece(content, PromptLevel.MESSAGES, "messages", "assistant", 0, content.tokens + MESSAGE_TOKENS)

    def _tools(self, body: JsonObject, facts: ModelFacts) -> Iterator[PromptPiece]:
        preamble_tokens = TOOLS_TOKENS
        for at, tool in enumerate(objects_at(body, "tools")):
            # A deferred tool is not in the prompt until a search brings it up.
            if flag_at(tool, "defer_loading"):
                continue
            content = self._tool_content(tool, facts)
            tokens = content.tokens + preamble_tokens
            yield PromptPiece(content, PromptLevel.TOOLS, f"tools.{at}", "", 0, tokens, content.tool_name)
            preamble_tokens = 0

    def _system(self, body: JsonObject, facts: ModelFacts) -> Iterator[PromptPiece]:
        for at, block in enumerate(blocks_at(body, "system")):
            content = self._content(block, facts)
            yield PromptPiece(content, PromptLevel.SYSTEM, f"system.{at}", "system", 0, content.tokens)

    def _messages(self, body: JsonObject, facts: ModelFacts) -> Iterator[PromptPiece]:
        tool_names: dict[str, str] = {}
        role_before = ""
        for turn, message in enumerate(objects_at(body, "messages")):
            role = text_at(message, "role")
            for at, block in enumerate(blocks_at(message, "content")):
                content = self._content(block, facts)
                # A summary that failed says nothing.
                if content.kind == "compaction" and block.get("content") is None:
                    continue
                if content.kind == "tool_use":
                    tool_names[content.tool_use_id] = content.tool_name
                tokens = content.tokens if role == role_before else content.tokens + MESSAGE_TOKENS
                tool_name = tool_names.get(content.tool_use_id, "")
                path = f"messages.{turn}.content.{at}"
                yield PromptPiece(content, PromptLevel.MESSAGES, path, role, turn, tokens, tool_name)
                role_before = role

    def _content(self, block: JsonObject, facts: ModelFacts) -> BlockContent:
        generation = str(facts.tokens_factor).encode()
        return self._contents.get(digest(encode(block), generation), lambda: self._new_content(block, facts))

    def _new_content(self, block: JsonObject, facts: ModelFacts) -> BlockContent:
        key = digest(encode(canonical(block)))
        generation = str(facts.tokens_factor).encode()
        return BlockContent(
            kind=text_at(block, "type"),
            digest=key,
            tokens=self._tokens.get(digest(key, generation), lambda: block_tokens(block, facts, self.counter)),
            ttl=_ttl(block),
            takes_mark=takes_mark(block),
            tool_use_id=text_at(block, "id") or text_at(block, "tool_use_id"),
            tool_name=text_at(block, "name"),
            deletes=tuple(text_at(edit, "cache_reference") for edit in objects_at(block, "edits")),
            has_image=any(each.get("type") == "image" for each in (block, *objects_at(block, "content"))),
            is_cited=flag_at(object_at(block, "citations"), "enabled"),
        )

    def _tool_content(self, tool: JsonObject, facts: ModelFacts) -> BlockContent:
        skipped = {"cache_control", "type"} if text_at(tool, "type", "custom") == "custom" else {"cache_control"}
        key = digest(b"tool", encode(_own_fields(tool, skipped)))
        generation = str(facts.tokens_factor).encode()
        tokens = self._tokens.get(digest(key, generation), lambda: tool_tokens(tool, facts, self.counter))
        return BlockContent(kind="tool", digest=key, tokens=tokens, ttl=_ttl(tool), tool_name=text_at(tool, "name"))


def canonical(block: JsonObject) -> Json:
    """The block without cache marks and empty fields, its own fields in one order."""
    fields = dict(_own_fields(block, {"cache_control"}))
    if block.get("type") == "tool_result":
        fields["content"] = [canonical(inside) for inside in blocks_at(block, "content")]
        if fields.get("is_error") is False:
            del fields["is_error"]
    elif isinstance(inside := fields.get("content"), list):
        fields["content"] = [canonical(as_object(each)) for each in inside]
    if isinstance(source := fields.get("source"), dict):
        fields["source"] = canonical(source)
    return fields


def _own_fields(block: JsonObject, skipped: set[str]) -> JsonObject:
    return {key: block[key] for key in sorted(block) if key not in skipped and block[key] is not None}


def _ttl(block: JsonObject) -> str | None:
    """The mark on a block. Blocks inside it cannot be cached on their own, so their mark is the block's."""
    for holder in (block, *objects_at(block, "content")):
        if cache_control := object_at(holder, "cache_control"):
            return text_at(cache_control, "ttl", "5m")
    return None


def takes_mark(block: JsonObject) -> bool:
    """Whether an automatic mark may land on a block."""
    match block.get("type"):
        case "thinking" | "redacted_thinking" | "cache_edits":
            return False
        case "text":
            return bool(text_at(block, "text"))
        case _:
            return True


def _since_compaction(messages: Iterable[PromptPiece]) -> list[PromptPiece]:
    """Drop what a summary stands for: everything before the last one."""
    pieces: list[PromptPiece] = []
    for piece in messages:
        if piece.kind == "compaction":
            pieces.clear()
        pieces.append(piece)
    return pieces


def _after_deletions(pieces: tuple[PromptPiece, ...]) -> tuple[PromptPiece, ...]:
    """Empty the results that `cache_edits` blocks remove; their digests stay, so the prefix does too."""
    gone = {name for piece in pieces for name in piece.content.deletes}
    if not gone:
        return pieces
    return tuple(
        replace(piece, tokens=0, deleted_tokens=piece.tokens)
        if piece.kind == "tool_result" and piece.content.tool_use_id in gone
        else piece
        for piece in pieces
    )


def _thinks(body: JsonObject, facts: ModelFacts) -> bool:
    kind = object_at(body, "thinking").get("type")
    return kind != "disabled" if kind else facts.thinks_unasked


def _scopes(body: JsonObject, facts: ModelFacts, pieces: tuple[PromptPiece, ...]) -> Iterator[tuple[PromptLevel, str]]:
    """What besides the blocks decides whether a prefix may be reused, and from which level on."""
    thinking, output = object_at(body, "thinking"), object_at(body, "output_config")
    choice = body.get("tool_choice") or ({"type": "auto"} if body.get("tools") else None)
    yield PromptLevel.TOOLS, f"model={facts.name}"
    yield PromptLevel.SYSTEM, f"speed={text_at(body, 'speed', 'standard')}"
    yield PromptLevel.SYSTEM, f"citations={any(piece.content.is_cited for piece in pieces)}"
    yield PromptLevel.MESSAGES, f"thinking={text_at(thinking, 'type', 'default')}:{thinking.get('budget_tokens')}"
    yield PromptLevel.MESSAGES, f"effort={text_at(output, 'effort', 'high')}"
    yield PromptLevel.MESSAGES, f"tool_choice={encode(choice).decode()}"
    yield PromptLevel.MESSAGES, f"images={any(piece.content.has_image for piece in pieces)}"
