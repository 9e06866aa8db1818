"""What we promise of a session."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "session:hooks:instructions": Requirement(
        "`InstructionsLoaded` is fired for every file: at the start, below a folder, by its pattern, included, and "
        "again after a compaction"
    ),
    "session:instructions:once": Requirement(
        "Instructions of a folder that stand in the conversation are not told again, after a resume either"
    ),
    "session:agents:return": Requirement("The list of agents returns with every compaction"),
    "session:mentions:attached": Requirement(
        "a file, picture or directory that the user names as `@path` is in the first request"
    ),
    "session:mentions:bounded": Requirement(
        "files of one message take a share of the window; what has no room is named"
    ),
    "session:mentions:denied": Requirement("a deny rule holds for files that the user names"),
    "session:usage:implausible": Requirement(
        "A figure of the provider that cannot be true is not believed: the session goes on as it was."
    ),
    "session:switches:go-on": Requirement(
        "No setting that changes a request ends a session, alone or with another, however long it gets; no request is "
        "refused for it, nothing typed is lost, and a compaction by hand leads out of every state"
    ),
    "session:switches:refused": Requirement(
        "What a provider refuses besides the conversation is left out for the rest of the session, with a notice"
    ),
    "session:switches:room-to-answer": Requirement(
        "However full the window is and whatever is reserved, a request leaves room for an answer"
    ),
    "session:turn:tools": Requirement(
        "A turn runs until the model stops asking for tools; results stand in the order of the calls."
    ),
    "session:instructions:outside": Requirement(
        "An instruction file from outside the project is read once the user agreed, never after a no, and is asked "
        "about once; what is wrong with instruction files is said when a session begins."
    ),
    "session:memory:daily-log": Requirement(
        "In daily-log mode the model is told the pattern of the logs' path and no date; `/dream` makes topics of them, "
        "and no dream comes by itself."
    ),
    "session:hooks:life": Requirement(
        "Hooks hear of set-up, start, a fresh start and the end; at the start they may name the session, add words, "
        "have files watched and skills read again."
    ),
    "session:hooks:answers": Requirement(
        "A `PermissionRequest` hook answers for the user: it may end the turn, give rules, or change the input, which "
        "is judged again."
    ),
    "session:hooks:team": Requirement(
        "A hook hears that a teammate has nothing left to do, and may give it more or let it go."
    ),
    "session:hooks:changes": Requirement(
        "Hooks hear of a round of calls, of tasks, of a folder that was entered, of files that changed and of a "
        "question that waits; where the protocol lets them refuse, they do."
    ),
    "session:turn:concurrent": Requirement(
        "Calls that only read run together, at most ten at once; all others one by one."
    ),
    "session:turn:refusal": Requirement("A refused call tells the model why, and the turn goes on."),
    "session:turn:cancel": Requirement(
        "A turn can be cancelled at every point; the history stays one that a provider takes."
    ),
    "session:turn:limits": Requirement(
        "A turn ends at its rounds, at the budget of the session, and goes on after a reply that was cut off."
    ),
    "session:turn:rounds": Requirement(
        "Where nobody limits a turn it stops after `budget.turn_rounds`, says so, and goes on with the next words."
    ),
    "session:turn:failures": Requirement(
        "529s are retried, then another model is asked; a dropped stream is asked again; a failure is recorded."
    ),
    "session:turn:queued": Requirement("Words typed while a turn runs join it at its next boundary."),
    "session:file:on-disk-first": Requirement("What the user said is on disk before the first request leaves."),
    "session:events:none-lost": Requirement(
        "What happens between the end of a turn and the moment its last event was read reaches the listeners.",
    ),
    "session:file:flushed-off-the-loop": Requirement(
        "Words are flushed before the request, replies before their calls run and before the turn ends, and the disk "
        "never holds the event loop."
    ),
    "session:file:readers": Requirement(
        "The vendor's reader opens our transcripts: one block a record, results with their details."
    ),
    "session:resume:goes-on": Requirement(
        "A resumed session extends the last request byte for byte; open calls count as interrupted."
    ),
    "session:resume:fork": Requirement(
        "A fork of a session leaves the original alone; another agent's session is always forked."
    ),
    "session:window:compacts": Requirement(
        "A long session passes several compactions; what the user said stays in view or behind a pointer, "
        "instructions are read anew, and hooks hear of it."
    ),
    "session:window:reactive": Requirement(
        "A request that the provider finds too long is made smaller and sent again."
    ),
    "session:window:notes": Requirement(
        "Notes are written beside the conversation and serve as summary; their questions read the parent's cache."
    ),
    "session:window:span": Requirement("The model can read again what a compaction left out."),
    "session:window:part": Requirement(
        "One side of a message is compacted on its own (`/compact from ID`, `/compact up_to ID`, `Session.compact`): "
        "what comes before it stays byte for byte, or what comes from it on; it gives a receipt and can be taken back."
    ),
    "session:window:back": Requirement(
        "A compaction can be undone, the conversation rewound and cleared; nothing is removed from the file."
    ),
    "session:memory:recalled": Requirement(
        "Memories that fit the user's words join the first request, once each, and never delay it."
    ),
    "session:memory:index": Requirement(
        "The first message holds the instruction files, the memory index and the date."
    ),
    "session:memory:provider-tool": Requirement(
        "The provider's own memory tool is served from the memory store when it is switched on."
    ),
    "session:instructions:nested": Requirement("Instructions below a folder join when a file there is touched."),
    "session:date:change": Requirement("A new day is an attachment."),
    "session:plan:approval": Requirement(
        "Plan mode changes nothing, has a plan file, ends with the user's approval, and survives a compaction."
    ),
    "session:hooks:say": Requirement(
        "Hooks block and change prompts and calls, add context, keep the agent working and end it."
    ),
    "session:ledger:booked": Requirement("Every call of a session is in the ledger."),
    "session:speed:first-byte": Requirement(
        "Nothing in a turn reads the whole history again before its first request.", deferred="a figure: bench/session"
    ),
}
