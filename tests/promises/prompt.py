"""What we promise of the system prompt and of the user context."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES: dict[str, Requirement] = {
    "prompt:sections": Requirement("all fifteen sections, in their order, then the system context", source="spec 3 §4"),
    "prompt:facts": Requirement(
        "the cut-off of the model's knowledge and the budget of a turn are told", source="spec 3 §4; issue 12 §1"
    ),
    "prompt:static": Requirement("the static part has the same bytes for everybody", source="spec 3 §4; issue 5"),
    "prompt:deterministic": Requirement(
        "the same facts give the same bytes: no clock, no order of a map", source="spec README §7; spec 1 §17"
    ),
    "prompt:volatile": Requirement(
        "a change of tool servers leaves the static and the session block and their cache marks alone",
        source="spec 3 §4",
    ),
    "prompt:no-date": Requirement("no date stands in the system prompt", source="spec README C25"),
    "prompt:custom": Requirement("a custom prompt, then the memory rules, then the appended text", source="spec 3 §1"),
    "prompt:memory-rules": Requirement(
        "the rules say everything the specification lists, within 3,000 tokens, and hold no memory", source="spec 2 §6"
    ),
    "prompt:memory-switches": Requirement(
        "skip-index, search, daily log, team and extra guidelines change the rules as specified",
        source="spec 2 §6, §13, §14",
    ),
    "prompt:agent-memory": Requirement(
        "an agent with memory gets directory, types, saving, a hint on its scope and its index", source="spec 4 §5"
    ),
    "prompt:git-status": Requirement(
        "git's state is gathered once, bounded, and never breaks a start", source="issue 5"
    ),
    "prompt:styles": Requirement("output styles come from files and are added to the prompt", source="spec 8 §1.9"),
    "session:style:chosen": Requirement(
        "the style and the language that settings name stand in the system prompt of the main conversation alone",
        source="spec 3 §4; spec 8 §1.9",
    ),
    "session:style:sources": Requirement(
        "styles come from the user, the project, plugins and the program; of one name the user's own counts",
        source="spec 8 §1.1, §1.9",
    ),
    "session:style:unknown": Requirement(
        "a style that is not there is warned of with the names of those that are", source="spec 8 §1.9"
    ),
    "context:user:keys": Requirement(
        "the first message holds claudeMd and currentDate as a system reminder", source="spec 3 §5"
    ),
    "context:user:index": Requirement("the memory index is cut as specified and stays data", source="spec 2 §5, §6"),
    "context:user:hidden": Requirement(
        "instruction files with characters that the model reads and nobody sees are warned of", source="issue 5"
    ),
    "context:user:date-change": Requirement("a new day is announced by an attachment", source="spec 2 §13"),
}
