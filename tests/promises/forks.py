"""What we promise of forks."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "forks:prefix:same": Requirement(
        "A fork sends the parent's system bytes, tools, model and messages, and one message more.", source="spec 4 §2.1"
    ),
    "forks:prefix:cache": Requirement(
        "At least 95 % of the prefix that a fork shares is read from the parent's cache.", source="issue 6, item 1"
    ),
    "forks:parallel:once": Requirement(
        "Of parallel forks the first writes a prefix that is not cached and all others read it.",
        source="issue 6, item 1",
    ),
    "forks:parallel:placeholder": Requirement(
        "Every open call gets the same result in a fork, so parallel forks differ in their directive only.",
        source="spec 4 §2.2",
    ),
    "forks:state:own": Requirement(
        "What a fork reads and adds stays its own; the parent's conversation does not change.", source="spec 4 §2.1"
    ),
    "forks:limits:refused": Requirement(
        "What a fork may not do is refused when it is called; the tool list stays the parent's. Rounds are limited.",
        source="spec 4 §2.1",
    ),
    "forks:limits:reads": Requirement(
        "Background work reads the project, the memory and its session, and nothing where keys are kept.",
        source="issue 12",
    ),
    "forks:limits:no-recursion": Requirement("A fork starts no further agents.", source="spec 4 §2.3"),
    "forks:cancel:linked": Requirement("Cancelling the parent's work ends a fork.", source="spec 4 §2.1"),
    "forks:record:sidechain": Requirement(
        "A fork's entries go to its own file, marked as a sidechain, or nowhere.", source="spec 4 §2.1"
    ),
    "forks:tool:compacts": Requirement(
        "A fork that the Agent tool started is compacted like any conversation when its window fills, keeps its task "
        "word for word, reads its own messages again, starts no agents afterwards either, and reports.",
        source="spec 1 §11; spec 4 §2",
    ),
    "forks:tool:starts": Requirement(
        "The Agent tool without a type starts a fork, waited for or in the background, named, with the parent told.",
        source="spec 4 §1",
    ),
}
