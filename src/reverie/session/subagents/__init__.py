"""The child agents of a session.

Reading order: `staff` (who there is and who may be started), `hiring` (how one comes to be), `roles` (how a role
becomes an agent), `own_servers` (the tool servers of a role), `agent_answers` (what the parent is told), `oversight`
(progress, lists and stops), `post` (letters), `teammates` (agents in a process of their own).
"""
