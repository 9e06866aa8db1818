"""What all pages share: the memory under one lock, templates, text made safe to show."""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from reverie.amounts import dollars, format_count, short_count, short_size
from reverie.errors import UserMistake
from reverie.memory.memory import Memory
from reverie.settings.load import Configuration, system_now

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

T = TypeVar("T")
_GIT_LINES = ("diff --git ", "index ", "similarity index ")
_FORM_BYTES = 1_000_000
_MOST_DIGITS = 9
PAGES = (
    ("memories", "Memories"),
    ("sessions", "Sessions"),
    ("background", "Background"),
    ("cost", "Cost"),
    ("relations", "Relations"),
)


class Inspected:
    """The project that is looked at. Requests run in threads; the memory is used by one at a time."""

    def __init__(
        self,
        configuration: Configuration,
        directory: Path,
        open_memory: Callable[[], Memory],
        *,
        can_edit: bool,
        now: Callable[[], datetime] = system_now,
    ) -> None:
        self.configuration = configuration
        self.directory = directory
        self.can_edit = can_edit
        self.now = now
        self._open_memory = open_memory
        self._memory: Memory | None = None
        self._lock = threading.RLock()
        self.changes = 0
        """How often this page changed something; what was remembered before may be old."""
        self._remembered: dict[str, tuple[Any, Any]] = {}
        self._making: dict[str, threading.Lock] = defaultdict(threading.Lock)

    @contextmanager
    def reading(self) -> Iterator[Memory]:
        """The project's memory, for as long as the block lasts."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open_memory()
            yield self._memory

    @contextmanager
    def scope(self, name: str) -> Iterator[Memory]:
        """The project's memory or the user's own."""
        with self.reading() as memory:
            if name not in {memory.scope.name, memory.user.scope.name}:
                raise UserMistake(f"no scope {name!r}; choose project or user")
            yield memory if name == memory.scope.name else memory.user

    @contextmanager
    def reading_apart(self) -> Iterator[Memory]:
        """A memory of one's own, for work that takes seconds: nobody else waits for it."""
        memory = self._open_memory()
        try:
            yield memory
        finally:
            memory.close()

    def remember(self, name: str, key: object, make: Callable[[], T]) -> T:
        """What `make` gives, made anew when the key is another one; made once when several ask at the same time."""
        with self._making[name]:
            held = self._remembered.get(name)
            if held is None or held[0] != key:
                held = self._remembered[name] = (key, make())
            value: T = held[1]
            return value

    def close(self) -> None:
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None


def inspected(request: Request) -> Inspected:
    """The project of a request."""
    found = request.app.state.inspected
    assert isinstance(found, Inspected)
    return found


async def read_form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form, in order."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _FORM_BYTES:
            raise UserMistake(f"more than {_FORM_BYTES:,} bytes were sent; a memory is shorter")
    return list(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def read_start(request: Request) -> int:
    """Where in a list the part begins that a request asks for; 0 for anything that is no number."""
    text = request.query_params.get("start", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS else 0


def is_partial(request: Request) -> bool:
    """Whether a script asks for a part of the page."""
    return request.headers.get("hx-request") == "true"


def render(request: Request, template: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """A page as its template shows it. Everything is escaped that is not made safe here."""
    shown = inspected(request)
    page = request.url.path.split("/")[1] or "memories"
    text = (
        _templates()
        .get_template(f"{template}.html")
        .render(pages=PAGES, page=page, can_edit=shown.can_edit, project=shown.directory.name, **values)
    )
    return HTMLResponse(text, status_code)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("reverie.apps.inspect"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "markdown": render_markdown,
        "diff": render_diff,
        "day": _format_day,
        "tokens": short_count,
        "dollars": format_dollars,
        "size": short_size,
        "place": shorten_home,
        "highlight": highlight,
    }
    templates.globals["count"] = format_count
    return templates


def render_markdown(text: str) -> Markup:
    """Text of a memory as HTML. It is untrusted: HTML in it stays text, and what is rendered is cleaned once more."""
    import nh3

    return Markup(nh3.clean(_markdown().render(text), link_rel="noopener noreferrer"))  # noqa: S704 - cleaned


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def render_diff(text: str) -> Markup:
    """A unified diff, each line marked by what it does; the lines that only git needs are left out."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = (
        Markup('<span class="{}">{}</span>').format("file" if _is_file_line(line) else kinds.get(line[:1], ""), line)
        for line in text.splitlines()
        if not line.startswith(_GIT_LINES)
    )
    return Markup("\n").join(lines)


def _is_file_line(line: str) -> bool:
    return line.startswith(
        ("--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null", "rename ", "new file", "deleted file")
    )


def shorten_home(path: object) -> str:
    """A path as people write it: below the user's home with a tilde."""
    text, home = str(path), str(Path.home())
    return f"~{text.removeprefix(home)}" if text == home or text.startswith(f"{home}/") else text


def format_dollars(amount: float | None) -> str:
    """A cost, nothing at all as two digits."""
    return "$0.00" if amount == 0 else dollars(amount)


def highlight(text: str, wanted: str) -> Markup:
    """Text in which every place is marked that has the wanted words, whatever their case."""
    if not wanted:
        return Markup("{}").format(text)
    pieces = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE)
    marked = (Markup("<mark>{}</mark>").format(piece) if number % 2 else piece for number, piece in enumerate(pieces))
    return Markup("").join(marked)


def _format_day(moment: datetime | str | None) -> str:
    if isinstance(moment, datetime):
        return f"{moment.astimezone():%Y-%m-%d %H:%M}"
    return (moment or "")[:16].replace("T", " ")
