"""What we promise of the system prompt and of the user context."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "prompt:sections": Requirement("all fifteen sections, in their order, then the system context"),
    "prompt:facts": Requirement("the cut-off of the model's knowledge and the budget of a turn are told"),
    "prompt:static": Requirement("the static part has the same bytes for everybody"),
    "prompt:deterministic": Requirement("the same facts give the same bytes: no clock, no order of a map"),
    "prompt:volatile": Requirement(
        "a change of tool servers leaves the static and the session block and their cache marks alone"
    ),
    "prompt:no-date": Requirement("no date stands in the system prompt"),
    "prompt:custom": Requirement("a custom prompt, then the memory rules, then the appended text"),
    "prompt:memory-rules": Requirement(
        "the rules say what to save, what not, how, and when to look, within 3,000 tokens, and hold no memory"
    ),
    "prompt:memory-switches": Requirement(
        "skip-index, search, daily log, team and extra guidelines change the rules, each in its part"
    ),
    "prompt:agent-memory": Requirement(
        "an agent with memory gets directory, types, saving, a hint on its scope and its index"
    ),
    "prompt:git-status": Requirement("git's state is gathered once, bounded, and never breaks a start"),
    "prompt:styles": Requirement("output styles come from files and are added to the prompt"),
    "session:style:chosen": Requirement(
        "the style and the language that settings name stand in the system prompt of the main conversation alone"
    ),
    "session:style:sources": Requirement(
        "styles come from the user, the project, plugins and the program; of one name the user's own counts"
    ),
    "session:style:unknown": Requirement("a style that is not there is warned of with the names of those that are"),
    "context:user:keys": Requirement("the first message holds claudeMd and currentDate as a system reminder"),
    "context:user:index": Requirement("the memory index is cut at its lines and bytes and stays data"),
    "context:user:hidden": Requirement(
        "instruction files with characters that the model reads and nobody sees are warned of"
    ),
    "context:user:date-change": Requirement("a new day is announced by an attachment"),
}
