"""What `reverie.files.places` promises."""

from tests.promises import Requirement

PROMISES = {
    "places:slug:vendor": Requirement(
        "a path has the same slug here as in the vendor's own reader, however long and in whatever script",
        "spec 8 §1.2",
    ),
    "places:slug:reading-is-tolerant": Requirement(
        "when reading, folders of long paths are accepted with any hash, and those of programs that count in UTF-16",
        "spec 8 §1.2",
    ),
    "places:paths:layout": Requirement("files lie where the host agent and its tools look for them", "spec 8 §1.1"),
    "places:paths:ids-checked": Requirement("no id from outside leads out of the folder it names a file in", "issue 2"),
    "places:paths:archive-hidden": Requirement(
        "archive and conflict copies are invisible to a host's scan for `*.md`", "product §6 foreign writers"
    ),
    "places:agents:three-scopes": Requirement("an agent role's memory lies where its scope says", "spec 4 §5"),
    "places:memory-directory:validation": Requirement(
        "relative, near-root, drive, network and NUL paths are no memory directory", "spec 2 §2.3"
    ),
    "places:memory-directory:order": Requirement(
        "environment, managed, flag, local, user, default: the first valid one wins, others are told of",
        "spec 2 §2.1",
    ),
    "places:memory-directory:repository-has-no-say": Requirement(
        "neither project settings nor a committed local file can move the memory directory", "spec 2 §2.1, spec 7 #36"
    ),
    "places:memory-directory:history-aside": Requirement(
        "a memory directory inside another work tree keeps its history under our home", "product §3 history"
    ),
    "places:checkout:as-git": Requirement("the work tree around a path is the one that git finds", "spec 2 §1"),
    "places:checkout:worktrees-share": Requirement("all worktrees of a repository have one root", "spec 2 §1"),
    "places:checkout:not-fooled": Requirement(
        "a folder that claims the git folder of another project is not taken for that project", "issue 2"
    ),
    "places:remotes:one-spelling": Requirement(
        "ssh, scp and https addresses of one repository are equal, and no credentials are kept", "product promise 10"
    ),
    "places:identity:survives-a-move": Requirement(
        "a moved or renamed repository finds its store again", "product promise 10"
    ),
    "places:identity:repository-not-path": Requirement(
        "clones and worktrees share a store; another repository at the same path gets its own", "product promise 10"
    ),
    "places:identity:first-commit-suggests": Requirement(
        "an equal first commit alone only suggests a store", "product promise 10"
    ),
    "places:identity:slug-collision": Requirement(
        "two projects with one slug get stores of their own", "product §6 slug, identity"
    ),
    "places:identity:damaged": Requirement("a damaged identity file is named and never overwritten", "issue 2"),
    "places:transcripts:whole-repository": Requirement(
        "sessions held anywhere in a repository are found, in every worktree, in both homes, from before a move",
        "spec README §0",
    ),
}
