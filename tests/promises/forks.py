"""What we promise of forks."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "forks:prefix:same": Requirement(
        "A fork sends the parent's system bytes, tools, model and messages, and one message more."
    ),
    "forks:prefix:cache": Requirement(
        "At least 95 % of the prefix that a fork shares is read from the parent's cache."
    ),
    "forks:parallel:once": Requirement(
        "Of parallel forks the first writes a prefix that is not cached and all others read it."
    ),
    "forks:parallel:placeholder": Requirement(
        "Every open call gets the same result in a fork, so parallel forks differ in their directive only."
    ),
    "forks:state:own": Requirement(
        "What a fork reads and adds stays its own; the parent's conversation does not change."
    ),
    "forks:limits:refused": Requirement(
        "What a fork may not do is refused when it is called; the tool list stays the parent's. Rounds are limited."
    ),
    "forks:limits:reads": Requirement(
        "Background work reads the project, the memory and its session, and nothing where keys are kept."
    ),
    "forks:limits:no-recursion": Requirement("A fork starts no further agents."),
    "forks:cancel:linked": Requirement("Cancelling the parent's work ends a fork."),
    "forks:record:sidechain": Requirement("A fork's entries go to its own file, marked as a sidechain, or nowhere."),
    "forks:tool:compacts": Requirement(
        "A fork that the Agent tool started is compacted like any conversation when its window fills, keeps its task "
        "word for word, reads its own messages again, starts no agents afterwards either, and reports."
    ),
    "forks:tool:starts": Requirement(
        "The Agent tool without a type starts a fork, waited for or in the background, named, with the parent told."
    ),
}
