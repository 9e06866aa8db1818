"""What we promise of searching past sessions."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "past:finds": Requirement(
        "what a person, the model or a tool said in a past session is found by its words, in any script"
    ),
    "past:place": Requirement("a hit names its session, message, moment and speaker, and shows what stands around it"),
    "past:neighbours": Requirement(
        "a passage is ranked in the light of the ones beside it: an answer needs not repeat the question"
    ),
    "past:says-nothing": Requirement("words that no session holds find nothing"),
    "past:incremental": Requirement(
        "only what was appended to a transcript is read; a torn last line waits for its end"
    ),
    "past:rewritten": Requirement(
        "a transcript that was rewritten, shortened, replaced or removed is found by what it says now only, and the"
        " words it lost leave the index file"
    ),
    "past:derived": Requirement("the index may be deleted or damaged at any time and is made again"),
    "past:many-processes": Requirement(
        "processes that index at once, or are killed while they do, leave every passage in the index exactly once"
    ),
    "past:secrets": Requirement("secrets in what is found are not shown, also where a passage holds half of one"),
    "past:once": Requirement("a message that forks of a session share is shown once"),
    "past:project": Requirement(
        "sessions of all working directories of the repository are searched, in both homes, and no others"
    ),
    "past:cli": Requirement("`reverie search` prints one JSON document, or readable passages"),
}
