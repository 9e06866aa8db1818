"""Plugins: folders that bring hooks, agents, skills and servers.

Reading order: `front_matter` reads what people wrote, `plugin` reads one folder, `installed` finds them all.
"""
