"""Extraction by questions to a model: what messages of the user teach, judged by the gate like what the rules find.

`learn` asks it about past sessions, a session without a model of its own about each turn. Where a reply cannot be used,
the rules read those messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reverie.errors import BadRequest, ContextTooLong, Unavailable
from reverie.memory.extraction.candidate import MemoryCandidate, UserMessage
from reverie.memory.extraction.extract import Extracted, let_through
from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.gate import ForeignText, GateContext
from reverie.memory.extraction.model_question import ANSWER_TOKENS, ModelAnswer, prompt_for, propose
from reverie.memory.extraction.session import SessionWords
from reverie.memory.store.erased_sentences import normal
from reverie.values import value

if TYPE_CHECKING:
    from reverie.models.ports import Model

TRIES = 3
"""A question that fails is asked again twice."""


@value
class Estimate:
    """What asking a model would come to."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    """At most."""
    cost_usd: float | None = 0.0
    """At most; None when the price is not known."""

    def __add__(self, other: Estimate) -> Estimate:
        unknown = self.cost_usd is None or other.cost_usd is None
        return Estimate(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
        )


async def extract_with_model(
    model: Model, words: SessionWords, pieces: Sequence[Sequence[UserMessage]], scene: GateContext, manifest: str
) -> tuple[Extracted, tuple[str, ...]]:
    """What these messages of a session teach, and why replies could not be used; `manifest` lists what is known.

    Raises:
        Unavailable: the model does not answer.
        Refused: the budget is spent.
    """
    answers: list[ModelAnswer] = []
    for piece in pieces:
        try:
            answer = await _ask(piece, manifest, model)
        except (BadRequest, ContextTooLong, ValueError) as problem:
            # Asking again would not help: what this reply is worth is lost, and nothing else.
            answer = ModelAnswer(problem=str(problem))
        answers.append(_complete_by_rules(answer, piece) if answer.problem else answer)
    said = tuple(ForeignText(message.text) for piece in pieces for message in piece)
    candidates = [each for answer in answers for each in answer.candidates]
    extracted = let_through(words, candidates, replace(scene, said=said))
    dropped_asks = (refusal for answer in answers for refusal in answer.refused)
    problems = tuple(answer.problem for answer in answers if answer.problem)
    return replace(extracted, refused=(*extracted.refused, *dropped_asks)), problems


def estimate_questions(model: str, pieces: Iterable[Sequence[UserMessage]], manifest: str) -> Estimate:
    """What asking a model about these messages would come to."""
    return sum((_estimate(model, prompt_for(piece, manifest)) for piece in pieces), Estimate())


async def _ask(piece: Sequence[UserMessage], manifest: str, model: Model) -> ModelAnswer:
    from reverie.models.flow import run_flow
    from reverie.models.ports import Request

    for attempt in range(TRIES):
        try:
            return await run_flow(propose(piece, manifest), model, Request(model.name, ()))
        except (BadRequest, ContextTooLong):
            raise
        except Unavailable:
            if attempt == TRIES - 1:
                raise
    raise AssertionError("the last attempt answers or raises")


def _complete_by_rules(answer: ModelAnswer, piece: Sequence[UserMessage]) -> ModelAnswer:
    """An answer of which a part is missing, with what the rules find where the model said nothing."""
    quotes = [normal(each.quote) for each in answer.candidates]

    def is_new(candidate: MemoryCandidate) -> bool:
        words = normal(candidate.quote)
        return not any(words in quote or quote in words for quote in quotes)

    by_rules = (one for each in piece for one in find_candidates(each))
    return replace(answer, candidates=(*answer.candidates, *filter(is_new, by_rules)))


def _estimate(model: str, prompt: str) -> Estimate:
    from reverie.messages.message import Usage
    from reverie.models.profiles import cost, profile
    from reverie.models.tokens.estimate import weigh_text
    from reverie.models.tokens.rates import rates_for

    facts = profile(model)
    tokens = int(weigh_text(prompt, rates_for(facts)))
    return Estimate(1, tokens, ANSWER_TOKENS, cost(Usage(tokens, ANSWER_TOKENS), facts))
