"""What private memory on several machines promises."""

from tests.promises import Requirement

PROMISES = {
    "sync:two-machines": Requirement(
        "private memories, personal ones included, travel between machines over a git remote and are merged; an edit "
        "that loses is kept"
    ),
    "sync:consent": Requirement("nothing private is sent before the user agreed once for each memory"),
    "sync:secrets": Requirement("a file with a secret is not sent between machines"),
    "sync:killed": Requirement("an exchange that is killed at any step loses nothing and is done by the next"),
    "sync:mass-deletion": Requirement("a directory that vanished is not sent as deletions unless a person agrees"),
    "sync:erase": Requirement("an erased memory goes from the remote, and what keeps it is named"),
    "sync:commands": Requirement("errors of `reverie sync` name the next step"),
}
