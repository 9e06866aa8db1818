"""What `reverie.files.places` promises."""

from tests.promises import Requirement

PROMISES = {
    "places:slug:vendor": Requirement(
        "a path has the same slug here as in the vendor's own reader, however long and in whatever script"
    ),
    "places:slug:reading-is-tolerant": Requirement(
        "when reading, folders of long paths are accepted with any hash, and those of programs that count in UTF-16"
    ),
    "places:paths:layout": Requirement("files lie where the host agent and its tools look for them"),
    "places:paths:ids-checked": Requirement("no id from outside leads out of the folder it names a file in"),
    "places:paths:archive-hidden": Requirement("archive and conflict copies are invisible to a host's scan for `*.md`"),
    "places:agents:three-scopes": Requirement("an agent role's memory lies where its scope says"),
    "places:memory-directory:validation": Requirement(
        "relative, near-root, drive, network and NUL paths are no memory directory"
    ),
    "places:memory-directory:order": Requirement(
        "environment, managed, flag, local, user, default: the first valid one wins, others are told of"
    ),
    "places:memory-directory:repository-has-no-say": Requirement(
        "neither project settings nor a committed local file can move the memory directory"
    ),
    "places:memory-directory:history-aside": Requirement(
        "a memory directory inside another work tree keeps its history under our home"
    ),
    "places:checkout:as-git": Requirement("the work tree around a path is the one that git finds"),
    "places:checkout:worktrees-share": Requirement("all worktrees of a repository have one root"),
    "places:checkout:not-fooled": Requirement(
        "a folder that claims the git folder of another project is not taken for that project"
    ),
    "places:remotes:one-spelling": Requirement(
        "ssh, scp and https addresses of one repository are equal, and no credentials are kept"
    ),
    "places:identity:survives-a-move": Requirement("a moved or renamed repository finds its store again"),
    "places:identity:repository-not-path": Requirement(
        "clones and worktrees share a store; another repository at the same path gets its own"
    ),
    "places:identity:first-commit-suggests": Requirement("an equal first commit alone only suggests a store"),
    "places:identity:slug-collision": Requirement("two projects with one slug get stores of their own"),
    "places:identity:damaged": Requirement("a damaged identity file is named and never overwritten"),
    "places:transcripts:whole-repository": Requirement(
        "sessions held anywhere in a repository are found, in every worktree, in both homes, from before a move"
    ),
}
