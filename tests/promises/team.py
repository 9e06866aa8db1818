"""What team memory promises."""

from tests.promises import Requirement

PROMISES = {
    "team:merge:convergence": Requirement(
        "clients that edit, delete and save at random and then sync hold the same bytes, whatever the order"
    ),
    "team:merge:loser-kept": Requirement("every edit that loses is in a conflict copy on the machine that merged"),
    "team:merge:delete-wins": Requirement(
        "a delete wins over an edit, no deleted file returns, and saving the name later makes a new entry"
    ),
    "team:merge:idempotent": Requirement("merging again what was merged changes nothing"),
    "team:sync:two-people": Requirement(
        "what one saves with --team and pushes, the other recalls after joining; edits on both sides are merged"
    ),
    "team:sync:killed": Requirement("a pull or push that is killed at any step loses nothing and is done by the next"),
    "team:sync:offline": Requirement("somebody who was away while the others worked on converges at the next sync"),
    "team:sync:races": Requirement("people who push at the same moment all get their entries in"),
    "team:sync:mass-deletion": Requirement("a directory that vanished is not sent as deletions unless a person agrees"),
    "team:hostile": Requirement(
        "paths that lead out, links, huge files, secrets and personal memories in a remote are refused one by one and "
        "named, and everything else is taken"
    ),
    "team:secrets:out": Requirement("a file with a secret is not sent; rule and line are told, the text is not"),
    "team:scope": Requirement(
        "memories of type user and personal feedback cannot be saved for the team, by whatever way they come"
    ),
    "team:attribution": Requirement(
        "a colleague's memory is shown as said by them, never as the user's own word, whatever name they take"
    ),
    "team:index": Requirement(
        "team memory has a generated index of its own, loaded after the private one, both together within the limits"
    ),
    "team:consent": Requirement(
        "nothing is sent before the user agreed once for the remote; no question off a terminal"
    ),
    "team:session": Requirement(
        "a session pulls before its first request, waits a bounded time, and never fails because the remote does"
    ),
    "team:watch": Requirement("the watcher sends edits once they rest and does not send back what it pulled"),
    "team:http:join": Requirement(
        "a team server is joined by its address and a token, which says who one is; errors name the next step"
    ),
    "team:http:token": Requirement("a token lies in a file for its user alone, outside the project, until one leaves"),
    "team:http:conditional": Requirement("an unchanged pull is a 304, a changed one brings only what changed"),
    "team:http:batches": Requirement("a large push travels in bodies of at most 200 KB"),
    "team:http:interrupted": Requirement(
        "a push whose connection broke at any point is done by the next one, and what was edited since continues it"
    ),
    "team:http:full": Requirement("what a full server refuses is named, waits, and goes out once there is room"),
    "team:http:suppression": Requirement(
        "a failure stops only what its cause concerns, is told once, and is over by itself once the cause is"
    ),
    "team:http:convergence": Requirement(
        "clients of servers that are killed and of connections that are cut converge to the same bytes; no "
        "acknowledged write is lost, every losing edit is in a conflict copy, no deleted file returns"
    ),
    "team:erase": Requirement(
        "an erased memory is deleted at the remote with its earlier versions, or what keeps them is named"
    ),
    "team:commands": Requirement("errors of `reverie team` name the next step"),
}
