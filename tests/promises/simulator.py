"""What the simulator stands for."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "simulator:thinking:own-reply": Requirement(
        "A model that was told to think does so before whatever a script has it say, so that its reply may come back"
    ),
    "simulator:threads:held": Requirement(
        "A conversation that the provider holds goes on from the reply that a request names, as if it were sent whole"
    ),
    "simulator:cache:reads-what-was-written": Requirement(
        "A conversation that grows reads exactly the prefix that the request before it wrote"
    ),
    "simulator:cache:change-ends-reading": Requirement(
        "A change at a block is never read past: reading ends before it"
    ),
    "simulator:cache:look-back": Requirement(
        "A breakpoint looks back over 20 blocks, itself the first, and no further"
    ),
    "simulator:cache:minimum": Requirement("A prefix below the model's minimum is silently not cached"),
    "simulator:cache:lifetime": Requirement(
        "An entry lives 5 minutes or an hour from the start of the request that wrote or read it"
    ),
    "simulator:cache:levels": Requirement(
        "A change of tools, system or messages, or of a setting in the key, invalidates its level and those below"
    ),
    "simulator:cache:marks": Requirement(
        "At most four marks; the top-level one lands on the last cacheable block; mixed lifetimes are billed apart"
    ),
    "simulator:cache:explains-itself": Requirement(
        "For every request it says what was cached and why not, naming the first block that changed"
    ),
    "simulator:prompt:same-bytes": Requirement(
        "Marks, short forms and the order of a block's own fields do not change the prefix; the order inside tool "
        "input does"
    ),
    "simulator:edits:clearing": Requirement(
        "Context edits clear old tool results and reasoning, report it, and end the cached prefix where they begin"
    ),
    "simulator:edits:compaction": Requirement(
        "Compaction puts a summary first, reports iterations, can pause, and drops what the summary stands for"
    ),
    "simulator:edits:cache-edits": Requirement(
        "Deletions keep the cached prefix valid as long as they are replayed at the same places"
    ),
    "simulator:rules:error-shapes": Requirement("A damaged request gets the provider's status, error type and words"),
    "simulator:rules:sizes": Requirement(
        "Prompts over the window, replies over the limit and bodies over 32 MB are refused as the provider does"
    ),
    "simulator:counting:not-the-estimator": Requirement(
        "Tokens come from a tokenizer of their own with a skew per run, the same for the same seed"
    ),
    "simulator:script:rules": Requirement(
        "Rules over the request choose replies, tool calls and faults, from Python or from a file"
    ),
    "simulator:script:names-mistakes": Requirement("A mistake in a script file names file, rule and field"),
    "simulator:faults:as-the-provider": Requirement(
        "429, 529, 5xx, errors after 200, slow streams and dropped connections happen as they do at the provider"
    ),
    "simulator:client:official": Requirement(
        "The official client runs against it unchanged, sync and async, streaming and not, beta and not"
    ),
    "simulator:client:openai": Requirement(
        "OpenAI's client runs against it unchanged, chat completions and responses, streaming and not, with the same "
        "scripts"
    ),
    "simulator:client:gemini": Requirement(
        "Gemini's content generation, whole and streamed, works with the same scripts and records"
    ),
    "simulator:wire:recorded-shapes": Requirement(
        "Replies and streams have every field of the recorded exchanges, with the same types"
    ),
    "simulator:command:runs": Requirement(
        "The first line on standard output is the base URL; it runs until interrupted and then exits with 130"
    ),
    "simulator:speed:large-requests": Requirement(
        "Of a large request only the blocks that were not seen before are counted"
    ),
}
