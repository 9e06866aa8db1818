"""What we promise of recall, of `Memory` and of the commands about memories."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "recall:finds:whole-text": Requirement(
        "every topic is searched, with its whole text, its name and its description", source="issue 3 §4"
    ),
    "recall:says-nothing": Requirement("with no relevant memory recall returns none", source="product §2.7"),
    "recall:explains": Requirement("every hit says which words, which fields and which situation", source="issue 3 §4"),
    "recall:scripts-without-spaces": Requirement("queries in Chinese and Japanese work", source="issue 3 §4"),
    "recall:standing-instructions": Requirement(
        "a rule that shares no word with the request is found by files, tools or kind of task", source="issue 3 §4"
    ),
    "recall:age": Requirement("a memory that was meant to hold until a day that has passed counts half", "issue 12"),
    "recall:session-bytes": Requirement(
        "once a session was shown so many bytes of memories, no further ones join until some leave the view", "issue 12"
    ),
    "recall:excludes": Requirement("what was shown or read already does not come back", source="spec 2 §7.6"),
    "recall:recent-tools": Requirement(
        "usage of a tool in use is left out, warnings about it are not", source="spec 2 §7.4"
    ),
    "recall:skip-rule": Requirement(
        "a message of one word recalls nothing; without spaces, characters count", source="product §6"
    ),
    "recall:limits": Requirement(
        "5 memories, 200 lines and 4,096 bytes each, the part that matches, and how to read the rest",
        source="spec 2 §7.5",
    ),
    "recall:sliding-rule": Requirement(
        "a shown memory may return after 50,000 tokens and counts no longer", source="product §6"
    ),
    "recall:header-once": Requirement("the header is made once and kept with the hit", source="spec 2 §8"),
    "recall:fenced": Requirement("recalled text enters a conversation as data", source="product §2.8"),
    "recall:anchors": Requirement("recall says whether what a memory names is still so", source="product §6"),
    "recall:deterministic": Requirement("the same question gives the same answer", source="spec README §7"),
    "recall:edits-visible": Requirement(
        "a hand edit is visible within a second, at once with `fresh`, and a removed file is gone", source="issue 3 §4"
    ),
    "recall:derived": Requirement(
        "the index may be deleted, damaged or read-only: recall still answers", source="contract: files"
    ),
    "recall:selector": Requirement(
        "a model may choose among the best 50; on any failure the embedded answer stands", source="spec 2 §7.4"
    ),
    "recall:arrives": Requirement(
        "the memory that ranks first is in the first request of a turn, however long it takes to find",
        source="issue 12",
    ),
    "recall:late": Requirement(
        "a model's choice that misses its request joins the next one; until then the embedded answer stands",
        source="issue 12",
    ),
    "recall:noted": Requirement("`why` tells when a memory was recalled and for what", source="contract: why"),
    "memory:open:identity": Requirement(
        "a moved repository finds its memory; worktrees share it", source="product §2.10"
    ),
    "memory:open:hostile-settings": Requirement(
        "settings that came with a repository cannot send memory elsewhere", source="spec 2 §2.1"
    ),
    "memory:open:in-place": Requirement(
        "the host agent's directory is used in place where we have no store, unchanged", source="product §3"
    ),
    "memory:open:off": Requirement("memory that is off recalls nothing and refuses to write", source="spec 2 §2.2"),
    "memory:scopes:user": Requirement("the user's own memory is searched in every project", source="issue 3 §9"),
    "memory:scopes:agents": Requirement(
        "a mentioned agent's memory is searched beside the project's", source="product §6"
    ),
    "memory:save:derives": Requirement(
        "day, situations, anchors and trust are set where the caller says nothing", source="issue 3 §4-5"
    ),
    "memory:save:updates": Requirement(
        "saving a name again updates its file and keeps what only the old one had", source="spec 2 §10.6"
    ),
    "memory:save:doubles": Requirement(
        "the same text is not saved twice, nearly the same is named", source="spec 2 §10.6"
    ),
    "memory:save:seen-is-no-instruction": Requirement(
        "what was only seen does not become user or feedback memory", source="product §2.8"
    ),
    "memory:save:secrets": Requirement("a secret is refused and the refusal noted by rule", source="issue 3 §6"),
    "memory:two-processes": Requirement("what one process saves another recalls", source="product §2.9"),
    "memory:erase:derived": Requirement("after an erasure no derived file holds the text", source="issue 3 §2"),
    "memory:doctor": Requirement(
        "damage, secrets, injected orders, broken anchors, doubles and dangling lines are named", source="contract"
    ),
    "memory:public-names": Requirement("`import reverie` is free and offers the public names", source="product §4"),
    "cli:memory:json": Requirement(
        "every command about memories prints the contract's document", source="contract, Command line"
    ),
    "cli:memory:errors": Requirement(
        "a wrong name exits with 2 and names those that are near; nothing asks without a terminal", source="contract"
    ),
    "cli:recall:light": Requirement("recall loads neither YAML nor anything heavy", source="issue 3, goals"),
    "recall:use-counts": Requirement(
        "among hits that are about equally good, one that was recalled before comes first", source="issue 3 §4"
    ),
    "cli:memory:told": Requirement(
        "secrets in files that others edited, and what an import erased, are told", source="issue 3 §2, §6"
    ),
    "cli:completion": Requirement("the shell can complete commands", source="issue 3 §7"),
}
