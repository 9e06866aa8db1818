"""What is promised to people who use Reverie beside another agent: hooks and installers."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "hook:claude-code": Requirement(
        "With the hooks installed, what the user said in one session of Claude Code reaches the model's request in the "
        "next, and a compaction keeps the state of the session."
    ),
    "hook:forms": Requirement("`reverie hook` reads each agent's events and answers in the form that it takes."),
    "hook:once": Requirement("A prompt is answered once per session, whoever else runs the same hook."),
    "hook:never-breaks": Requirement(
        "`reverie hook` ends with 0 and a line in the log whatever fails: bad input, a broken or locked store, a home "
        "that cannot be written; a transcript of any size costs the same."
    ),
    "hook:learns": Requirement(
        "After a turn one process learns from the session in the background, and the user is told what was remembered."
    ),
    "hook:off": Requirement("Hooks can be turned off for a session and for a project."),
    "hook:warm": Requirement("With vectors installed a warm process answers over a socket, and ends when idle."),
    "install:keeps": Requirement(
        "`reverie install` adds only its own keys: order, comments and unknown keys of a settings file stay."
    ),
    "install:removes": Requirement(
        "`--remove` restores a file byte for byte when nobody changed it since, else takes out only our keys."
    ),
    "install:agents": Requirement("`reverie install` knows nine agents, and shows the diff before it changes a file."),
    "install:vendor": Requirement("An agent's own add command is tried on a copy before it is run on the settings."),
    "install:doctor": Requirement(
        "`reverie doctor` finds hooks that do not fire, hooks that run twice, and sessions of an unknown format."
    ),
}
