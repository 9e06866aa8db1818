"""Plain `reverie` where there is no terminal, and what it costs others. In a terminal: `tests/apps/tui`."""

from __future__ import annotations

import subprocess
import sys

from reverie.models.offline import REFUSAL
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement


@requirement("tui:start:no-key")
def test_without_terminal_and_key_the_three_lines_are_printed(terminal: Terminal) -> None:
    ran = terminal.run()

    assert (ran.code, ran.out, ran.err) == (1, "", REFUSAL + "\n")


@requirement("tui:start:no-key")
def test_without_a_terminal_the_next_step_is_named(terminal: Terminal) -> None:
    ran = terminal.run("--model", "offline")

    assert ran.code == 2
    assert "reverie -p TEXT" in ran.err


@requirement("tui:start:light")
def test_other_commands_do_not_load_the_terminals_library() -> None:
    code = (
        "import sys; from reverie.apps.cli import program, chat, print_turn; "
        "print([name for name in ('textual', 'anthropic') if name in sys.modules])"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "[]"
