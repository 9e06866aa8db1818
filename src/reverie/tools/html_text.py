"""Converts HTML to readable text: headings, paragraphs, lists, tables, code and links."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_DROPPED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "head"})
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "ul", "ol", "table", "tr", "form",
    "blockquote", "figure", "figcaption", "dl", "dt", "dd", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "li", "hr",
})  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}


def html_text(html: str, address: str) -> str:
    """The readable part of a page; `address` is where relative links start from."""
    reader = _Reader(address)
    reader.feed(html)
    reader.close()
    text = "".join(reader.parts)
    text = re.sub(r"[ \t]*\n[ \t]*(?:\n[ \t]*)+", "\n\n", text)
    return reader.restored(text.strip())


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._address = address
        self._dropped: list[str] = []
        self._is_title = False
        self._links: list[str] = []
        self._code: list[str] = []
        self._in_code = 0

    def restored(self, text: str) -> str:
        """The text with the blocks of code, whose blanks count, put back, and the title in front."""
        text = re.sub("\x00(\\d+)\x00", lambda found: self._code[int(found[1])], text)
        title = " ".join(self.title.split())
        return f"# {title}\n\n{text}" if title and not text.startswith("# ") else text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._is_title = True
        if tag in _DROPPED:
            self._dropped.append(tag)
        if self._dropped:
            return
        if tag == "pre":
            self._in_code += 1
            self._code.append("")
        if tag in _BLOCKS:
            self.parts.append("\n\n" if tag not in {"li", "tr", "dt", "dd"} else "\n")
        if tag in _HEADINGS:
            self.parts.append(f"{_HEADINGS[tag]} ")
        elif tag == "li":
            self.parts.append("- ")
        elif tag in {"td", "th"}:
            self.parts.append(" | ")
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")
        elif tag == "img" and (said := dict(attrs).get("alt")):
            self.parts.append(f"[picture: {said}]")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._is_title = False
        if self._dropped:
            if tag == self._dropped[-1]:
                self._dropped.pop()
            return
        if tag == "a" and self._links:
            self._end_link(self._links.pop())
        if tag == "pre" and self._in_code:
            self._in_code -= 1
            self._code[-1] = f"```\n{self._code[-1].strip(chr(10))}\n```"
            self.parts.append(f"\x00{len(self._code) - 1}\x00")
        if tag in _BLOCKS:
            self.parts.append("\n\n" if tag not in {"li", "tr", "dt", "dd"} else "\n")

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.title += data
        elif self._dropped:
            return
        elif self._in_code:
            self._code[-1] += data.replace("\x00", "")
        else:
            said = re.sub(r"\s+", " ", data.replace("\x00", ""))
            if self.parts and self.parts[-1].endswith(("\n", " ")):
                said = said.lstrip()
            self.parts.append(said)

    def _end_link(self, target: str) -> None:
        if target and not target.startswith(("#", "javascript:")):
            self.parts.append(f" ({urljoin(self._address, target)})")
