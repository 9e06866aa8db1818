"""OpenHands' summarising condenser on our items. It needs Python 3.12 or newer, so it has an environment of its own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.fidelity.pipe import Piped, environment
from reverie.messages.view import Item

CHILD = Path(__file__).with_name("openhands_child.py")
NEWER = ("python3.12", "python3.13", "python3.14")


def openhands_python(folder: Path, interpreter: str | None = None) -> Path | None:
    """The Python of an environment with their SDK; None without a new enough Python or when it cannot be installed."""
    found = interpreter or (sys.executable if sys.version_info >= (3, 12) else None)
    found = found or next((path for name in NEWER if (path := shutil.which(name))), None)
    ready = folder / "openhands" / "bin" / "python"
    if found is None and not ready.exists():
        return None
    return environment(folder / "openhands", "openhands.sdk", "openhands-sdk", found or str(ready))


class OpenHands(Piped):
    """A child process with the condenser."""

    def __init__(self, python: Path) -> None:
        super().__init__(python, CHILD)

    def condensed(self, items: Sequence[Item], budget_tokens: float) -> list[Item]:
        """`LLMSummarizingCondenser` with the first messages kept that its default keeps.

        Its summariser is shown the forgotten messages whole, where the original shows 500 characters of each.
        """
        return self.summed_up(items, budget_tokens, {"do": "condense"})
