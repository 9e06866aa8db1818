"""Promises of `reverie.context.facts` and `reverie.context.digest`."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "digest:facts:tools": Requirement(
        "files, commands, searches, tasks, plans, skills and delegated work are read from the calls of known tools",
        source="issue 4",
    ),
    "digest:facts:unknown-tools": Requirement(
        "a tool that nobody knows is noted by name and subject", source="issue 4"
    ),
    "digest:facts:shell-agents": Requirement(
        "a reply with one fenced shell block and the output after it count as a command", source="issue 4"
    ),
    "digest:facts:outlines": Requirement("definitions are seen in source of any language", source="issue 4"),
    "digest:facts:outcomes": Requirement(
        "how a command ended is told by the closing and error lines of its program", source="issue 4"
    ),
    "digest:facts:errors": Requirement(
        "an error is noted with its place, with what followed and whether it was fine later", source="issue 4"
    ),
    "digest:facts:decisions": Requirement(
        "what the user decided is quoted, in any language, with the question it answers", source="issue 4"
    ),
    "digest:facts:typed": Requirement(
        "only what a person typed is a request; what a program put there is none", source="product §6"
    ),
    "digest:facts:quoted": Requirement("no text in the facts is invented", source="issue 4"),
    "digest:facts:terms": Requirement("identifiers are found whatever they stand between", source="issue 4"),
    "digest:facts:fold": Requirement(
        "gathering a beginning and then the rest gives what gathering all at once gives", source="issue 4"
    ),
    "digest:facts:merge": Requirement(
        "the facts of two runs joined hold what the facts of the whole hold", source="critique 41"
    ),
    "digest:summary:sections": Requirement("a summary has the nine sections in order", source="spec 1 §11.2"),
    "digest:summary:limit": Requirement("a summary is never longer than its limit", source="issue 4"),
    "digest:summary:deterministic": Requirement("the same facts always give the same text", source="issue 4"),
    "digest:summary:users-words": Requirement(
        "every message of the user is there word for word, or by head, tail and pointer", source="product §6"
    ),
    "digest:summary:pointers": Requirement(
        "the index names everything that was left out, in pieces of one read each", source="issue 4"
    ),
    "digest:summary:not-twice": Requirement("what stays in view anyway is not told again", source="issue 4"),
    "digest:notes:template": Requirement(
        "headings and instruction lines of the template stay; a known heading gets its content", source="spec 1 §9.1"
    ),
    "digest:notes:limits": Requirement("no section and not the whole is over its limit", source="spec 1 §9.3"),
    "digest:bench:company": Requirement(
        "an identifier counts as visible only with something it stood with; a bare dump of names does not count",
        source="issue 4",
    ),
    "digest:bench:matched": Requirement(
        "the benchmark says what equal fidelity costs elsewhere, and its intervals do not count one session as many",
        source="issue 4",
    ),
    "digest:bench:reachable": Requirement(
        "reachable means one read away, by a pointer that names the file, command or subject", source="issue 4"
    ),
}
