"""What we promise of letters between agents."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "mailbox:team:inherits": Requirement(
        "A teammate has the roles, plugins, servers, rules, mode, model and added system text of its leader."
    ),
    "mailbox:team:costs": Requirement(
        "What teammates spend counts in the leader's costs and limit, and `reverie cost` finds it by the leader."
    ),
    "mailbox:file:exactly-once": Requirement(
        "With eight writers and a reader that are killed at any moment no letter is lost and none counts twice."
    ),
    "mailbox:file:torn": Requirement("A half-written line costs itself; letters behind it are read."),
    "mailbox:send:order": Requirement(
        "A name is looked for among the agents of the process, then in the team, then abroad; `*` is everybody."
    ),
    "mailbox:send:boundary": Requirement(
        "A running agent reads a message at its next round; the main agent at its next boundary, once."
    ),
    "mailbox:send:structured": Requirement(
        "Shutdown requests and answers and plan approvals are known by type; an incomplete one is refused."
    ),
    "mailbox:send:abroad": Requirement("Another session is reached by its socket or its id, after a question."),
    "mailbox:team:process": Requirement(
        "Teammates in their own process are started, listed, written to and stopped; none outlives its leader."
    ),
}
