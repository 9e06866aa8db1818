"""What the search engine behind recall promises."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "search:index:update-equals-rebuild": Requirement("an index updated step by step answers as one built at once"),
    "search:index:order-is-irrelevant": Requirement("documents may be indexed in any order"),
    "search:index:removal-removes": Requirement("a removed document is never found again"),
    "search:index:derived": Requirement("a damaged or older index file is replaced silently and can be filled again"),
    "search:index:many-processes": Requirement("processes may update one index at once; nothing is lost"),
    "search:query:bodies": Requirement("a word in the body alone is found"),
    "search:query:fields-are-weighted": Requirement("a word in the name outweighs one in the body"),
    "search:asks": Requirement("a memory is found by its asks, by their words and each by its meaning"),
    "search:query:cjk": Requirement("Chinese and Japanese are found, words of two characters too"),
    "search:query:identifiers": Requirement("identifiers are found whole and by their parts"),
    "search:query:spelling": Requirement("a misspelt word finds what it meant"),
    "search:query:exclude": Requirement("excluded documents do not come back"),
    "search:query:deterministic": Requirement("the same query gives the same answer; ties go by key"),
    "search:query:light": Requirement("a lexical query loads neither numpy nor yaml nor rich"),
    "search:why:adds-up": Requirement("the reasons of a hit add up to what it was ranked by"),
    "search:abstain:named": Requirement("a proper name in a memory's name finds that memory"),
    "search:abstain:unrelated": Requirement(
        "a request that concerns no memory gets none whole, and none without a word of it"
    ),
    "search:abstain:few": Requirement(
        "among a handful of memories, the one that has nearly all telling words of a question answers it"
    ),
    "search:abstain:context": Requirement("words of what was said before order the hits of a query and add none"),
    "search:abstain:runners-up": Requirement(
        "a hit that would hardly answer by itself does not come along with one that does"
    ),
    "search:quality:words": Requirement("recall without vectors stays ahead of FTS5's first five on real questions"),
    "search:quality:work": Requirement(
        "memories at work are shown when they matter; asks help, unrelated requests cost little"
    ),
    "search:query:common-words-pruned": Requirement(
        "a query of words that most documents have reads no more of them than another"
    ),
    "search:vectors:meaning": Requirement("with vectors a paraphrase without common words is found"),
    "search:vectors:sentences": Requirement("with vectors one sentence of a long text is found by its meaning"),
    "search:vectors:end-to-end": Requirement(
        "with the real model the command finds a paraphrase and shows its similarity"
    ),
    "past:days": Requirement("a day that a query names prefers what was said about then"),
    "search:weights:verified": Requirement("model files are checked before they are put in place"),
    "search:weights:interrupted": Requirement(
        "an installation that is interrupted or killed at any moment leaves no model; the next one removes its remains"
    ),
    "search:weights:progress": Requirement("an installation tells how many bytes have arrived"),
}
