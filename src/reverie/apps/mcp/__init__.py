"""`reverie mcp`: the memory as an MCP server, for any agent that speaks the protocol.

Reading order: `tools` (what a client can call, without the SDK), `served_memories` (whose memories a client means),
`resources` (topics and indexes by address), `server` (the only module of it that imports the SDK), `http` (streamable
HTTP on loopback, with a token).
"""
