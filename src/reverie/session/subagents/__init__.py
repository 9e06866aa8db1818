"""Child agents: definitions, forks, roles, teammates, mailboxes, work trees.

Reading order: `definitions` (roles as people write them), `subagents` (which there are, who may be started, lists and
stops), `start` (how one is started), `roles` (a role becomes an agent), `fork` (a child that shares the conversation
and its cache), `children` (those that run), `answers` (what the parent is told), `progress` (what they do, in a few
words), `extensions` (MCP servers and hooks) and `worktree` (what one may have of its own); `messaging` (who is reached
how), `mailbox`, `team` and `teammates` (agents in a process of their own).
"""
