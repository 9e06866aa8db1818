"""What the search engine behind recall promises."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "search:index:update-equals-rebuild": Requirement(
        "an index updated step by step answers as one built at once", source="issue 3"
    ),
    "search:index:order-is-irrelevant": Requirement("documents may be indexed in any order", source="issue 3"),
    "search:index:removal-removes": Requirement("a removed document is never found again", source="issue 3"),
    "search:index:derived": Requirement(
        "a damaged or older index file is replaced silently and can be filled again", source="issue 3"
    ),
    "search:index:many-processes": Requirement(
        "processes may update one index at once; nothing is lost", source="issue 3"
    ),
    "search:query:bodies": Requirement("a word in the body alone is found", source="issue 3"),
    "search:query:fields-are-weighted": Requirement("a word in the name outweighs one in the body", source="issue 3"),
    "search:query:cjk": Requirement("Chinese and Japanese are found, words of two characters too", source="issue 3"),
    "search:query:identifiers": Requirement("identifiers are found whole and by their parts", source="issue 3"),
    "search:query:spelling": Requirement("a misspelt word finds what it meant", source="issue 3"),
    "search:query:neighbours": Requirement("neighbours in a group explain each other", source="issue 3"),
    "search:query:exclude": Requirement("excluded documents do not come back", source="issue 3"),
    "search:query:deterministic": Requirement("the same query gives the same answer; ties go by key", source="issue 3"),
    "search:query:light": Requirement("a lexical query loads neither numpy nor yaml nor rich", source="issue 3"),
    "search:why:adds-up": Requirement("the reasons of a hit add up to what it was ranked by", source="issue 3"),
    "search:abstain:named": Requirement("a proper name in a memory's name finds that memory", source="issue 3"),
    "search:abstain:unrelated": Requirement("a request that concerns no memory gets no answer", source="issue 3"),
    "search:abstain:few": Requirement(
        "among a handful of memories, the one that has nearly all telling words of a question answers it",
        source="issue 3",
    ),
    "search:abstain:context": Requirement(
        "words of what was said before order the hits of a query and add none", source="issue 12"
    ),
    "search:abstain:runners-up": Requirement(
        "a hit that would hardly answer by itself does not come along with one that does", source="issue 3"
    ),
    "search:quality:words": Requirement(
        "recall@5 without vectors stays ahead of FTS5 on real questions", source="issue 3"
    ),
    "search:query:common-words-pruned": Requirement(
        "a query of words that most documents have reads no more of them than another", source="issue 3, goals"
    ),
    "search:vectors:meaning": Requirement("with vectors a paraphrase without common words is found", source="issue 3"),
    "search:vectors:sentences": Requirement(
        "with vectors one sentence of a long text is found by its meaning", source="issue 3"
    ),
    "search:vectors:end-to-end": Requirement(
        "with the real model the command finds a paraphrase and shows its similarity", source="issue 3"
    ),
    "search:query:days": Requirement("a day that a query names prefers what was written about then", source="issue 3"),
    "search:weights:verified": Requirement("model files are checked before they are put in place", source="issue 3"),
}
