"""`reverie install`: hooks, MCP entries and instruction blocks in the settings of other agents.

Reading order: `targets` (which files and keys each agent has), `edits` (how one file is changed and changed back),
`json_text` (changes of single keys that keep the rest of a file), `vendor` (the agents' own commands, tried on a copy),
`ledger` (what was installed, with a backup of each file), `launcher` (the fixed paths that the entries start), `plugin`
(the directory that four agents take as a plugin, and the file for opencode).
"""
