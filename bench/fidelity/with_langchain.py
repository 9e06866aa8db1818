"""LangChain's two context middlewares on our items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.fidelity.cuts import weigh_items
from bench.fidelity.pipe import Piped, pieces_of
from reverie.messages.view import Item

CHILD = Path(__file__).with_name("langchain_child.py")
DEFAULT_TRIM_TOKENS = 4_000
"""How much of the history LangChain shows its summariser unless told otherwise."""


class LangChain(Piped):
    """A child process with the middlewares."""

    def __init__(self, python: Path) -> None:
        super().__init__(python, CHILD)

    def summarised(self, items: Sequence[Item], budget_tokens: float, *, trims: bool) -> list[Item]:
        """`SummarizationMiddleware`, as it is or shown the whole of what it sums up."""
        trim = DEFAULT_TRIM_TOKENS if trims else None
        return self.summed_up(items, budget_tokens, {"do": "summarise", "trim_tokens": trim})

    def edited(self, items: Sequence[Item], budget_tokens: float) -> list[Item]:
        """`ContextEditingMiddleware`: the fewest tool results that reach the budget, three at least."""
        return self._keeping(items, self._fewest(items, budget_tokens))

    def edits_as_set_up(self) -> Callable[[Sequence[Item], float], list[Item]]:
        """The same as in a running session, where the number is set once: that which fits when it is first needed."""
        numbers: dict[tuple[str, float], int] = {}
        views: dict[tuple[str, int, int], list[Item]] = {}

        def edited(items: Sequence[Item], budget_tokens: float) -> list[Item]:
            key = (items[0].uuid, budget_tokens)
            if key not in numbers:
                numbers[key] = self._fewest(items, budget_tokens)
            # Several budgets often come to the same number.
            place = (items[0].uuid, len(items), numbers[key])
            if place not in views:
                views[place] = self._keeping(items, numbers[key])
            return views[place]

        return edited

    def _keeping(self, items: Sequence[Item], results: int) -> list[Item]:
        return self.run({"do": "edit", "keep": results}, pieces_of(items), lambda _: "")

    def _fewest(self, items: Sequence[Item], budget_tokens: float) -> int:
        pieces = pieces_of(items)
        results = sum(1 for piece in pieces if piece.wire["kind"] == "tool")
        low, high = 3, max(3, results)
        while low < high:
            middle = (low + high) // 2
            view = self.run({"do": "edit", "keep": middle}, pieces, lambda _: "")
            if weigh_items(view) >= budget_tokens:
                high = middle
            else:
                low = middle + 1
        return low
