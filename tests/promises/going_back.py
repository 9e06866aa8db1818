"""What we promise of going back with files, and of commands beside the conversation."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "rewind:files:back": Requirement(
        "Files that file and memory tools changed since a message go back to what they were, also after resuming, "
        "in a fork, and when changed by a child agent."
    ),
    "rewind:files:others": Requirement(
        "A file that somebody else changed meanwhile is named and left alone unless the user says otherwise."
    ),
    "rewind:files:kill": Requirement("A kill at any point leaves everything that was changed restorable."),
    "rewind:files:bounds": Requirement(
        "What is put aside stays within its bounds, the oldest goes first; a file that is too large is named as lost."
    ),
    "shell:words:join": Requirement(
        "What the user ran with `!` reaches the model with their next words, with what it printed; never in the middle "
        "of a turn, never with a key."
    ),
}
