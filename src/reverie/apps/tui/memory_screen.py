"""The screen of `/memory`: browse, read, edit, pin, forget and undo memories, and see where each comes from."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from reverie.amounts import format_count
from reverie.apps.tui.markdown import TerminalMarkdown
from reverie.errors import Error
from reverie.memory.memory import Memory
from reverie.memory.store.timeline import Provenance
from reverie.memory.topics.topic import Topic, parse_topic, render_topic

WIDE_COLUMNS = 100
"""From here on list and text stand side by side."""
KEYS = "e edit · p pin · f forget · u undo · w why · / find · Esc back"
_RECALLS_SHOWN = 5


class MemoryScreen(ModalScreen[None]):
    """A list of memories and the one that is looked at."""

    DEFAULT_CSS = """
    MemoryScreen { background: ansi_default; }
    MemoryScreen > #head { height: 1; padding: 0 1; text-style: bold; }
    MemoryScreen > #keys { height: 1; padding: 0 1; text-style: dim; }
    MemoryScreen > #find { border: none; height: 1; padding: 0 1; display: none; background: transparent; }
    MemoryScreen > #body { height: 1fr; layout: vertical; }
    MemoryScreen.-wide > #body { layout: horizontal; }
    MemoryScreen OptionList { height: 40%; }
    MemoryScreen.-wide OptionList { height: 1fr; width: 40%; }
    MemoryScreen VerticalScroll { height: 1fr; border-top: solid ansi_bright_black; padding: 0 1;
        scrollbar-size-vertical: 1; }
    MemoryScreen.-wide VerticalScroll { border-top: none; border-left: solid ansi_bright_black; }
    """
    BINDINGS: ClassVar = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        Binding("q", "leave", show=False),
        Binding("e", "edit", show=False),
        Binding("p", "pin", show=False),
        Binding("f,delete", "forget", show=False),
        Binding("u", "undo", show=False),
        Binding("w", "why", show=False),
        Binding("slash", "find", show=False),
    ]

    def __init__(self, memory: Memory, edit: Callable[[str], str | None]) -> None:
        super().__init__()
        self._memory = memory
        self._edit = edit
        self._topics: dict[str, Topic] = {}

    def compose(self) -> ComposeResult:
        yield Static("", id="head")
        yield Input(placeholder="filter by text", id="find", compact=True)
        with Container(id="body"):
            yield OptionList()
            with VerticalScroll(can_focus=False):
                yield Static("", id="text")
        yield Static(KEYS, id="keys")

    def on_mount(self) -> None:
        self._load()
        self.query_one(OptionList).focus()

    def on_resize(self) -> None:
        self.set_class(self.size.width >= WIDE_COLUMNS, "-wide")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        topic = self._topics.get(event.option.id or "")
        self._show(_read(topic, self._whose_word(topic)) if topic else "")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._load(event.value)

    def on_input_submitted(self) -> None:
        self.query_one(OptionList).focus()

    def action_leave(self) -> None:
        """Out of the search, then out of the screen."""
        find = self.query_one("#find", Input)
        if find.has_focus:
            find.display = False
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    def action_find(self) -> None:
        find = self.query_one("#find", Input)
        find.display = True
        find.focus()

    def action_pin(self) -> None:
        topic = self._chosen()
        if topic is not None:
            self._try(
                lambda: self._memory.pin(topic.path, pinned=not topic.pinned),
                "pinned" if not topic.pinned else "unpinned",
            )

    def action_forget(self) -> None:
        topic = self._chosen()
        if topic is not None:
            self._try(
                lambda: self._memory.forget(topic.path, reason="forgotten in the browser"),
                f"{topic.name!r} removed; press u to restore it",
            )

    def action_undo(self) -> None:
        """Take the newest change of all back."""
        commits = self._memory.log(limit=1)
        if not commits:
            self._say("nothing to undo")
            return
        self._try(lambda: self._memory.undo(commits[0].commit), f"undone: {commits[0].change.reason or 'a change'}")

    def _whose_word(self, topic: Topic) -> str:
        """Who stands for a memory: the colleague who shared it, or the trust that it has."""
        return self._memory.describe_shared({topic.path: topic.trust}).get(topic.path) or topic.trust or ""

    def action_why(self) -> None:
        topic = self._chosen()
        if topic is not None:
            self._show(_why(self._memory.why(topic.path), self._whose_word(topic)))

    def action_edit(self) -> None:
        """Change the file of a memory in an editor; what comes back is saved as the user's word."""
        topic = self._chosen()
        if topic is None:
            return
        before = render_topic(topic)
        after = self._edit(before)
        if after is None or after == before:
            self._say("unchanged")
            return

        def save() -> object:
            return self._memory.store.edit(
                topic.path, lambda _: parse_topic(topic.path, after), author="user", reason="edited in the browser"
            )

        self._try(save, "saved")

    def _try(self, change: Callable[[], object], done: str) -> None:
        try:
            change()
        except Error as problem:
            self._say(str(problem))
            return
        self._load(self.query_one("#find", Input).value)
        self._say(done)

    def _say(self, text: str) -> None:
        line = Text(f"{text}   ({KEYS})", no_wrap=True, overflow="ellipsis")
        self.query_one("#keys", Static).update(Group(line))

    def _chosen(self) -> Topic | None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return None
        return self._topics.get(options.get_option_at_index(options.highlighted).id or "")

    def _load(self, typed: str = "") -> None:
        words = typed.casefold().split()
        topics = sorted(self._memory.topics(), key=lambda topic: (not topic.pinned, topic.name.casefold()))
        self._topics = {
            topic.path: topic
            for topic in topics
            if all(word in f"{topic.name} {topic.description} {topic.body}".casefold() for word in words)
        }
        options = self.query_one(OptionList)
        place = options.highlighted or 0
        options.clear_options()
        options.add_options(Option(_row(topic), id=path) for path, topic in self._topics.items())
        options.highlighted = min(place, len(self._topics) - 1) if self._topics else None
        off = f" · off: {self._memory.off}" if self._memory.off else ""
        head = f"{format_count(len(self._topics), 'memory', 'memories')} in {self._memory.directory}{off}"
        self.query_one("#head", Static).update(Group(Text(head, no_wrap=True, overflow="ellipsis")))
        chosen = self._chosen()
        if chosen is not None:
            self._show(_read(chosen, self._whose_word(chosen)))
        elif not self._topics:
            self._show(Text("No memories yet. Type `#text` in the prompt to save one.", style="dim"))

    def _show(self, what: RenderableType) -> None:
        self.query_one("#text", Static).update(Group(what))
        self.query_one(VerticalScroll).scroll_home(animate=False)


def _row(topic: Topic) -> Table:
    grid = Table.grid(expand=True, padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(Text("◆" if topic.pinned else " ", style="yellow"), Text(topic.name), Text(topic.type or "", "dim"))
    return grid


def _read(topic: Topic, trust: str) -> RenderableType:
    facts = [topic.type or "", trust, f"{topic.observed:%Y-%m-%d}" if topic.observed else "", topic.path]
    return Group(
        Text(topic.name, style="bold"),
        Text(topic.description),
        Text(" · ".join(filter(None, facts)), style="dim"),
        Text(""),
        TerminalMarkdown(topic.body),
    )


def _why(provenance: Provenance, trust: str) -> RenderableType:
    lines = [Text(provenance.path, style="bold"), Text(f"trust: {trust or 'not noted'}")]
    for source in provenance.sources:
        place = ", ".join(part for part in (source.session, source.message) if part)
        quote = f": “{source.quote}”" if source.quote else ""
        lines.append(Text(f"source: {place or 'unknown session'}{quote}"))
    for commit in provenance.changes:
        when = f"{commit.when.astimezone():%Y-%m-%d %H:%M}"
        lines.append(Text(f"{commit.commit[:8]}  {when}  {commit.change.author}: {commit.change.reason}"))
    uses = [f"recalled {use.when[:16].replace('T', ' ')} for “{use.query}”" for use in provenance.recalled]
    return Group(*lines, *(Text(use, style="dim") for use in uses[-_RECALLS_SHOWN:]))
