"""Tools of MCP servers.

Reading order: `connections` (all servers of a session), `content` (what a result becomes), `remote_tool` (a tool of a
server as one of ours), `resource_tools` (their resources, listed and read). One connection is `extensions.mcp`.
"""
