"""MCP servers: which there are, and one connection to each.

Reading order: `servers` (which servers are configured, as values), `values` (what a server offers, in our own terms),
`client` (the only module that imports the SDK, late), `connection` (one server from start to end, reconnected when it
is lost). Their tools become tools of ours in `tools.mcp`.
"""
