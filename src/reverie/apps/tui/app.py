"""The terminal agent: log, prompt, questions and status line around one conversation.

Textual's driver is used full-screen with the terminal's own sixteen colours, so light and dark are the terminal's
matter. All that happens comes from the conversation's events; all that is done goes through its methods.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Sequence

from rich.theme import Theme
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.filter import Monochrome, NoColor
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import Worker

from reverie.amounts import format_count
from reverie.apps.tui.changes import remember, trust
from reverie.apps.tui.commands import COMMANDS, find, near
from reverie.apps.tui.completion import list_project_files
from reverie.apps.tui.control_characters import Unsteered
from reverie.apps.tui.conversation import TerminalContext, TerminalSession, Wish
from reverie.apps.tui.draw_pause import DrawPause
from reverie.apps.tui.history import Walk, append_input_history, read_input_history
from reverie.apps.tui.host import SlashCommand, is_command
from reverie.apps.tui.keys import Keyed
from reverie.apps.tui.log import Log
from reverie.apps.tui.markdown import MARKDOWN_STYLES
from reverie.apps.tui.memory_screen import MemoryScreen
from reverie.apps.tui.own_line import OwnLine, build_status_input
from reverie.apps.tui.past import pieces_of
from reverie.apps.tui.pieces import Note, Piece, UserPiece
from reverie.apps.tui.prompt import Popup, Prompt
from reverie.apps.tui.question import Asking
from reverie.apps.tui.shell import ShellRuns
from reverie.apps.tui.status_line import StatusLine
from reverie.apps.tui.turns import Activity, Turns, Waiting
from reverie.errors import Error
from reverie.models.ports import Ending
from reverie.permissions.approval import Approval, Question

FRAMES_PER_SECOND = 20
"""How often a growing answer is drawn."""
TWICE_SECONDS = 2.0
"""Within this time a second Ctrl-C leaves."""
CYCLE = ("default", "acceptEdits", "plan")
"""The permission modes of Shift+Tab; the others are chosen by name."""
FILES_SECONDS = 10.0
"""How long a listing of files is taken for true."""
LEAVING_SECONDS = 5.0
"""How long leaving waits for a turn to stop in order."""


class Chat(Keyed):
    """The program on the screen."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    * { scrollbar-color: ansi_bright_black; scrollbar-color-hover: ansi_white; scrollbar-color-active: ansi_white;
        scrollbar-background: ansi_default; scrollbar-background-hover: ansi_default;
        scrollbar-background-active: ansi_default; }
    OptionList, OptionList:focus { border: none; padding: 0 1; background: transparent; scrollbar-size-vertical: 1; }
    OptionList > .option-list--option-highlighted, OptionList:focus > .option-list--option-highlighted {
        text-style: bold; background: ansi_cyan; color: ansi_black; }
    .-colourless OptionList > .option-list--option-highlighted { text-style: bold underline; }
    #entry { height: auto; max-height: 14; border-top: solid ansi_bright_black; border-bottom: solid ansi_bright_black;
        padding: 0 1 0 0; }
    #room { height: 0; }
    #mark { width: 3; padding: 0 0 0 1; color: ansi_cyan; text-style: bold; }
    """

    def __init__(self, surroundings: TerminalContext) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.console.push_theme(Theme(MARKDOWN_STYLES))
        if surroundings.is_colourless or self.no_color:
            self._filters[:] = [each for each in self._filters if not isinstance(each, Monochrome)]
            self._filters.append(NoColor())
            self.add_class("-colourless")
        self._filters.append(Unsteered())
        self.surroundings = surroundings
        self.failure: Error | None = None
        """Why there was nothing to open."""
        self._model: str | None = None
        self._conversation: TerminalSession | None = None
        self._turn: Worker[None] | None = None
        self._work: Worker[None] | None = None
        """A command that changes the conversation."""
        self._working_at = ""
        self._last_interrupt = float("-inf")
        self._one_question = asyncio.Lock()
        self._files: tuple[float, Sequence[str]] = (-FILES_SECONDS, ())
        self._is_open = False
        self._is_leaving = False
        self._started = time.monotonic()

    def compose(self) -> ComposeResult:
        popup = Popup("", id="popup")
        yield Log(id="log")
        yield Activity(id="activity")
        yield Waiting(id="queue")
        yield popup
        with Horizontal(id="entry"):
            yield Static("❯", id="mark")
            yield Prompt(
                Walk(read_input_history(self.surroundings.input_history)),
                popup,
                commands=self._command_names,
                files=self._project_files,
                clipboard_image=self.surroundings.clipboard_image,
                id="prompt",
            )
        yield StatusLine(meter=self.surroundings.has_meter, id="status")
        yield Static("", id="room")
        yield OwnLine(self.surroundings.status_command, self.surroundings.directory, id="own")

    def on_mount(self) -> None:
        self._talk = self.query_one(Log)
        self._prompt = self.query_one(Prompt)
        self._status = self.query_one(StatusLine)
        self._activity = self.query_one(Activity)
        self._waiting = self.query_one(Waiting)
        self._own_line = self.query_one(OwnLine)
        self._turns = Turns(self._talk, self._waiting, self._activity, self._status, DrawPause(self.batch_update))
        self._shells = ShellRuns(self._talk, self.surroundings.directory, self.surroundings.shell)
        self._prompt.focus()
        self.set_interval(1 / FRAMES_PER_SECOND, self._tick)
        self._begin()

    @work
    async def _begin(self) -> None:
        """Open the conversation while the first picture is already on the screen."""
        if not await self._open(Wish(is_first=True)):
            self.exit()
        else:
            self._is_open = True
            if self.conversation.waiting_for_trust:
                await trust(self, "")
            self._send_waiting()
            await asyncio.to_thread(self.surroundings.warm)
            # What is loaded now stays: later collections pass over it.
            gc.freeze()

    def _send_waiting(self) -> None:
        """Take up what was typed while nothing could be sent; a command alone, words together."""
        text = self._waiting.take_next()
        if text is not None and is_command(text):
            self._start_command(text)
        elif text is not None:
            self.send(text)

    async def _open(self, wish: Wish) -> bool:
        try:
            conversation = self.surroundings.open(self, wish)
        except Error as problem:
            self.failure = problem if wish.is_first else None
            self.say(str(problem), "error")
            return False
        conversation.listen(lambda event: self._turns.hear(event, conversation))
        self._conversation = conversation
        self.redraw()
        if self.surroundings.greeting:
            self.show(Note(self.surroundings.greeting, "warning"))
        try:
            await conversation.begin()
        except Error as problem:
            self.say(str(problem), "error")
        return True

    @property
    def conversation(self) -> TerminalSession:
        """The present one."""
        assert self._conversation is not None
        return self._conversation

    @property
    def resumable(self) -> str | None:
        """The id of a session in which something was said."""
        conversation = self._conversation
        return conversation.id if conversation is not None and conversation.prompts else None

    @property
    def pieces(self) -> Sequence[Piece]:
        """What stands in the log."""
        return self._talk.pieces

    @property
    def is_busy(self) -> bool:
        """Whether a turn or a change runs, or nothing is open yet."""
        return self._turns.view is not None or bool(self._working_at) or not self._is_open

    def show(self, piece: Piece) -> None:
        """Put something into the log."""
        self._talk.add(piece)

    def say(self, text: str, level: str = "info") -> None:
        """Put a sentence into the log."""
        self._talk.add(Note(text, level))

    def redraw(self) -> None:
        """Draw the log anew from the conversation."""
        self._talk.replace_all(pieces_of(self.conversation.entries, self.surroundings.directory))
        self._status.show(self.conversation.status)

    async def browse_memory(self) -> None:
        """Show the memories."""
        await self.push_screen_wait(MemoryScreen(self.conversation.memory, self._edit))

    async def reopen(self, *, resume: str | None = None, model: str | None = None) -> None:
        """Close this conversation, which only one may write, and open another; when that fails, this one again."""
        former, had_prompts = self.conversation.id, bool(self.conversation.prompts)
        await self.conversation.close()
        self._conversation = None
        gc.unfreeze()
        gc.collect()
        if await self._open(Wish(resume, model or self._model)):
            self._model = model or self._model
        else:
            why = self._talk.pieces[-1]
            await self._open(Wish(former if had_prompts else None, self._model))
            self.show(why)
        gc.freeze()

    def copy(self, text: str) -> None:
        """Put a text on every clipboard that can be reached."""
        self.copy_to_clipboard(text)
        self.surroundings.copy(text)
        lines = format_count(text.count("\n") + 1, "line")
        self._hint(f"copied {lines}")

    def leave(self) -> None:
        """End the program; a running turn is stopped first."""
        if not self._is_leaving:
            self._is_leaving = True
            self._close_down()

    @work
    async def _close_down(self) -> None:
        if self._work is not None:
            self._work.cancel()
        await self._shells.close()
        await self._own_line.close()
        if self._conversation is not None:
            if self._turn is not None and self._turn.is_running:
                self._conversation.cancel()
                await asyncio.wait([asyncio.create_task(self._turn.wait())], timeout=LEAVING_SECONDS)
            await self._conversation.close()
        self.exit()

    async def on_prompt_sent(self, event: Prompt.Sent) -> None:
        """The user has typed something."""
        # Whoever says something more is not about to leave: the next Ctrl-C is a first one again.
        self._last_interrupt = float("-inf")
        text = event.text
        self._prompt.walk.add(text)
        append_input_history(
            self.surroundings.input_history, text, project=self.surroundings.directory, now=self.surroundings.now()
        )
        if is_command(text):
            self._take_command(text)
        elif text.startswith("#") and not text.startswith("##") and text[1:].strip():
            self._remember(text[1:].strip())
        elif text.startswith("!") and text[1:].strip():
            self._run_shell(text[1:].strip())
        else:
            self.send(text)

    def send(self, text: str) -> None:
        """Send a message now, or at the next boundary of the turn that runs."""
        if self.is_busy:
            # Words that were typed after a command are not heard before it.
            if self._turns.view is not None and not self._waiting.has_command:
                self.conversation.queue(text)
            self._waiting.put(text)
            return
        self._turns.begin(text)
        self._turn = self._run_turn(text)

    @work
    async def _run_turn(self, text: str) -> None:
        ending = await self._turns.run(self.conversation, text)
        if ending is Ending.COMPLETED:
            self._send_waiting()
        else:
            self._give_back()

    def _give_back(self) -> None:
        """A turn did not end well: what waits returns to the user, who may want something else now."""
        waiting = self._waiting.take_all()
        for command in filter(is_command, waiting):
            self.say(f"{command.partition(' ')[0]} not run because the turn was stopped", "warning")
        words = [text for text in waiting if not is_command(text)]
        if words:
            self.fill("\n\n".join([*words, *filter(None, [self._prompt.text])]))

    def _take_command(self, text: str) -> None:
        """Run a command, or let it wait when it needs rest or is for the model; a wrong one is told at once."""
        name = text[1:].split(maxsplit=1)[0]
        command = find(name, COMMANDS)
        if command is None and name not in dict(self._brought()):
            self._talk.add(UserPiece(text[1:], "/"))
            self.say(near(name, [command for command, _ in self._command_names()]), "warning")
        elif self._conversation is None and name != "exit":
            self.say("no conversation yet", "warning")
        elif self.is_busy and (command is None or command.needs_rest):
            self._waiting.put(text)
        else:
            self._start_command(text)

    def _start_command(self, text: str) -> None:
        name, *rest = text[1:].split(maxsplit=1)
        command = find(name, COMMANDS)
        if command is None:
            self.send(text)
            return
        self._talk.add(UserPiece(text[1:], "/"))
        run = self._run_command(command, rest[0].strip() if rest else "")
        if command.needs_rest:
            self._working_at, self._work = f"/{name}", run

    @work
    async def _run_command(self, command: SlashCommand, argument: str) -> None:
        try:
            await command.run(self, argument)
        except Error as problem:
            self.say(str(problem), "error")
        except asyncio.CancelledError:
            self.say(f"/{command.name} stopped", "warning")
            raise
        finally:
            if command.needs_rest:
                self._working_at, self._work = "", None
                self._activity.show("")
                self._send_waiting()
        if self._conversation is not None:
            self._status.show(self._conversation.status)

    def _brought(self) -> list[tuple[str, str]]:
        """The commands that skills and plugins bring."""
        commands = self._conversation.commands if self._conversation is not None else ()
        return [(name, f"{sentence}  {hint}".rstrip()) for name, sentence, hint in commands]

    def _command_names(self) -> list[tuple[str, str]]:
        return [*((one.name, one.help) for one in COMMANDS), *self._brought()]

    def _project_files(self) -> Sequence[str]:
        now = time.monotonic()
        if now - self._files[0] > FILES_SECONDS:
            self._files = (now, list_project_files(self.surroundings.directory))
        return self._files[1]

    def _remember(self, text: str) -> None:
        self._talk.add(UserPiece(text, "#"))
        if self._conversation is None:
            self.say("no conversation yet", "warning")
            return
        try:
            self.show(remember(self._conversation.memory, text, session=self._conversation.id))
        except Error as problem:
            self.say(str(problem), "error")

    def _run_shell(self, command: str) -> None:
        if self._conversation is None:
            self.say("no conversation yet", "warning")
        else:
            self._shells.start(command, self._conversation.tell_command)

    async def approve(self, question: Question) -> Approval:
        """Ask the user; the prompt waits meanwhile. Cancelling takes the question away."""
        async with self._one_question:
            self._turns.drawing.end()
            answer: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()
            asking = Asking(question, answer)
            entry = self.query_one("#entry")
            await self.mount(asking, before=entry)
            entry.display = False
            self.bell()
            try:
                return await answer
            finally:
                entry.display = True
                await asking.remove()
                self._prompt.focus()

    def action_interrupt(self) -> None:
        """Stop the turn, else empty the input; twice leaves."""
        if isinstance(self.screen, ModalScreen):
            self.screen.dismiss(None)
            return
        now = time.monotonic()
        if now - self._last_interrupt < TWICE_SECONDS:
            self.leave()
            return
        self._last_interrupt = now
        if self._turns.view is not None or self._work is not None or self._shells.running:
            self.action_stop()
        elif self._prompt.text:
            self._prompt.clear_all()
        self._hint("Press Ctrl-C again to exit")

    def action_stop(self) -> None:
        """Stop the user's own commands, else the running turn, or the change that is being made."""
        if self._shells.stop():
            return
        if self._turns.view is not None:
            self._turns.view.doing = "stopping"
            self._stop_turn()
        elif self._work is not None:
            self._work.cancel()

    @work
    async def _stop_turn(self) -> None:
        self.conversation.cancel()

    def action_end_of_input(self) -> None:
        """Ctrl-D: leave, unless there is something to delete."""
        if self._prompt.has_focus and self._prompt.text:
            self._prompt.action_delete_right()
        else:
            self.leave()

    @work
    async def action_next_mode(self) -> None:
        """The next permission mode."""
        if self._conversation is None:
            return
        mode = self._conversation.status.mode
        following = CYCLE[(CYCLE.index(mode) + 1) % len(CYCLE)] if mode in CYCLE else CYCLE[0]
        self._conversation.set_mode(following)
        self._status.show(self._conversation.status)

    def _edit(self, text: str) -> str | None:
        """Leave the screen to an editor for a while."""
        if self.is_headless:
            return self.surroundings.edit(text)
        with self.suspend():
            return self.surroundings.edit(text)

    def _hint(self, text: str) -> None:
        self._status.hint(text)
        self.set_timer(TWICE_SECONDS, lambda: self._status.hint(""))

    def _tick(self) -> None:
        self._turns.tick()
        if self._working_at:
            self._activity.show(self._working_at)
        elif self._turns.view is None:
            self._activity.show(self._shells.doing)

    def on_status_line_changed(self) -> None:
        """The user's own line follows the figures."""
        conversation = self._conversation
        if conversation is not None and self._own_line.is_wanted:
            self._own_line.tell(
                lambda: build_status_input(
                    conversation, self.surroundings, self.pieces, seconds=time.monotonic() - self._started
                )
            )

    @property
    def line_problem(self) -> str:
        """Why the user's own status line is empty, when it should not be."""
        return self._own_line.failure
