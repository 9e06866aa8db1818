"""What we promise of the cache contract, the window as a library, and replay."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "cache:prefix:extends": Requirement(
        "Each request extends the one before it, byte for byte, apart from cache marks."
    ),
    "cache:prefix:announced": Requirement("A request that does not extend the one before is announced by an entry."),
    "cache:prefix:pure": Requirement("The same conversation prepared twice gives the same bytes."),
    "cache:marks:at-most-four": Requirement("At most four breakpoints are set, none on a block that cannot carry one."),
    "cache:marks:look-back": Requirement(
        "The next turn reads what was written, also when one turn adds more than twenty blocks."
    ),
    "cache:marks:lifetime": Requirement(
        "The conversation is asked to be kept for an hour once the user has paused for over five minutes."
    ),
    "cache:breaks:named": Requirement("A break is named by its cause: model, tools, system, memory, message, time."),
    "cache:breaks:announced": Requirement(
        "What a provider clears by itself or is asked to delete raises no alarm; later losses do"
    ),
    "cache:breaks:detected": Requirement(
        "A break shows in the usage when reads fall by more than 5 % and 2,000 tokens."
    ),
    "testing:prefix-net": Requirement(
        "A test in which a request does not extend its predecessor fails, unless it says so."
    ),
    "window:prepare:fits": Requirement("What is prepared fits into the window, whatever was handed over."),
    "window:prepare:follows": Requirement(
        "Only what is new is recorded; a changed history starts a branch and nothing is rewritten."
    ),
    "window:prepare:valid": Requirement("No prepared request breaks a rule of the provider."),
    "window:prepare:too-large": Requirement(
        "A single message that does not fit is shown by both ends; a prompt that does not fit is named."
    ),
    "window:prepare:no-dead-pointers": Requirement(
        "In a loop of others no pointer is given that no tool there can read."
    ),
    "window:compact:by-model": Requirement("`compact` asks a model for the summary when one is given."),
    "window:uncompact:restores": Requirement("`uncompact` shows everything again that a compaction took away."),
    "window:wrap:one-line": Requirement(
        "A wrapped client, sync or async, sends prepared requests and gives back the client's own answers."
    ),
    "window:wrap:every-way": Requirement(
        "Every way in which a client sends a conversation (create, stream, parse, tool runner, raw and streaming "
        "responses, copies, batches, plain posts; sync and async) passes through the window or is refused with a "
        "sentence; the wrapped client is the client's own class."
    ),
    "window:prepare:client-objects": Requirement(
        "Objects of the client (reply blocks, whole replies, tools, files, iterators) are taken wherever their JSON "
        "is, and give the same request; cache marks that a loop moves about start no branch."
    ),
    "window:bad-input": Requirement(
        "A window of no size, a message that cannot be read and a client that cannot be wrapped are refused with a "
        "sentence that names them."
    ),
    "window:wrap:openai": Requirement(
        "A client of OpenAI, sync or async, is wrapped too: chat completions and responses stay inside the window, and "
        "what fits is sent byte for byte."
    ),
    "window:wrap:memory": Requirement(
        "With a memory, what is remembered for a message stands behind it, tagged, in this and every later request, "
        "and what the user says is learnt; no failure of the memory costs a request."
    ),
    "window:wrap:conversations": Requirement("Several conversations of one client are kept apart."),
    "replay:json": Requirement("`replay --json` prints requests, totals and receipts of each session."),
    "replay:dump": Requirement("Every dumped request body is accepted by the provider's validation."),
    "replay:strategies": Requirement("A session runs through every strategy, at any window."),
    "replay:no-silent-breaks": Requirement("Under our strategy no request breaks the prefix unannounced."),
    "replay:lost": Requirement(
        "Replay counts every message of the user, pin, plan, task, decision, error, file, skill and instruction that a "
        "compaction left neither in view nor behind a pointer, whatever its receipt says."
    ),
    "replay:picture": Requirement("Replay draws its figures as SVG."),
    "window:small:answers": Requirement(
        "However small the window, if system text and tools fit, every request is answered: in replay, a session, "
        "`Window` and `wrap`; no breaker stops reducing."
    ),
    "window:small:unanswered": Requirement(
        "What the model has not answered is not reduced while it can fit, and no pointer is given that no tool reads."
    ),
}
