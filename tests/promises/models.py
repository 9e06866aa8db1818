"""Who answers: the models, their errors and retries, and the fakes for them."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "models:command:answers": Requirement(
        "command:claude, codex, copilot, gemini, opencode and qwen ask the user's own program, without tools, in an"
        " empty directory, storing no session where the program allows that; tool calls travel as text"
    ),
    "models:command:failures": Requirement(
        "a program that fails, hangs, prints garbage or is not there is an error that says what to do; nothing it"
        " started goes on, and no secret is shown"
    ),
    "models:command:cost": Requirement(
        "what a program reports as its cost is booked, else an estimate at a list price, so that the budget holds"
    ),
    "models:local-servers": Requirement(
        "model servers on loopback and installed programs are found and offered, and used only when chosen"
    ),
    "models:port:contract": Requirement(
        "every model keeps the same contract: events in order, whole blocks, errors of the tree, retries that are seen"
    ),
    "models:port:answer": Requirement("one call listens to the end, whoever fails on the way"),
    "models:body:pure": Requirement("the bytes of a request are a function of the request alone"),
    "models:body:cache-marks": Requirement(
        "cache marks stand exactly where the request puts them, at most four, and none come from recorded content"
    ),
    "models:body:betas": Requirement("context edits and compaction bring their beta headers"),
    "models:received:fit": Requirement(
        "what arrives can be kept and sent back: a character cut in two is whole again, input nested beyond measure is "
        "the model's to mend, and every call has an id of its own that a provider takes"
    ),
    "models:anthropic:recorded": Requirement(
        "recorded answers of the real provider are read rightly: text, tools, reasoning, compaction, cache usage"
    ),
    "models:anthropic:count": Requirement("the provider counts a request without answering it"),
    "models:anthropic:tolerant": Requirement("unknown events, deltas and blocks are passed over or kept, never fatal"),
    "models:anthropic:cut-off": Requirement(
        "a tool call that a limit cut off is left out; one that is no JSON is handed on as such"
    ),
    "models:openai:quirks": Requirement(
        "servers that bend the chat protocol are understood: ids, indices, arguments, finish reasons, usage"
    ),
    "models:openai:mapping": Requirement("messages, tools, results and pictures are put into chat completions"),
    "models:effort": Requirement("how much a model is to put into an answer is said in the words of its protocol"),
    "models:openai:local": Requirement("a real small local model answers over the same path"),
    "models:offline:embedded": Requirement(
        "without a model the system's own questions are answered by their embedded engine"
    ),
    "models:offline:honest": Requirement(
        "free talk without a model is refused in three lines that say what works and how to set one"
    ),
    "models:errors:tree": Requirement(
        "every failure of a provider becomes the error on which a caller acts, with gap, waiting time and next step"
    ),
    "models:errors:no-key": Requirement("no message ever shows the key"),
    "models:retry:waits": Requirement("retries wait longer each time, with jitter, and as long as the provider asks"),
    "models:time-outs": Requirement("connecting, silence between events and the whole answer each have their limit"),
    "models:choose:names": Requirement("a name leads to the model that serves it"),
    "models:import:lazy": Requirement("choosing a model and answering offline import no vendor SDK and no HTTP client"),
    "testing:clock": Requirement("a clock stands still until it is set"),
    "testing:scripted-model": Requirement("a scripted model plays its steps and records requests"),
    "testing:openai-server": Requirement("the chat server plays its script and refuses orphan results"),
}
