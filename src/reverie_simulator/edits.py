"""Context edits that the provider applies before the model reads: clearing old tool results and old reasoning.

Works on the pieces of a prompt and never on the request; the client keeps its history and the same edits run again on
the next request. A cleared piece is another piece, so the cached prefix ends where clearing begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value
from reverie_simulator.memo import digest
from reverie_simulator.prompt import PromptLevel, PromptPiece, SimulatedPrompt
from reverie_simulator.weights import CALL_TOKENS, CLEARED_TOKENS
from reverie_simulator.wire import number_at, object_at, objects_at, text_at, texts_at

CLEAR_TOOL_USES = "clear_tool_uses_20250919"
CLEAR_THINKING = "clear_thinking_20251015"
COMPACT = "compact_20260112"

TRIGGER_TOKENS = 100_000
KEEP_TOOL_USES = 3


@value
class AppliedEdit:
    """What one edit took away."""

    kind: str
    count: int
    tokens: int

    def as_json(self) -> dict[str, Json]:
        counted = "cleared_thinking_turns" if self.kind == CLEAR_THINKING else "cleared_tool_uses"
        return {"type": self.kind, counted: self.count, "cleared_input_tokens": self.tokens}


def edit_prompt(prompt: SimulatedPrompt, body: JsonObject) -> tuple[SimulatedPrompt, tuple[AppliedEdit, ...]]:
    """Apply the edits of a request in their order; without one for reasoning, the model's own habit applies."""
    edits = objects_at(object_at(body, "context_management"), "edits")
    applied: list[AppliedEdit] = []
    if not any(edit.get("type") == CLEAR_THINKING for edit in edits):
        prompt = without_stale_thinking(prompt)
    for edit in edits:
        match edit.get("type"):
            case "clear_thinking_20251015":
                prompt, done = clear_thinking(prompt, edit)
            case "clear_tool_uses_20250919":
                prompt, done = clear_tool_uses(prompt, edit)
            case _:
                done = None
        if done is not None:
            applied.append(done)
    return prompt, tuple(applied)


def without_stale_thinking(prompt: SimulatedPrompt) -> SimulatedPrompt:
    """Leave out reasoning that the model does not read again, as the provider does unasked."""
    if prompt.thinks and prompt.facts.keeps_old_thinking:
        return prompt
    current = _current_turns(prompt.pieces) if prompt.thinks else frozenset[int]()
    return _with_pieces(prompt, (piece for piece in prompt.pieces if not _is_thinking(piece) or piece.turn in current))


def clear_thinking(prompt: SimulatedPrompt, edit: JsonObject) -> tuple[SimulatedPrompt, AppliedEdit | None]:
    """Keep the reasoning of the last turns only."""
    keep = edit.get("keep")
    if keep == "all" or object_at(edit, "keep").get("type") == "all":
        return prompt, None
    loops = _loops(prompt.pieces)
    with_thinking = sorted({loop for piece, loop in loops if _is_thinking(piece)})
    kept_loops = set(with_thinking[-number_at(object_at(edit, "keep"), "value", 1) :])
    gone = [(piece, loop) for piece, loop in loops if _is_thinking(piece) and loop not in kept_loops]
    if not gone:
        return prompt, None
    remaining = _with_pieces(prompt, (piece for piece, loop in loops if not _is_thinking(piece) or loop in kept_loops))
    freed = sum(piece.tokens for piece, _ in gone)
    return remaining, AppliedEdit(CLEAR_THINKING, len({loop for _, loop in gone}), freed)


def clear_tool_uses(prompt: SimulatedPrompt, edit: JsonObject) -> tuple[SimulatedPrompt, AppliedEdit | None]:
    """Empty the oldest tool results once the trigger is reached, and the calls too where that is asked for."""
    if not _is_triggered(prompt, object_at(edit, "trigger")):
        return prompt, None
    keep = number_at(object_at(edit, "keep"), "value", KEEP_TOOL_USES)
    excluded = set(texts_at(edit, "exclude_tools"))
    results = [piece for piece in prompt.pieces if piece.kind == "tool_result"]
    old = results[: max(0, len(results) - keep)]
    ids = {piece.content.tool_use_id for piece in old if piece.tool_name not in excluded}
    pieces = tuple(_clear_piece(piece, ids, edit.get("clear_tool_inputs")) for piece in prompt.pieces)
    freed = _weight(prompt.pieces) - _weight(pieces)
    if not ids or freed <= 0 or freed < number_at(object_at(edit, "clear_at_least"), "value"):
        return prompt, None
    return replace(prompt, pieces=pieces), AppliedEdit(CLEAR_TOOL_USES, len(ids), freed)


def _is_triggered(prompt: SimulatedPrompt, trigger: JsonObject) -> bool:
    if text_at(trigger, "type") == "tool_uses":
        return sum(piece.kind == "tool_use" for piece in prompt.pieces) > number_at(trigger, "value")
    return prompt.tokens > number_at(trigger, "value", TRIGGER_TOKENS)


def _clear_piece(piece: PromptPiece, ids: set[str], inputs: Json) -> PromptPiece:
    if piece.content.tool_use_id not in ids or piece.tokens <= CALL_TOKENS + CLEARED_TOKENS:
        return piece
    clears = piece.kind == "tool_result" or (
        piece.kind == "tool_use" and (inputs is True or (isinstance(inputs, list) and piece.tool_name in inputs))
    )
    if not clears:
        return piece
    content = replace(piece.content, digest=digest(b"cleared", piece.content.digest))
    return replace(piece, content=content, tokens=CALL_TOKENS + CLEARED_TOKENS)


def _with_pieces(prompt: SimulatedPrompt, pieces: Iterable[PromptPiece]) -> SimulatedPrompt:
    return replace(prompt, pieces=tuple(pieces))


def _is_thinking(piece: PromptPiece) -> bool:
    return piece.kind in {"thinking", "redacted_thinking"}


def _current_turns(pieces: tuple[PromptPiece, ...]) -> frozenset[int]:
    """The messages since the user last said something that is no tool result."""
    loops = _loops(pieces)
    last = loops[-1][1] if loops else 0
    return frozenset(piece.turn for piece, loop in loops if loop == last)


def _loops(pieces: tuple[PromptPiece, ...]) -> list[tuple[PromptPiece, int]]:
    """Each piece with the number of its assistant turn: all calls and results up to the user's next own words."""
    numbered, loop = [], 0
    for piece in pieces:
        if _is_said_by_user(piece):
            loop += 1
        numbered.append((piece, loop))
    return numbered


def _is_said_by_user(piece: PromptPiece) -> bool:
    return (
        piece.level is PromptLevel.MESSAGES
        and piece.role == "user"
        and piece.kind not in {"tool_result", "cache_edits"}
    )


def _weight(pieces: tuple[PromptPiece, ...]) -> int:
    return sum(piece.tokens for piece in pieces)
