"""Plugins: folders that bring hooks, agents, skills and servers.

Reading order: `plugin` reads one folder, `installed` finds them all.
"""
