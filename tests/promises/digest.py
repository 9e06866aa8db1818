"""Promises of `reverie.context.facts` and `reverie.context.digest`."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "digest:facts:tools": Requirement(
        "files, commands, searches, tasks, plans, skills and delegated work are read from the calls of known tools"
    ),
    "digest:facts:unknown-tools": Requirement("a tool that nobody knows is noted by name and subject"),
    "digest:facts:shell-agents": Requirement(
        "a reply with one fenced shell block and the output after it count as a command"
    ),
    "digest:facts:outlines": Requirement("definitions are seen in source of any language"),
    "digest:facts:outcomes": Requirement("how a command ended is told by the closing and error lines of its program"),
    "digest:facts:errors": Requirement(
        "an error is noted with its place, with what followed and whether it was fine later"
    ),
    "digest:facts:decisions": Requirement(
        "what the user decided is quoted, in any language, with the question it answers"
    ),
    "digest:facts:typed": Requirement("only what a person typed is a request; what a program put there is none"),
    "digest:facts:quoted": Requirement("no text in the facts is invented"),
    "digest:facts:terms": Requirement("identifiers are found whatever they stand between"),
    "digest:facts:fold": Requirement("gathering a beginning and then the rest gives what gathering all at once gives"),
    "digest:summary:sections": Requirement("a summary has the nine sections in order"),
    "digest:summary:limit": Requirement("a summary is never longer than its limit"),
    "digest:summary:deterministic": Requirement("the same facts always give the same text"),
    "digest:summary:users-words": Requirement(
        "every message of the user is there word for word, or by head, tail and pointer"
    ),
    "digest:summary:pointers": Requirement("the index names everything that was left out, in pieces of one read each"),
    "digest:summary:not-twice": Requirement("what stays in view anyway is not told again"),
    "digest:notes:template": Requirement(
        "headings and instruction lines of the template stay; a known heading gets its content"
    ),
    "digest:notes:limits": Requirement("no section and not the whole is over its limit"),
    "digest:bench:company": Requirement(
        "an identifier counts as visible only with something it stood with; a bare dump of names does not count"
    ),
    "digest:bench:matched": Requirement(
        "the benchmark says what equal fidelity costs elsewhere, and its intervals do not count one session as many"
    ),
    "digest:bench:reachable": Requirement(
        "reachable means one read away, by a pointer that names the file, command or subject"
    ),
}
