"""WHAT OTHERS PACKED: folders that bring hooks, agents, skills and servers.

Reading order: `json_file` and `expand` read what people wrote, `servers` says which MCP servers there are.
"""
