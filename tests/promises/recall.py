"""What we promise of recall, of `Memory` and of the commands about memories."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "recall:finds:whole-text": Requirement(
        "every topic is searched, with its whole text, its name and its description"
    ),
    "recall:says-nothing": Requirement("with no relevant memory recall returns none"),
    "recall:explains": Requirement("every hit says which words, which fields and which situation"),
    "recall:scripts-without-spaces": Requirement("queries in Chinese and Japanese work"),
    "recall:standing-instructions": Requirement(
        "a rule that shares no word with the request is found by files, tools or kind of task"
    ),
    "recall:age": Requirement("a memory that was meant to hold until a day that has passed counts half"),
    "recall:session-bytes": Requirement(
        "once a session was shown so many bytes of memories, no further ones join until some leave the view"
    ),
    "recall:excludes": Requirement("what was shown or read already does not come back"),
    "recall:recent-tools": Requirement("usage of a tool in use is left out, warnings about it are not"),
    "recall:skip-rule": Requirement("a message of one word recalls nothing; without spaces, characters count"),
    "recall:limits": Requirement(
        "5 memories, 200 lines and 4,096 bytes each, the part that matches, and how to read the rest"
    ),
    "recall:sliding-rule": Requirement("a shown memory may return after 50,000 tokens and counts no longer"),
    "recall:header-once": Requirement("the header is made once and kept with the hit"),
    "recall:fenced": Requirement("recalled text enters a conversation as data"),
    "recall:anchors": Requirement("recall says whether what a memory names is still so"),
    "recall:deterministic": Requirement("the same question gives the same answer"),
    "recall:others-asks": Requirement(
        "situations and asks that others wrote name a memory, and never show it whole alone"
    ),
    "recall:vectors-complete": Requirement("all memories get vectors: a few while a query waits, many beside it"),
    "recall:edits-visible": Requirement(
        "a hand edit is visible within a second, at once with `fresh`, and a removed file is gone"
    ),
    "recall:derived": Requirement("the index may be deleted, damaged or read-only: recall still answers"),
    "recall:selector": Requirement("a model may choose among the best 50; on any failure the embedded answer stands"),
    "recall:selector:replies": Requirement(
        "whatever a selector replies, the memory that fits best is shown, and nothing that is not in its list"
    ),
    "recall:arrives": Requirement(
        "the memory that ranks first is in the first request of a turn, however long it takes to find"
    ),
    "recall:late": Requirement(
        "a model's choice that misses its request joins the next one; until then the embedded answer stands"
    ),
    "recall:noted": Requirement("`why` tells when a memory was recalled and for what"),
    "memory:open:identity": Requirement("a moved repository finds its memory; worktrees share it"),
    "memory:open:hostile-settings": Requirement("settings that came with a repository cannot send memory elsewhere"),
    "memory:open:in-place": Requirement(
        "the host agent's directory is used in place where we have no store, unchanged"
    ),
    "memory:open:off": Requirement("memory that is off recalls nothing and refuses to write"),
    "memory:scopes:user": Requirement("the user's own memory is searched in every project"),
    "memory:scopes:agents": Requirement("a mentioned agent's memory is searched beside the project's"),
    "memory:save:derives": Requirement("day, situations, anchors and trust are set where the caller says nothing"),
    "memory:save:updates": Requirement("saving a name again updates its file and keeps what only the old one had"),
    "memory:save:doubles": Requirement("the same text is not saved twice, nearly the same is named"),
    "memory:save:seen-is-no-instruction": Requirement("what was only seen does not become user or feedback memory"),
    "memory:save:secrets": Requirement("a secret is refused and the refusal noted by rule"),
    "memory:two-processes": Requirement("what one process saves another recalls"),
    "memory:erase:derived": Requirement("after an erasure no derived file holds the text"),
    "memory:doctor": Requirement(
        "damage, secrets, injected orders, broken anchors, doubles and dangling lines are named"
    ),
    "memory:public-names": Requirement("`import reverie` is free and offers the public names"),
    "cli:memory:json": Requirement("every command about memories prints its JSON document"),
    "cli:memory:errors": Requirement(
        "a wrong name exits with 2 and names those that are near; nothing asks without a terminal"
    ),
    "cli:recall:light": Requirement("recall loads neither YAML nor anything heavy"),
    "recall:use-counts": Requirement(
        "among hits that are about equally good, one that was recalled before comes first"
    ),
    "cli:memory:told": Requirement("secrets in files that others edited, and what an import erased, are told"),
    "cli:completion": Requirement("the shell can complete commands"),
}
