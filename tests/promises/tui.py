"""What we promise of the terminal agent."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "tui:turn:streams": Requirement("An answer appears as it comes, as Markdown."),
    "tui:turn:calls-fold": Requirement("A tool call is one line; its diff or output unfolds by key or click."),
    "tui:turn:retry": Requirement("Of a failed attempt nothing stays on the screen but why it failed."),
    "tui:turn:stops": Requirement("Esc or Ctrl-C stops the turn; Ctrl-C twice and Ctrl-D leave."),
    "tui:turn:queue": Requirement(
        "What is typed during a turn is shown and sent at the next boundary; after a stop it returns to the prompt."
    ),
    "tui:turn:failure": Requirement("A turn that fails says why and the program goes on."),
    "tui:ask:answers": Requirement(
        "A permission is asked with its diff; yes, a rule for session or project, or no with a reason."
    ),
    "tui:ask:withdrawn": Requirement("A question disappears when its turn is stopped."),
    "tui:status:shows": Requirement(
        "The status line shows model, window with three levels, cache, cost, mode and background work, and gives way."
    ),
    "tui:modes:cycle": Requirement("Shift+Tab goes through the permission modes."),
    "tui:prompt:lines": Requirement("Several lines can be typed; Enter sends."),
    "tui:prompt:history": Requirement("What was typed before comes back, also from earlier sessions."),
    "tui:prompt:paste": Requirement("A long paste is shown folded and sent in full."),
    "tui:prompt:completion": Requirement("Commands, skills and paths are completed."),
    "tui:commands:table": Requirement("Every slash command is there and in the help."),
    "tui:commands:model": Requirement("`/model` lists models of settings, local servers and providers."),
    "tui:prompt:picture": Requirement("A pasted path of a picture attaches it, and so does Ctrl+V."),
    "tui:commands:honest": Requirement(
        "A command for something that is not there says so; an unknown one names the nearest."
    ),
    "tui:commands:rest": Requirement("What changes the conversation waits for the end of the turn."),
    "tui:context:picture": Requirement("`/context` shows what fills the window."),
    "tui:memory:browser": Requirement("`/memory` lists, shows, edits, pins, forgets and undoes, and says why."),
    "tui:memory:said": Requirement("`#text` keeps a memory at once, as the user's word."),
    "tui:trust:asked": Requirement(
        "What came with the project and would act with the user's rights is shown and asked about at the start."
    ),
    "tui:resume:picker": Requirement("`/resume` shows earlier sessions and opens one."),
    "tui:rewind:picker": Requirement("`/rewind` goes back to before a message, which can be changed."),
    "tui:shell:direct": Requirement(
        "`!command` runs at once, shows what it prints as it comes, can be stopped, and is told to the conversation."
    ),
    "tui:rewind:files": Requirement(
        "`/rewind` offers the conversation, the files that were changed since, or both; what somebody else changed is "
        "asked about first."
    ),
    "tui:commands:queued": Requirement(
        "A command or skill typed during a turn waits in sight and runs after it, alone and in order."
    ),
    "tui:agents:ended": Requirement(
        "When a background agent ends, a line says how, what it cost and how its report begins."
    ),
    "tui:turn:quiet": Requirement("Between Enter and the request nothing is drawn, for a quarter of a second at most."),
    "tui:status:own": Requirement(
        "The user's own command prints a status line from the session's figures; its failures are silent and named in "
        "`/status`."
    ),
    "tui:colour:none": Requirement("Without colour nothing is coloured and everything can be told apart."),
    "tui:colour:own": Requirement(
        "Only the terminal's own sixteen colours are used, so that it suits light and dark terminals."
    ),
    "tui:width:cjk": Requirement("Wide characters wrap by their width; narrow terminals work."),
    "tui:log:markdown-parts": Requirement(
        "Markdown is cut only where a new block begins, and earlier parts never change."
    ),
    "tui:log:long": Requirement("A long log is drawn in parts and scrolls to its beginning."),
    "tui:log:copy": Requirement("Selected text is copied, also inside tmux."),
    "tui:start:no-key": Requirement("Without a key three honest lines stand first."),
    "tui:start:light": Requirement("Other commands do not import the terminal's library."),
    "tui:terminal:real": Requirement("It works in a real terminal against the simulator."),
}
