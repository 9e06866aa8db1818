"""What whole sessions promise, through the real program."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "acceptance:terminal:compact-side": Requirement(
        "`/compact from` and `/compact up to` let the user pick a message, and sum up that side of it."
    ),
    "acceptance:session:bug-fix": Requirement(
        "A bug is fixed in a terminal with ten calls; changes and programs are asked for, reading is not."
    ),
    "acceptance:session:long": Requirement(
        "A long session passes three compactions, shows each receipt and loses no word of the user."
    ),
    "acceptance:session:refusal": Requirement("A refused call does nothing and the model is told the user's reason."),
    "acceptance:session:crash": Requirement("A session killed while a tool runs is resumed where it stood."),
    "acceptance:session:faults": Requirement(
        "529s and dropped streams are asked again; nothing of a half answer stays."
    ),
    "acceptance:session:stops": Requirement(
        "Ctrl-C once stops the turn with a history that a provider takes, twice leaves."
    ),
    "acceptance:session:back": Requirement(
        "In a resumed session `/rewind` brings files back that were changed before, and asks about those that somebody "
        "else changed; what was run with `!` reaches the model; a command typed during a turn runs after it."
    ),
    "acceptance:print:formats": Requirement(
        "`-p` answers as text, as one object or as a stream of them, from an argument or from standard input."
    ),
    "acceptance:print:goes-on": Requirement(
        "`-p --continue` extends the newest session, or a copy of the host's when that is newer; `--fork-session` goes "
        "on with a copy."
    ),
    "acceptance:print:elsewhere": Requirement(
        "What `reverie sessions` lists is resumed, in a copy where it was held in another directory of the repository."
    ),
    "acceptance:readers:vendor": Requirement("The vendor's reader opens what these sessions wrote."),
    "acceptance:readers:claude-code-log": Requirement(
        "claude-code-log, from others, renders what these sessions wrote."
    ),
    "acceptance:readers:ccusage": Requirement("ccusage, from others, finds the tokens that these sessions used."),
    "acceptance:host:preserved-messages": Requirement(
        "A session that the host compacted goes on with the messages which the host kept, and as the host goes on."
    ),
    "acceptance:host:resumes-ours": Requirement(
        "The host goes on with a session of ours, and we with what it wrote behind it."
    ),
    "acceptance:host:big-records": Requirement(
        "A session of the host that begins with a long text is listed, shown and resumed."
    ),
    "acceptance:providers:background": Requirement(
        "A background model of another provider is asked at its own address by its own name, and is booked so."
    ),
    "acceptance:providers:fallback": Requirement(
        "A fallback model of another provider answers at its own address under its own name, and is booked so."
    ),
}
