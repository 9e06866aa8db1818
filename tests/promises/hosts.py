"""What we promise of sessions of other agents."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "hosts:codex": Requirement("rollouts of Codex are read in all four forms, with usage, compactions and rollbacks"),
    "hosts:opencode": Requirement(
        "sessions of opencode are read from its database, write-ahead log included, and from the older tree"
    ),
    "hosts:agents": Requirement(
        "sessions of Copilot, Qwen, Gemini, Antigravity, Cline, Goose and Cursor are read, in their earlier forms too"
    ),
    "hosts:typed": Requirement("what the user typed is told from what a program injected, by each agent's own rules"),
    "hosts:unknown": Requirement("a record of a kind that a reader does not know is kept, counted and reported"),
    "hosts:subagents": Requirement("nothing in a sub-agent's session counts as typed"),
    "hosts:read-only": Requirement(
        "nothing of another agent is written, no credential beside its history is opened, and no link out of its home"
        " is followed"
    ),
    "hosts:one-list": Requirement(
        "`reverie sessions --all` is one list of all agents with project, model, tokens and cost; an unknown price is"
        " called unknown"
    ),
    "hosts:commands": Requirement("context, cost and replay take a session of another agent by id or path"),
    "hosts:learn": Requirement("learn keeps what was typed to another agent, once"),
    "hosts:search": Requirement("search finds what other agents' sessions of the project say, as they are now"),
}
