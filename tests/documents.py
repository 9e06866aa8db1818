"""The examples of the documents: which blocks there are, what was said of each, and the commands in them.

A block runs unless a comment above it says why it cannot: `<!-- not run: needs npm -->`. `<!-- example output -->` is
above a block whose commands run, while what they print depends on what one has done before.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "NOTES.md"])
_BLOCK = re.compile(
    r"(?ms)^(?:[ ]*<!-- (?P<mark>[^\n]*?) -->\n\n?)?(?P<indent>[ ]*)```(?P<language>[a-z]+)\n(?P<text>.*?)^[ ]*```$"
)
_INLINE = re.compile(r"`((?:reverie|make|pip install|python -m) [^`\n]*)`")


@dataclass(frozen=True)
class Command:
    """One line behind a prompt, and what the document says that it prints."""

    text: str
    output: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of the command; none where only a shell could tell."""
        try:
            return shlex.split(self.text, comments=True)
        except ValueError:
            return []


@dataclass(frozen=True)
class DocumentBlock:
    """A fenced block."""

    document: Path
    line: int
    language: str
    text: str
    mark: str

    @property
    def runs(self) -> bool:
        return not self.mark.startswith("not run: ")

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[Command]:
        """The commands of a console; of a script every line."""
        text = self.text.replace("\\\n", " ")
        if self.language == "sh":
            return [Command(line) for line in text.split("\n") if line.strip()]
        parts = re.split(r"(?m)^\$ ", text)[1:] if self.language in {"console", "text"} else []
        return [Command(line, tuple(rest)) for line, *rest in (part.rstrip("\n").split("\n") for part in parts)]


def read_blocks(document: Path) -> Iterator[DocumentBlock]:
    text = document.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        inside = re.sub(rf"(?m)^{found['indent']}", "", found["text"])
        line = text.count("\n", 0, found.start("language")) + 1
        yield DocumentBlock(document, line, found["language"], inside, found["mark"] or "")


def read_inline_commands(document: Path) -> list[Command]:
    """Commands between single backticks, outside of blocks."""
    text = _BLOCK.sub("", document.read_text(encoding="utf-8"))
    return [Command(words) for words in _INLINE.findall(text)]
