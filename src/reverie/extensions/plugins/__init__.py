"""WHAT OTHERS PACKED: folders that bring hooks, agents, skills and servers.

Reading order: `json_file`, `expand`, `front_matter` and `markdown_files` read what people wrote, `servers` says
which MCP servers there are, `plugin` reads one folder, `installed` finds them all.
"""
