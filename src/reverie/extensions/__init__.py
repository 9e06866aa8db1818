"""What people bring to an agent: instruction files, hooks, skills, plugins and MCP servers.

`instructions` (CLAUDE.md, AGENTS.md, rules), `hooks` (the user's scripts), `skills` (skills and commands), `mcp`
(servers of tools), `plugins` (folders that bring any of these). `json_file` and `markdown_file` read
files that others wrote.
"""
