"""Who answers: the models, their errors and retries, and the fakes for them."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "models:port:contract": Requirement(
        "every model keeps the same contract: events in order, whole blocks, errors of the tree, retries that are seen",
        source="issue 2",
    ),
    "models:port:answer": Requirement("one call listens to the end, whoever fails on the way", source="issue 2"),
    "models:body:pure": Requirement("the bytes of a request are a function of the request alone", source="product §6"),
    "models:body:cache-marks": Requirement(
        "cache marks stand exactly where the request puts them, at most four, and none come from recorded content",
        source="spec 8 §1.10",
    ),
    "models:body:betas": Requirement("context edits and compaction bring their beta headers", source="spec 8 §1.10"),
    "models:received:fit": Requirement(
        "what arrives can be kept and sent back: a character cut in two is whole again, input nested beyond measure is "
        "the model's to mend, and every call has an id of its own that a provider takes",
        "issue 12",
    ),
    "models:anthropic:recorded": Requirement(
        "recorded answers of the real provider are read rightly: text, tools, reasoning, compaction, cache usage",
        source="issue 2",
    ),
    "models:anthropic:count": Requirement("the provider counts a request without answering it", source="issue 2"),
    "models:anthropic:tolerant": Requirement(
        "unknown events, deltas and blocks are passed over or kept, never fatal", source="spec 8 §1.10"
    ),
    "models:anthropic:cut-off": Requirement(
        "a tool call that a limit cut off is left out; one that is no JSON is handed on as such", source="issue 2"
    ),
    "models:openai:quirks": Requirement(
        "servers that bend the chat protocol are understood: ids, indices, arguments, finish reasons, usage",
        source="issue 2",
    ),
    "models:openai:mapping": Requirement(
        "messages, tools, results and pictures are put into chat completions", source="issue 2"
    ),
    "models:effort": Requirement(
        "how much a model is to put into an answer is said in the words of its protocol", source="spec 8 §1.9, §1.10"
    ),
    "models:openai:local": Requirement("a real small local model answers over the same path", source="issue 2"),
    "models:offline:embedded": Requirement(
        "without a model the system's own questions are answered by their embedded engine", source="product §2"
    ),
    "models:offline:honest": Requirement(
        "free talk without a model is refused in three lines that say what works and how to set one", source="issue 2"
    ),
    "models:errors:tree": Requirement(
        "every failure of a provider becomes the error on which a caller acts, with gap, waiting time and next step",
        source="spec 8 §1.10",
    ),
    "models:errors:no-key": Requirement("no message ever shows the key", source="issue 2"),
    "models:retry:waits": Requirement(
        "retries wait longer each time, with jitter, and as long as the provider asks", source="issue 2"
    ),
    "models:time-outs": Requirement(
        "connecting, silence between events and the whole answer each have their limit", source="issue 2"
    ),
    "models:choose:names": Requirement("a name leads to the model that serves it", source="issue 2"),
    "models:import:lazy": Requirement(
        "choosing a model and answering offline import no vendor SDK and no HTTP client", source="libraries §1"
    ),
    "testing:clock": Requirement("a clock stands still until it is set", source="style 5.5"),
    "testing:scripted-model": Requirement("a scripted model plays its steps and records requests", source="style 5.2"),
    "testing:openai-server": Requirement(
        "the chat server plays its script and refuses orphan results", source="issue 2"
    ),
}
