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
    "hosts:memory-files": Requirement(
        "AGENTS.md and its kin, Codex memories, Qwen's, Cursor rules, Letta memfs, basic-memory folders and mem0"
        " exports are read as notes, and written so that reading gives the same notes"
    ),
    "hosts:marked-block": Requirement(
        "in a file of somebody else one marked block is ours: outside of it not a byte changes, and removing it"
        " restores the file"
    ),
    "hosts:import": Requirement(
        "imported notes are data, a possible secret is refused, a second import adds nothing, and what was edited or"
        " forgotten here is not brought back"
    ),
    "hosts:export": Requirement(
        "an export leaves out secrets, what was only seen where it would be an instruction, and personal memories where"
        " colleagues read; it replaces no file of others, and `--remove` leaves no trace"
    ),
    "hosts:audit": Requirement(
        "`reverie audit` scores memory files of any agent and names secrets, contradictions, duplicates, what is stale,"
        " injected or never used, and an index that is too long; nothing is changed"
    ),
}
