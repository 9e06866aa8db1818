"""Rules about reasoning: what may be asked for, and how reasoning blocks must come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from reverie.messages.blocks import JsonObject
from reverie_simulator.facts import ModelFacts
from reverie_simulator.replies import is_forged
from reverie_simulator.rules.conversation import RoleTurn
from reverie_simulator.wire import number_at, object_at, text_at

GUIDE = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
BLOCKS = ("thinking", "redacted_thinking")


def check_thinking(body: JsonObject, turns: Sequence[RoleTurn], facts: ModelFacts, *, interleaved: bool) -> str | None:
    """The first rule about reasoning that the request breaks."""
    return next(chain(_setting_problems(body, facts, interleaved), _block_problems(body, turns)), None)


def _setting_problems(body: JsonObject, facts: ModelFacts, interleaved: bool) -> Iterator[str]:
    thinking = object_at(body, "thinking")
    match thinking.get("type"):
        case "enabled":
            yield from _budget_problems(body, facts, number_at(thinking, "budget_tokens"), interleaved)
        case "adaptive" if not facts.takes_adaptive_thinking:
            yield "adaptive thinking is not supported on this model"


def _budget_problems(body: JsonObject, facts: ModelFacts, budget: int, interleaved: bool) -> Iterator[str]:
    if not facts.takes_thinking_budget:
        if facts.takes_adaptive_thinking:
            yield (
                '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
                '"output_config.effort" to control thinking behavior.'
            )
        else:
            yield f"'{facts.name}' does not support thinking."
    if "max_tokens" in body and number_at(body, "max_tokens") <= budget and not interleaved:
        yield (
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "
            f"{GUIDE}#max-tokens-and-context-window-size"
        )
    if object_at(body, "tool_choice").get("type") in {"any", "tool"}:
        yield "Thinking may not be enabled when tool_choice forces tool use."
    settings = f"Please consult our documentation at {GUIDE}#important-considerations-when-using-extended-thinking"
    if body.get("temperature", 1) != 1:
        yield f"`temperature` may only be set to 1 when thinking is enabled. {settings}"
    top_p = body.get("top_p", 1)
    if isinstance(top_p, int | float) and top_p < 0.95:
        yield f"`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled. {settings}"
    if "top_k" in body:
        yield f"`top_k` must be unset when thinking is enabled. {settings}"


def _block_problems(body: JsonObject, turns: Sequence[RoleTurn]) -> Iterator[str]:
    for turn in turns:
        for placed in turn.blocks:
            if placed.kind == "thinking" and is_forged(
                text_at(placed.block, "thinking"), text_at(placed.block, "signature")
            ):
                yield f"{placed.path}: Invalid `signature` in `thinking` block"
    loop = _open_loop(turns)
    if not loop:
        return
    final = loop[-1]
    match object_at(body, "thinking").get("type"):
        case "enabled":
            begins = any(turn.blocks and turn.blocks[0].kind in BLOCKS for turn in loop)
            if not begins and final.blocks:
                yield (
                    f"{final.blocks[0].path}.type: Expected `thinking` or `redacted_thinking`, but found "
                    f"`{final.blocks[0].kind}`. When `thinking` is enabled, a final `assistant` message must start "
                    "with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We "
                    "recommend you include thinking blocks from previous turns. To avoid this requirement, disable "
                    f"`thinking`. Please consult our documentation at {GUIDE}"
                )
        case "disabled" if turns[-1] is final:
            for placed in final.blocks:
                if placed.kind in BLOCKS:
                    yield (
                        f"{placed.path}: When thinking is disabled, an `assistant` message in the final position "
                        f"cannot contain `{placed.kind}`. To use thinking blocks, enable `thinking` in your request."
                    )
    if turns[-1] is final and final.blocks and final.blocks[-1].kind in BLOCKS:
        yield f"{final.blocks[-1].path}: The final block in an assistant message cannot be `thinking`."


def _open_loop(turns: Sequence[RoleTurn]) -> list[RoleTurn]:
    """The assistant's turns since the user last said something that is no tool result."""
    loop: list[RoleTurn] = []
    for turn in reversed(turns):
        if turn.role == "user" and any(placed.kind not in {"tool_result", "cache_edits"} for placed in turn.blocks):
            # Words that follow results in one message still belong to the loop those results continue.
            if not any(placed.kind == "tool_result" for placed in turn.blocks):
                break
        elif turn.role == "assistant":
            loop.insert(0, turn)
    return loop
