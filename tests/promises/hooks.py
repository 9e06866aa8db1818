"""What we promise of hooks."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "hooks:events:all": Requirement("Every event of the format is known, with the field that matchers look at."),
    "hooks:declared:read": Requirement(
        "Handlers of all five types are read from every source; a mistake is named with its place and costs itself."
    ),
    "hooks:declared:real": Requirement(
        "The hooks of real plugins and projects are read without a complaint and run; what they miss is a warning."
    ),
    "hooks:matching:matcher": Requirement(
        "A matcher is a name, a list of names or a regular expression; empty and `*` match all."
    ),
    "hooks:matching:condition": Requirement(
        "A condition is a permission rule over the tool call; at other events a hook with one never runs."
    ),
    "hooks:run:parallel": Requirement(
        "All matching hooks run at the same time; the order of sources governs how their results merge."
    ),
    "hooks:run:once": Requirement("Identical handlers of several sources run once."),
    "hooks:run:input": Requirement(
        "A program gets the event as JSON on stdin with the common fields, and the documented variables."
    ),
    "hooks:run:timeout": Requirement(
        "A hook that takes too long is ended with all its children; its output counts for nothing."
    ),
    "hooks:run:background": Requirement(
        "A hook in the background delays nobody, decides nothing, and what it says arrives later."
    ),
    "hooks:run:http": Requirement(
        "An address is called only when it is allowed; only a JSON answer of success counts; headers hold only "
        "variables that hook and settings name."
    ),
    "hooks:run:model": Requirement(
        "A prompt is put to the model as a flow; its no refuses, its yes permits nothing, and without a model there "
        "is no objection."
    ),
    "hooks:run:agent": Requirement(
        "A hook of type `agent` asks an agent that only reads; no hook hears of it, and its no refuses."
    ),
    "hooks:run:never-fails": Requirement(
        "Nothing that a hook does fails a turn: every failure is a warning that names the hook and its place."
    ),
    "hooks:output:codes": Requirement(
        "Exit code 0 is fine, 2 refuses by the rules of the event and no JSON undoes it, any other is a warning."
    ),
    "hooks:output:json": Requirement(
        "The control fields of every event count; wrong ones are named and count for nothing."
    ),
    "hooks:output:plain": Requirement(
        "Plain output is context at the start of a session and with a prompt, and nowhere else."
    ),
    "hooks:output:long": Requirement("Output beyond the limit lies in a file that the rest names."),
    "hooks:merge:strictest": Requirement(
        "Deny goes before ask, ask before allow; `continue: false` is kept whatever others say."
    ),
    "hooks:trust:first-use": Requirement(
        "Hooks that came with the project wait for the user's yes, and again after they or their scripts changed."
    ),
}
