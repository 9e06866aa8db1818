"""Markdown for a terminal, cut into parts so that a growing answer is drawn only at its end."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

CODE_THEME = "ansi_dark"
"""Names the terminal's own sixteen colours, so that it suits a light terminal as well as a dark one."""

MARKDOWN_STYLES = {"markdown.code": "cyan", "markdown.block_quote": "dim", "markdown.link_url": "underline blue"}
"""Styles without a background, which on a light terminal would be a dark box."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class _Heading(Heading):
    """A heading on the left, where text is read."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text: Text = self.text.copy()
        text.justify = "left"
        text.stylize("bold underline" if self.tag == "h1" else "bold")
        yield text


class _Code(CodeBlock):
    """Code without a box and without a background of its own, so that copying it gives the code."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        syntax = Syntax(code, self.lexer_name, theme=CODE_THEME, word_wrap=True, background_color="default")
        yield Padding(syntax, (0, 0, 0, 2))


class TerminalMarkdown(Markdown):
    """Rich's Markdown in the way of this terminal."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


def parts_of(text: str) -> tuple[str, ...]:
    """Cut Markdown at blank lines where a new block begins: not inside fences, lists or indented text.

    Joined with blank lines the parts say what the whole said, and all but the last stay as they are while text is
    added at the end.
    """
    parts: list[list[str]] = [[]]
    fence = ""
    after_blank = False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        begins = after_blank and not fence and bool(line.strip()) and not line[0].isspace()
        if begins and any(part.strip() for part in parts[-1]):
            parts.append([])
        parts[-1].append(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and line.strip() == mark[1]:
            fence = ""
        after_blank = not line.strip()
    joined = ("\n".join(part).strip("\n") for part in parts)
    return tuple(part for part in joined if part.strip())
