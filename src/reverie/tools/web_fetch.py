"""WebFetch: fetches a web page as text. Off unless `tools.web_fetch` is set.

Only public addresses; a redirect is followed on the same host only, since the permission was for that host. What a
page says is data: invisible characters go, and nothing in it can pass for a word of the host.

HTML becomes readable text: headings, paragraphs, lists, tables, code and links.
"""

from __future__ import annotations

import ipaddress
import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit, urlunsplit

from reverie.errors import Error
from reverie.messages.blocks import JsonObject
from reverie.messages.injection import harmless
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.page_fetch import Fetch, Fetched, check_public, fetch_page
from reverie.tools.schema import text
from reverie.tools.tool import ToolAnswer, ToolMistake

MAX_REDIRECTS = 5
MAX_CHARS = 40_000
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LOCAL_NAMES = re.compile(r"(^|\.)(localhost|local|internal|lan|home\.arpa)\.?$")


class WebFetch:
    """Fetches pages. `fetch` asks for one address and follows nothing."""

    def __init__(self, fetch: Fetch = fetch_page) -> None:
        self._fetch = fetch
        url = field("string", "The complete address of the page.", minLength=1)
        self.spec = make_tool_spec("WebFetch", "web_fetch", {"url": url}, required=("url",))

    def need(self, arguments: JsonObject, desk: Desk) -> Need:  # noqa: ARG002 - the shape of every tool
        url = check_address(text(arguments, "url"))
        return Need("WebFetch", Act.FETCH, url=url, summary=f"Fetch {url}", preview=url)

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        url = check_address(text(arguments, "url"))
        for _ in range(MAX_REDIRECTS + 1):
            desk.progress(f"fetching {url}")
            try:
                page = await self._fetch(url)
            except Error as problem:
                raise ToolMistake(f"{url} was not fetched: {problem}") from problem
            if page.status not in _REDIRECTS or not page.location:
                return _answer(url, page)
            target = check_address(urljoin(url, page.location))
            if _host(target) != _host(url):
                return ToolAnswer(
                    f"{url} leads to another host: {harmless(target)}\nFetch that address if it is what you want.",
                    details={"url": url, "code": page.status, "redirect": target},
                )
            url = target
        raise ToolMistake(f"{url} leads from one address to the next more than {MAX_REDIRECTS} times; it was given up.")


def check_address(url: str) -> str:
    """A public address with `https` where it said `http`. Raises `ToolMistake` for any other."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ToolMistake(f"{url!r} is not an address: {error}.") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise ToolMistake(f"{url!r} is not the complete address of a page; it must start with https://.")
    if parts.username or parts.password:
        raise ToolMistake("An address with a name or password in it is not fetched.")
    if _LOCAL_NAMES.search(host.lower()) or ("." not in host and ":" not in host):
        raise ToolMistake(f"{host} is a name inside this machine or network; only public pages are fetched.")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        pass
    else:
        try:
            check_public(host)
        except Error as problem:
            raise ToolMistake(f"{url!r} is not fetched: {problem}.") from problem
    scheme = "https" if port in (None, 443) else parts.scheme
    return urlunsplit((scheme, parts.netloc, parts.path, parts.query, ""))


def _host(url: str) -> str:
    host = (urlsplit(url).hostname or "").lower()
    return host.removeprefix("www.")


def _answer(url: str, fetched: Fetched) -> ToolAnswer:
    page = harmless(_page(url, fetched))
    notes = [f"({url} answered with status {fetched.status})"] if fetched.status >= 400 else []
    if len(page) > MAX_CHARS:
        notes.append(f"(the first {MAX_CHARS:,} of {len(page):,} characters; the rest is not shown)")
        page = page[:MAX_CHARS]
    elif fetched.is_cut:
        notes.append("(the page was too large; its end is missing)")
    details: JsonObject = {"url": url, "code": fetched.status, "bytes": len(fetched.body)}
    return ToolAnswer("\n\n".join([page or "(an empty page)", *notes]), is_error=fetched.status >= 400, details=details)


def _page(url: str, fetched: Fetched) -> str:
    kind = fetched.kind.split(";")[0].strip().lower()
    if (
        b"\0" in fetched.body[:4096]
        or kind.startswith(("image/", "audio/", "video/", "font/"))
        or kind == "application/pdf"
    ):
        raise ToolMistake(
            f"{url} is no text but {kind or 'binary data'} ({len(fetched.body):,} bytes); it cannot be shown."
        )
    named = re.search(r"charset=[\"']?([\w-]+)", fetched.kind)
    try:
        html = fetched.body.decode(named[1] if named else "utf-8", "replace")
    except LookupError:
        html = fetched.body.decode("utf-8", "replace")
    is_html = "html" in kind or (not kind and html.lstrip()[:200].lower().startswith(("<!doctype", "<html")))
    return html_text(html, url) if is_html else html.strip()


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
    return reader.restore_code(text.strip())


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

    def restore_code(self, text: str) -> str:
        """The text with the blocks of code, whose blanks count, put back, and the title in front."""
        text = re.sub("\x00(\\d+)\x00", lambda match: self._code[int(match[1])], text)
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
        elif tag == "img" and (alt_text := dict(attrs).get("alt")):
            self.parts.append(f"[picture: {alt_text}]")

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
            words = re.sub(r"\s+", " ", data.replace("\x00", ""))
            if self.parts and self.parts[-1].endswith(("\n", " ")):
                words = words.lstrip()
            self.parts.append(words)

    def _end_link(self, target: str) -> None:
        if target and not target.startswith(("#", "javascript:")):
            self.parts.append(f" ({urljoin(self._address, target)})")
