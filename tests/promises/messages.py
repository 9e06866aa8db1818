"""What we promise of messages, transcripts and the view."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "messages:codec:round-trip": Requirement("Blocks, messages and every kind of entry survive encoding and decoding."),
    "messages:codec:unknown-survives": Requirement(
        "Unknown records, fields, blocks and bad lines are written back exactly as they came."
    ),
    "messages:codec:result-field-not-sent": Requirement("`toolUseResult` is neither sent nor counted."),
    "messages:chain:parallel-calls": Requirement(
        "Parallel tool calls that the parent walk loses are put back, each once, each result behind its call."
    ),
    "messages:chain:tolerant": Requirement(
        "Orphan parents, several roots, circles, duplicate ids and flat files are read as one conversation."
    ),
    "messages:chain:real-sessions": Requirement(
        "A whole session loads with the numbers of calls and results that its file holds; so do all real samples."
    ),
    "messages:view:pure": Requirement(
        "The view is a pure function of the entries; feeding them one by one gives the same view."
    ),
    "messages:view:boundary": Requirement(
        "After a boundary only the summary, the kept entries and what follows are seen."
    ),
    "messages:view:replacements": Requirement(
        "Spilled and cleared results, snips and collapses change the view and no entry."
    ),
    "messages:view:branches": Requirement("Ending at an earlier entry shows the conversation as it was there."),
    "messages:rules:conform": Requirement(
        "A conformed conversation breaks no rule of a provider, and conforming again changes nothing."
    ),
    "messages:rules:legal-cuts": Requirement("No legal cut parts a call from its result or the records of one reply."),
    "messages:transcript:kill": Requirement(
        "A writer killed at any moment tears at most the line it was writing; nothing that was confirmed is missing."
    ),
    "messages:transcript:nested": Requirement(
        "a line nested beyond measure is passed over by every command, the rest is read"
    ),
    "messages:transcript:torn-line": Requirement(
        "A torn last line costs only itself; what is appended after it is read."
    ),
    "messages:transcript:second-writer-forks": Requirement(
        "A second writer of one session gets a fork; the first is not disturbed."
    ),
    "messages:transcript:two-sessions": Requirement(
        "Two processes writing two sessions of one project do not disturb each other."
    ),
    "messages:fork:independent": Requirement(
        "A fork shows the same conversation under new ids and names its origin; the original does not change."
    ),
    "messages:compatible:vendor-reader": Requirement(
        "The vendor's own reader lists our sessions and reads their messages."
    ),
    "messages:trajectory:pairs": Requirement(
        "A trajectory of mini-swe-agent is read as calls and results, every word kept."
    ),
    "messages:view:kept-by-a-host": Requirement(
        "Messages that another program kept in its compaction are seen as it sends them when it resumes the session."
    ),
    "messages:fork:no-word-of-the-host": Requirement(
        "A conversation taken over from another program comes without that program's reminders of its own state."
    ),
    "messages:listing:any-size": Requirement(
        "A session is listed with its title, time and size however long its first and last records are."
    ),
    "messages:listing:ends-only": Requirement(
        "Listing reads the two ends of a file, no further than needed, and passes over sub-agents."
    ),
    "messages:listing:title": Requirement(
        "A title is the custom one, else the model's, else the last prompt, a summary, or the first prompt."
    ),
}
