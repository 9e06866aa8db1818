"""What we promise of extraction."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "extraction:finds": Requirement(
        "preferences, corrections, confirmations, rules, decisions, deadlines, roles and pointers in the user's words"
        " become typed memories, in English, Chinese, German, Japanese, Spanish and French"
    ),
    "extraction:own-words": Requirement(
        "a memory found without a model holds only the user's words, labels and dates, and, with an approval, what the"
        " agent had done; its quote stands in the message"
    ),
    "extraction:user-text-only": Requirement(
        "tool output, reminders, code, quotations, pasted text and prompts of sub-agents are never the user's words"
    ),
    "extraction:reading": Requirement(
        "a classifier learnt from examples in six languages lets in sentences that no rule found and turns down some"
        " that one did, with the reason told; it needs neither a model nor vectors"
    ),
    "extraction:confirmation": Requirement("an approval that asks to go on like that is kept with what it approves of"),
    "extraction:reason-added": Requirement(
        "a known rule that is said again with a reason takes the reason, in one commit with its source"
    ),
    "extraction:not-the-task": Requirement("orders for the task at hand, questions and small talk leave nothing"),
    "extraction:dates": Requirement("relative dates become absolute in the zone of the session; recurring days stay"),
    "extraction:memory-model": Requirement(
        "a session with the model `offline` learns and dreams through `model.memory` within the budget; where that"
        " model cannot be asked, by rules"
    ),
    "extraction:deterministic": Requirement("the same messages give the same memories"),
    "extraction:gate": Requirement(
        "what can be derived, is known, passing, injected, secret, a judgement or foreign is refused with its reason"
    ),
    "extraction:gate:fork": Requirement("what a fork writes passes the same gate before it is written"),
    "extraction:refusals": Requirement(
        "refusals are kept with reason and quote, shown by `log --refused`, bounded, and purged by erase"
    ),
    "extraction:same-subject": Requirement(
        "a newer word on a known subject brings its topic up to date, and an older one is refused"
    ),
    "extraction:titles": Requirement("a title says the rule or the decision itself, without lead-ins"),
    "extraction:follow-ups": Requirement("a sentence that only makes sense after the one before belongs to its memory"),
    "extraction:nothing-here": Requirement(
        "a local filter answers for greetings, bare commands and approval of routine, and never for what it does not"
        " understand or the rules find something in"
    ),
    "extraction:gates": Requirement("a closed gate starts nothing and moves no cursor"),
    "extraction:coalesce": Requirement("turns that end during a run become one trailing run, which no throttle holds"),
    "extraction:throttle": Requirement("only every n-th turn is looked at, and the last run at exit covers the rest"),
    "extraction:retries": Requirement("messages that fail are tried twice more, then skipped and reported"),
    "extraction:cursor": Requirement(
        "the cursor is an entry of the transcript; a lost one means all messages, never none"
    ),
    "extraction:rest": Requirement("when the main agent wrote a memory, the rest of the range is still extracted"),
    "extraction:git-facts": Requirement("what a commit or a pull request did is not kept, whoever asks for it"),
    "extraction:manifest": Requirement(
        "the list of memories for a fork begins with the newest; a file without a day is as old as its file"
    ),
    "extraction:fork": Requirement(
        "the fork may read, and write only below the memory directory; its prompt names the messages, the memories "
        "there are and its limits"
    ),
    "extraction:model": Requirement("a model's proposals pass the gate; words that no message holds are refused"),
    "learn:json": Requirement("`reverie learn` prints one JSON document of what it saved and refused"),
    "learn:ledger": Requirement("what learning with a model costs is booked as extraction"),
    "learn:idempotent": Requirement("a second run over the same transcripts adds nothing"),
    "learn:resumable": Requirement(
        "killed anywhere, the store is readable and the next run completes it with nothing twice"
    ),
    "learn:commit": Requirement("each session is one commit by extraction, with session, messages and quotes"),
    "learn:budget": Requirement("learning with a model stops, visibly, where the budget of background work is spent"),
    "learn:dry-run": Requirement("a dry run writes nothing and says what it would do and cost"),
    "learn:each-project": Requirement(
        "each session goes to the memory of the project it was held in; one of an unknown project is listed, not"
        " stored; the answer names the stores"
    ),
    "learn:unusable-reply": Requirement(
        "a reply of a model that cannot be used costs that reply: the rules read those messages, and this is said"
    ),
    "learn:replies": Requirement(
        "of a model's reply the good part is kept, what is bad is refused with its reason, and the rules read what it"
        " leaves out"
    ),
    "extraction:replies": Requirement(
        "whatever a fork writes, good or bad, only what the user said or what follows from it is kept, in their words,"
        " and a refusal is written down"
    ),
    "memory:prompts": Requirement(
        "prompts of memory are short, every placeholder is filled, and what the code reads is asked for"
    ),
    "learn:no-loss": Requirement("learning never writes over a memory that has the same title"),
    "learn:real-sessions": Requirement(
        "of what working sessions leave, the labelled real ones too, at most one memory in ten is junk"
    ),
}
