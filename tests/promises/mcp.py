"""What we promise of servers that speak the Model Context Protocol."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "mcp:connect:transports": Requirement(
        "A server is reached over stdio and over streamable HTTP, and its tools have the names users know.",
        source="issue 5, item 8; spec 8 §1.9",
    ),
    "mcp:connect:failure": Requirement(
        "A server that cannot be reached costs a sentence, never a session; a slow one is named and joins later.",
        source="issue 5, item 8",
    ),
    "mcp:connect:again": Requirement(
        "A server that died between two calls is connected again for the next one; a call that it may have acted on "
        "fails and is not repeated.",
        source="issue 5, item 8",
    ),
    "mcp:connect:close": Requirement(
        "Closing ends the processes of servers, also one in the middle of a call.", source="issue 5, item 8"
    ),
    "mcp:call:result": Requirement(
        "Text, pictures and resources of a result reach the model; nothing in them passes for a word of the host.",
        source="issue 5, item 8",
    ),
    "mcp:call:limits": Requirement(
        "A call ends after its time and when the user cancels it, and the server hears so.", source="issue 5, item 8"
    ),
    "mcp:call:permission": Requirement(
        "Every call is judged by the rules for its name; the hint that it only reads lets it run beside others.",
        source="issue 5, items 3 and 8",
    ),
    "mcp:resources:read": Requirement(
        "Resources of servers can be listed and read by the model once a server has some; their text is data.",
        source="findings 6.9",
    ),
    "mcp:prompt:instructions": Requirement(
        "What servers say about their tools is the one volatile section; a change of it is an announced break.",
        source="spec 3 §4; issue 5, item 8",
    ),
    "mcp:prompt:commands": Requirement(
        "A prompt of a server is a command `/mcp__server__prompt` with its arguments.", source="issue 5, item 8"
    ),
    "mcp:tools:deferred": Requirement(
        "Many tools of servers are announced by name only; ToolSearch loads some behind the others, for good.",
        source="spec 1 §11.4; issue 5, item 8",
    ),
    "mcp:tools:restored": Requirement(
        "Tools that were loaded on demand are still there after a compaction and after resuming.",
        source="spec 1 §11.4; issue 5, item 8",
    ),
}
