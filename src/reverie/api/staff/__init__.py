"""The child agents of a session.

Reading order: `staff` (who there is and how one is started), `roles` (how a role becomes an agent), `agent_answers`
(what the parent is told), `oversight` (progress, lists and stops), `post` (letters), `teammates` (agents in a process
of their own).
"""
