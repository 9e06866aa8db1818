"""What we promise of `reverie mcp`, the memory for other agents."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "mcp-server:tools": Requirement(
        "A client saves, recalls, reads, lists and forgets memories, sees their history and searches past sessions; "
        "results are structured, fit their schemas and are the JSON of the command line."
    ),
    "mcp-server:rules": Requirement(
        "What a client saves is the word of an agent: never `said`, refused when it holds a secret, kept as it was "
        "said when it contradicts its quote; a wrong call names the field and changes nothing."
    ),
    "mcp-server:projects": Requirement(
        "`--project` is served, else the client's roots, in every version of the protocol, else the current directory."
    ),
    "mcp-server:resources": Requirement("Topics and indexes can be listed page by page and read by their address."),
    "mcp-server:prompt": Requirement("A prompt tells a model how to save what matters of a conversation."),
    "mcp-server:calls": Requirement(
        "A long search reports progress; a cancelled one ends; writes that come together are all kept."
    ),
    "mcp-server:stdio": Requirement("`reverie mcp` speaks on standard input and output and ends with its client."),
    "mcp-server:http": Requirement(
        "Over HTTP on loopback only requests with the token, and with no foreign origin, are answered."
    ),
}
