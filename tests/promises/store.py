"""The memory directory: its history, its many writers, and what survives them."""

from tests.promises import Requirement

PROMISES = {
    "memory:bad-input": Requirement(
        "What is no text where one is asked for is refused with a sentence, in every method of a memory."
    ),
    "store:commit:every-change-is-one": Requirement(
        "Every save, edit, forget, pin, archive and undo is one commit with author, session, sources and reason"
    ),
    "store:commit:message-round-trip": Requirement(
        "Any account of a change survives its commit message, whatever characters it holds"
    ),
    "store:takeover:no-byte-changed": Requirement(
        "An existing directory is taken over with one import commit and no byte of it changes"
    ),
    "store:git:ordinary": Requirement("Ordinary git commands (log, status, show, fsck) work on a memory directory"),
    "store:git:isolated": Requirement(
        "The user's git configuration, hooks, signing, filters and GIT_* variables never reach the history"
    ),
    "store:git:aside": Requirement("A memory directory inside another work tree keeps its history elsewhere"),
    "store:git:absent": Requirement("Without git memory works, history is off and says so"),
    "store:git:packs-itself": Requirement("The repository packs itself in the background"),
    "store:save:once": Requirement(
        "what a save has parsed and scanned is not parsed and scanned again, unless it is another content"
    ),
    "store:save:stamp": Requirement("a host's `modified` stamp is renewed on writing where it stands, and never added"),
    "store:foreign:attributed": Requirement(
        "an edit that a recorded session explains is committed in its name; anything else is nobody's"
    ),
    "memory:erase:moved": Requirement("the transcripts of a project are found where it was before it moved"),
    "store:foreign:noticed": Requirement(
        "An edit by any program is noticed, committed by its author or `unknown`, and never overwritten"
    ),
    "store:foreign:same-moment": Requirement(
        "An edit made between looking and writing is merged or kept as a conflict copy"
    ),
    "store:index:follows": Requirement(
        "The index is generated with every change; editing one of its lines edits that topic; prose stays"
    ),
    "store:save:compare-and-swap": Requirement(
        "A save based on an older text is merged with what came since, or refused with both kept"
    ),
    "store:save:names": Requirement("No two topics have names that are one file where case or accents do not count"),
    "store:save:refuses-secrets": Requirement("A save that holds a secret is refused naming the rule, not the text"),
    "store:save:all-or-none": Requirement("Saving many topics is one commit, all or none"),
    "store:find:names-candidates": Requirement("A name that fits several topics is refused with their paths"),
    "store:writers:no-lost-update": Requirement(
        "Any number of processes save, edit, forget and sync at once: nothing is lost, torn or left out of the index"
    ),
    "store:writers:lock-names-holder": Requirement("A writer that waits too long is told who holds the directory"),
    "store:kill:readable": Requirement(
        "Killed at any moment, the directory is readable and the next command finishes the change under its author"
    ),
    "store:disk:clear-error": Requirement(
        "A full disk or read-only directory gives an error naming the path and leaves the old state"
    ),
    "store:history:log": Requirement("The log follows a topic through its renames"),
    "store:history:at": Requirement("The directory of any past moment can be read"),
    "store:history:why": Requirement("A topic tells its sources, its trust and its changes"),
    "store:undo:exact": Requirement(
        "Undo restores the exact bytes when nothing came between, and undo of an undo brings the change back"
    ),
    "store:undo:merges": Requirement(
        "Undo of an old change keeps what came after; an overlap is reported and writes nothing"
    ),
    "store:erase:nowhere": Requirement(
        "After erase the text is in no object, index or file of the history; old commit ids lead to new ones"
    ),
    "store:erase:tombstone": Requirement(
        "A copy that imports from where a topic was erased drops it, and is told nothing of its text"
    ),
    "memory:door:secrets": Requirement(
        "No writer, whoever it is and by whatever tool, brings a secret into a file, a history or an index"
    ),
    "memory:door:front-matter": Requirement("A topic file with broken front matter is refused before it exists"),
    "memory:door:complete": Requirement(
        "What any tool writes into a memory directory is committed in the same call, with author, session, day and "
        "trust, and stands in the index"
    ),
    "store:git:own-settings": Requirement(
        "Git runs on a memory with our configuration alone: nothing that its repository names is started"
    ),
    "store:git:damaged-head": Requirement(
        "An emptied or garbled reference of the last commit is recognised, found again and told; doctor names it"
    ),
    "store:foreign:secrets": Requirement(
        "A secret written into a file from outside stays there and is told; it is not committed, indexed or recalled"
    ),
    "store:erase:relearning": Requirement(
        "What was erased cannot be learnt again by a machine, and its hash tells nothing"
    ),
    "store:erase:redacts": Requirement("Transcripts and spills that quote the topic are redacted"),
    "store:erase:crash": Requirement(
        "An erasing killed at any moment leaves the old history or the new one, and is finished later"
    ),
    "store:archive:out-of-sight": Requirement(
        "An archived topic is kept where a host's `*.md` scan never meets it, and can be restored"
    ),
    "store:bundle:round-trip": Requirement(
        "Export and import carry a memory with its history into an empty or existing directory"
    ),
    "store:retention:rules": Requirement(
        "Transcripts and spills go when the rules say so, and never those that are cited"
    ),
}
