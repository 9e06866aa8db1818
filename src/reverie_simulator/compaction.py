"""Server-side compaction: when it runs, what it reads, and what the request looks like afterwards."""

from __future__ import annotations

from dataclasses import replace

from reverie.messages.blocks import JsonObject
from reverie.values import value
from reverie_simulator.edits import COMPACT
from reverie_simulator.memo import digest
from reverie_simulator.prompt import BlockContent, PromptLevel, PromptPiece, SimulatedPrompt
from reverie_simulator.wire import flag_at, number_at, object_at, objects_at, text_at

TRIGGER_TOKENS = 150_000
INSTRUCTION_TOKENS = 97
"""The provider's own request for a summary (recorded: 100 uncached tokens with the reply's opening)."""


@value
class RequestedCompaction:
    """What a request asks for when its prompt grows too long."""

    trigger_tokens: int
    pauses: bool
    """Whether the reply ends with the summary, so that the client can add to it before going on."""
    instructions: str

    def runs_on(self, prompt: SimulatedPrompt) -> bool:
        return prompt.tokens >= self.trigger_tokens


def compaction_of(body: JsonObject) -> RequestedCompaction | None:
    """The compaction that a request asks for, if any."""
    for edit in objects_at(object_at(body, "context_management"), "edits"):
        if edit.get("type") == COMPACT:
            return RequestedCompaction(
                trigger_tokens=number_at(object_at(edit, "trigger"), "value", TRIGGER_TOKENS),
                pauses=flag_at(edit, "pause_after_compaction"),
                instructions=text_at(edit, "instructions"),
            )
    return None


def summary_request(prompt: SimulatedPrompt, instruction_tokens: int) -> SimulatedPrompt:
    """The prompt of the pass that writes the summary: the whole conversation and a request at its end."""
    content = BlockContent("text", digest(b"summarise"), instruction_tokens, takes_mark=False)
    ask = PromptPiece(content, PromptLevel.MESSAGES, "compaction", "user", 0, instruction_tokens)
    return replace(prompt, pieces=(*prompt.pieces, ask))


def after_summary(prompt: SimulatedPrompt, summary: PromptPiece) -> SimulatedPrompt:
    """The prompt once the summary stands for all messages."""
    before_messages = (piece for piece in prompt.pieces if piece.level is not PromptLevel.MESSAGES)
    return replace(prompt, pieces=(*before_messages, summary))
