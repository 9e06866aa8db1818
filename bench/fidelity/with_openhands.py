"""OpenHands' summarising condenser on our items. It needs Python 3.12 or newer, so it has an environment of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.fidelity.pipe import Piped
from reverie.messages.view import Item

CHILD = Path(__file__).with_name("openhands_child.py")


class OpenHands(Piped):
    """A child process with the condenser."""

    def __init__(self, python: Path) -> None:
        super().__init__(python, CHILD)

    def condensed(self, items: Sequence[Item], budget_tokens: float) -> list[Item]:
        """`LLMSummarizingCondenser` with the first messages kept that its default keeps.

        Its summariser is shown the forgotten messages whole, where the original shows 500 characters of each.
        """
        return self.summed_up(items, budget_tokens, {"do": "condense"})
