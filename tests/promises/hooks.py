"""What we promise of hooks."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "hooks:events:all": Requirement(
        "Every event of the format is known, with the field that matchers look at.", source="spec 3 §7.1; spec 8 §1.8"
    ),
    "hooks:declared:read": Requirement(
        "Handlers of all five types are read from every source; a mistake is named with its place and costs itself.",
        source="spec 8 §1.8",
    ),
    "hooks:declared:real": Requirement(
        "The hooks of real plugins and projects are read without a complaint and run; what they miss is a warning.",
        source="issue 5, item 6",
    ),
    "hooks:matching:matcher": Requirement(
        "A matcher is a name, a list of names or a regular expression; empty and `*` match all.", source="spec 8 §1.8"
    ),
    "hooks:matching:condition": Requirement(
        "A condition is a permission rule over the tool call; at other events a hook with one never runs.",
        source="spec 8 §1.8",
    ),
    "hooks:run:parallel": Requirement(
        "All matching hooks run at the same time; the order of sources governs how their results merge.",
        source="spec 3 §7.3; issue 5, item 6",
    ),
    "hooks:run:once": Requirement("Identical handlers of several sources run once.", source="spec 8 §1.8"),
    "hooks:run:input": Requirement(
        "A program gets the event as JSON on stdin with the common fields, and the documented variables.",
        source="spec 8 §1.8; spec 3 §7.2",
    ),
    "hooks:run:timeout": Requirement(
        "A hook that takes too long is ended with all its children; its output counts for nothing.",
        source="spec 3 §7.3; spec 8 §1.8",
    ),
    "hooks:run:background": Requirement(
        "A hook in the background delays nobody, decides nothing, and what it says arrives later.", source="spec 8 §1.8"
    ),
    "hooks:run:http": Requirement(
        "An address is called only when it is allowed; only a JSON answer of success counts; headers hold only "
        "variables that hook and settings name.",
        source="spec 8 §1.7, §1.8",
    ),
    "hooks:run:model": Requirement(
        "A prompt is put to the model as a flow; its no refuses, its yes permits nothing, and without a model there "
        "is no objection.",
        source="spec 3 §7.2; spec 8 §1.8",
    ),
    "hooks:run:agent": Requirement(
        "A hook of type `agent` asks an agent that only reads; no hook hears of it, and its no refuses.",
        source="spec 3 §7.2; spec 8 §1.8",
    ),
    "hooks:run:never-fails": Requirement(
        "Nothing that a hook does fails a turn: every failure is a warning that names the hook and its place.",
        source="issue 5, item 6",
    ),
    "hooks:output:codes": Requirement(
        "Exit code 0 is fine, 2 refuses by the rules of the event and no JSON undoes it, any other is a warning.",
        source="spec 3 §7.3; spec 8 §1.8",
    ),
    "hooks:output:json": Requirement(
        "The control fields of every event count; wrong ones are named and count for nothing.", source="spec 8 §1.8"
    ),
    "hooks:output:plain": Requirement(
        "Plain output is context at the start of a session and with a prompt, and nowhere else.", source="spec 8 §1.8"
    ),
    "hooks:output:long": Requirement(
        "Output beyond the limit lies in a file that the rest names.", source="spec 8 §1.3, §1.8"
    ),
    "hooks:merge:strictest": Requirement(
        "Deny goes before ask, ask before allow; `continue: false` is kept whatever others say.", source="spec 8 §1.8"
    ),
    "hooks:trust:first-use": Requirement(
        "Hooks that came with the project wait for the user's yes, and again after they or their scripts changed.",
        source="spec 7, row 63; issue 5, item 6",
    ),
}
