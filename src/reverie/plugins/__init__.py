"""WHAT OTHERS PACKED: folders that bring hooks, agents, skills and servers."""
