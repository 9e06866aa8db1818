"""What the web page promises."""

from tests.promises import Requirement

PROMISES = {
    "inspect:guard:token": Requirement("the printed address works once; without its cookie nothing is shown"),
    "inspect:guard:sites": Requirement(
        "another host name, another origin, and a change on a read-only page are refused and change nothing"
    ),
    "inspect:guard:headers": Requirement("a page may load, send and be framed only within its own origin"),
    "inspect:hostile": Requirement("HTML in a memory stays text, on every page that shows it"),
    "inspect:memories:search": Requirement("a search shows the best memories first, each with the reasons"),
    "inspect:memories:filters": Requirement("memories are filtered by type, scope, trust, age and state of anchors"),
    "inspect:memories:page": Requirement("a memory's page has its text, sources, history with diffs and recalls"),
    "inspect:memories:change": Requirement("edit, pin, forget and undo go through the store and are commits"),
    "inspect:memories:many": Requirement("a list of thousands is sent in parts"),
    "inspect:sessions": Requirement("sessions of all agents are listed; one shows its requests, window and transcript"),
    "inspect:window": Requirement(
        "the window is shown for every request by kind of content, with what made it smaller and what broke the cache"
    ),
    "inspect:transcript": Requirement(
        "a transcript of any length is read in parts, searched in bounded steps, and opened at a message"
    ),
    "inspect:sessions:hosts": Requirement("sessions of every supported agent are listed and open without an error"),
    "inspect:background:tasks": Requirement("a running task is shown with its last words, and can be stopped"),
    "inspect:background:review": Requirement("the pieces of a dream's proposal that are ticked are applied, no others"),
    "inspect:cost": Requirement("what calls cost is shown by day, purpose, model, project and agent"),
    "inspect:relations": Requirement("contradictions, anchors and memories never recalled are listed"),
    "inspect:command": Requirement("the command prints the address first and ends on Ctrl-C"),
    "inspect:accessible": Requirement(
        "every page fits a phone, in light and dark, and an automated check of accessibility finds nothing"
    ),
    "inspect:browser": Requirement(
        "in a real browser one searches while typing, edits, undoes and reviews; nothing of a memory runs as script"
    ),
}
