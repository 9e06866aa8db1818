"""What `reverie.files` promises."""

from tests.promises import Requirement

PROMISES = {
    "files:write:old-or-new": Requirement(
        "a file is replaced as a whole: whoever is killed while writing leaves the old content or the new"
    ),
    "files:write:no-leftovers": Requirement(
        "a failed write leaves nothing behind; what a killed writer left is invisible to scans and can be removed"
    ),
    "files:write:full-disk": Requirement("a full disk gives an error that names the path and leaves the old state"),
    "files:write:read-only": Requirement(
        "a read-only folder gives an error that names the path and leaves the old state"
    ),
    "files:write:mode": Requirement("a rewritten file keeps its mode and a new one is open to its owner only"),
    "files:write:links-not-followed": Requirement(
        "neither a write nor an append goes through a link at the path itself"
    ),
    "files:append:survives-kill": Requirement(
        "an append that returned is whole after kill -9 at any moment; a torn line costs only itself"
    ),
    "files:append:many-writers": Requirement("processes appending to one file never mix or lose lines"),
    "files:lock:one-holder": Requirement("of any number of processes one holds a lock at a time"),
    "files:lock:fair": Requirement("nobody who waits for a lock is starved by one who takes it again and again"),
    "files:lock:names-holder": Requirement("a lock that is held says by whom, on which host and since when"),
    "files:lock:stale": Requirement(
        "a lock whose process is gone, whose pid was given to another, or which is too old is taken over"
    ),
    "files:lock:takeover-race": Requirement("processes that compete for a stale lock never hold it together"),
    "files:join:no-escape": Requirement(
        "no name from outside leads out of the root: not by `..`, links, absolute parts or NUL bytes"
    ),
    "files:open:no-links": Requirement(
        "a file is opened and written by its real path without following a link in any part of it"
    ),
}
