"""What we promise of servers that speak the Model Context Protocol."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "mcp:connect:transports": Requirement(
        "A server is reached over stdio and over streamable HTTP, and its tools have the names users know."
    ),
    "mcp:connect:failure": Requirement(
        "A server that cannot be reached costs a sentence, never a session; a slow one is named and joins later."
    ),
    "mcp:connect:again": Requirement(
        "A server that died between two calls is connected again for the next one; a call that it may have acted on "
        "fails and is not repeated."
    ),
    "mcp:connect:close": Requirement("Closing ends the processes of servers, also one in the middle of a call."),
    "mcp:call:result": Requirement(
        "Text, pictures and resources of a result reach the model; nothing in them passes for a word of the host."
    ),
    "mcp:call:limits": Requirement("A call ends after its time and when the user cancels it, and the server hears so."),
    "mcp:call:permission": Requirement(
        "Every call is judged by the rules for its name; the hint that it only reads lets it run beside others."
    ),
    "mcp:resources:read": Requirement(
        "Resources of servers can be listed and read by the model once a server has some; their text is data."
    ),
    "mcp:prompt:instructions": Requirement(
        "What servers say about their tools is the one volatile section; a change of it is an announced break."
    ),
    "mcp:prompt:commands": Requirement("A prompt of a server is a command `/mcp__server__prompt` with its arguments."),
    "mcp:tools:deferred": Requirement(
        "Many tools of servers are announced by name only; ToolSearch loads some behind the others, for good."
    ),
    "mcp:tools:restored": Requirement(
        "Tools that were loaded on demand are still there after a compaction and after resuming."
    ),
}
