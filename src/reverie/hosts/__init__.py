"""Other people's agents: readers of their sessions and memory files. Their sessions are never written.

Reading order: `session` (a session of any agent, as entries), one reader per agent (`codex`, `copilot`, `opencode`,
`qwen`, `gemini`, `antigravity`, `cline`, `goose`, `cursor`), `database` (SQLite without writing),
`catalogue` (which sessions there are on this machine, and reading any of them by its path). Then their memory files:
`memory_files` (reading them as notes), `memory_targets` (writing notes for them), `marked_block` (the one block that is
ours in a file of somebody else).
"""
