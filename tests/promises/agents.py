"""What we promise of agents: definitions, and how a role is played."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "agents:team:plan": Requirement(
        "A teammate in plan mode begins when its leader accepts the plan, and on nobody else's word."
    ),
    "agents:definition:fields": Requirement(
        "Every field of a definition is read from files and from JSON; the body is the prompt."
    ),
    "agents:definition:skipped": Requirement(
        "A definition without name or description, with a bad name or broken YAML is left out with a sentence."
    ),
    "agents:definition:memory-tools": Requirement(
        "A role with memory gets Read, Edit and Write, for its memory alone where it did not ask for them."
    ),
    "agents:found:priority": Requirement(
        "Built-in, plugin, user, project (nearest wins), flag, managed: the later replaces the earlier of one name."
    ),
    "agents:found:trust": Requirement(
        "A role that came with the project counts only once the user agreed to exactly this text."
    ),
    "agents:found:plugin": Requirement(
        "A plugin's role carries its name and brings no hooks, servers or permission mode."
    ),
    "agents:found:real": Requirement("Definitions as real projects write them load."),
    "agents:found:built-in": Requirement("Five roles are built in; Explore and Plan cannot change anything."),
    "agents:listing:attachment": Requirement(
        "Roles are told in an attachment, only what changed; the tool's description never changes."
    ),
    "agents:typed:run": Requirement(
        "A typed agent starts with its own prompt, an empty context and its own tools; the parent reads its end."
    ),
    "agents:typed:limits": Requirement(
        "Tool lists, rules in brackets, round limit, model and permission mode of a definition hold."
    ),
    "agents:typed:memory": Requirement(
        "A role with memory is told of it with its index; the folder exists; tools it has for that write nowhere else."
    ),
    "agents:typed:hooks": Requirement(
        "SubagentStart and SubagentStop frame a sub-agent; its own hooks hold for it alone, its Stop is SubagentStop."
    ),
    "agents:typed:skills": Requirement("Skills that a definition names are there from the beginning."),
    "agents:typed:instructions": Requirement(
        "An agent reads the instruction files, except Explore and Plan, and never the memory of the main one."
    ),
    "agents:typed:servers": Requirement(
        "Servers that a role brings are connected for its life; those of the session are shared by name."
    ),
    "agents:typed:effort": Requirement("The effort of a role is passed on to a model that takes one."),
    "agents:typed:worktree": Requirement(
        "An isolated agent works in a git work tree of its own: removed when unchanged, kept and named when changed."
    ),
    "agents:worktree:hooks": Requirement(
        "A `WorktreeCreate` hook makes the work tree in git's place and its failure is final; `WorktreeRemove` hears "
        "of a tree in which nothing changed."
    ),
    "agents:typed:transcript": Requirement(
        "A sub-agent's entries are a sidechain file with its facts beside it, where other readers look for them."
    ),
    "agents:background:notified": Requirement(
        "A background agent's end joins the parent at its next boundary, and a notice says so while nobody works."
    ),
    "agents:background:kill": Requirement(
        "A running agent is listed with what it does and its cost, and can be ended."
    ),
    "agents:background:budget": Requirement(
        "Background agents count against the budget of background work and say when it is used up."
    ),
    "agents:progress:line": Requirement(
        "A progress line has three to five words in the present tense and names a file or function, without a model."
    ),
    "agents:mention:both": Requirement("A mention of an agent searches its memories and the project's."),
}
