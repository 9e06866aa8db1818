"""What we promise of dreams and of background work."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "dream:gates": Requirement("switches, time, pause, sessions and lock are asked in this order, the cheapest first"),
    "dream:lock:one": Requirement("of two programs that dream at once, one dreams"),
    "dream:lock:stale": Requirement(
        "a lock ends with its process or after an hour, and a crash leaves no hole of a day"
    ),
    "dream:lock:host": Requirement(
        "a host's .consolidate-lock is respected, and its time is that of the last dream that succeeded"
    ),
    "dream:one-commit": Requirement(
        "a dream ends as one commit of its own author, in which nothing is deleted: what goes is archived with its"
        " reason"
    ),
    "dream:undo": Requirement(
        "undo of a dream restores the exact bytes when nothing came between, and merges otherwise"
    ),
    "dream:others": Requirement(
        "what others changed meanwhile is merged by file, and stays where that is not possible"
    ),
    "dream:kill": Requirement(
        "killed anywhere it leaves a readable store, a valid index and a truthful last-dream time"
    ),
    "dream:limits": Requirement(
        "more than a fifth archived, anything pinned, or the user's word without a newer one waits for a person"
    ),
    "dream:review": Requirement("a proposal is kept until it is applied or discarded, and can be taken piece by piece"),
    "dream:embedded": Requirement(
        "without a model duplicates are merged with all provenance, dead anchors marked, relative dates fixed, the"
        " index pruned and contradictions listed"
    ),
    "dream:idempotent": Requirement(
        "a second dream right after the first changes nothing, and dreams are deterministic"
    ),
    "dream:large": Requirement(
        "near duplicates are found without comparing everything with everything, none goes unseen, and the second dream"
        " changes nothing in large memories too"
    ),
    "dream:contradictions:told": Requirement(
        "direct opposites in English, German, Chinese and Japanese are told with both sources"
    ),
    "dream:index": Requirement(
        "what a person wrote in MEMORY.md is never touched, and a dream that changes nothing commits nothing"
    ),
    "dream:name": Requirement("of merged memories the clearest name stays"),
    "dream:contradictions": Requirement(
        "what is listed as a contradiction is one: the same thing said with a no, another number or day, the opposite,"
        " or a preference turned round"
    ),
    "dream:model": Requirement("a model dreams in a staging tree with few tools, limited rounds and a live view"),
    "dream:model:checked": Requirement(
        "writing elsewhere, removing, endless rounds, invalid front matter, secrets and invented words of the user"
        " change nothing"
    ),
    "dream:model:tidied": Requirement("what a model leaves is tidied by the rules within the same proposal and commit"),
    "dream:replies": Requirement(
        "whatever a model does in a dream, good or bad, no memory is lost, what is good of it is kept, and a line tells"
        " the rest"
    ),
    "dream:asks": Requirement(
        "with a model, memories without asks get them at the next dream: so many at once, the most used first, and"
        " nobody is asked twice about the same text"
    ),
    "dream:situations": Requirement(
        "without a model a dream adds the situations that the text of a rule names, once, and no asks"
    ),
    "dream:model:early": Requirement(
        "what a model had staged when its rounds or its budget ended is checked and waits as a proposal"
    ),
    "dream:budget:told": Requirement("where the budget keeps the model from dreaming, the result says so"),
    "dream:estimate": Requirement(
        "what a model's dream would cost is told beforehand, from the request that would be sent"
    ),
    "dream:budget": Requirement(
        "a model's dream is stopped between rounds when the budget is spent, visibly, and the rules go on"
    ),
    "dream:daily": Requirement("daily logs are appended by day and become topics in a dream, once"),
    "dream:cli": Requirement("reverie dream runs, reviews, applies, discards and tells"),
    "tasks:list": Requirement(
        "background work can be listed with state, cost and log; one whose process is gone is lost"
    ),
    "tasks:session": Requirement(
        "notes and extraction of a session are tasks with state, cost so far and log, and stop when asked to"
    ),
    "tasks:stop": Requirement("a task stops when somebody asks for it"),
}
