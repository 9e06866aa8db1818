"""What we promise of extraction in a running session."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "extracting:session:embedded": Requirement(
        "Without a model, what the user said that lasts is kept after the turn, with its source and as `said`."
    ),
    "extracting:session:fork": Requirement(
        "With a model a fork of the session writes topic files through the store: committed as extraction, in the "
        "name of this session, reading the parent's cache."
    ),
    "extracting:session:misbehaving": Requirement(
        "A fork that writes elsewhere, runs commands, goes on without end, or writes a secret or broken front matter "
        "changes nothing that it may not change."
    ),
    "extracting:session:nothing-here": Requirement(
        "A turn that holds nothing costs no model call; what the filter cannot read, and approval of an unusual step,"
        " reach the model."
    ),
    "extracting:session:off-the-loop": Requirement(
        "What extraction must read of a store and of a session is read beside the event loop."
    ),
    "extracting:session:budget": Requirement(
        "Background work that the budget has no room for is done by rules, and a fork stops when it is spent."
    ),
    "extracting:session:new-only": Requirement(
        "What is done after a turn takes as long as what is new, however long the session is."
    ),
    "extracting:session:cursor": Requirement(
        "The cursor lies in the transcript: a resumed session does not look at the same messages again."
    ),
    "extracting:session:killed": Requirement(
        "Killed anywhere, a session leaves a readable store and a cursor that is never ahead of it; the next turn "
        "keeps the rest, nothing twice."
    ),
}
