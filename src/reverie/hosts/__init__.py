"""Other people's agents: readers of their sessions. Nothing of theirs is ever written.

Reading order: `session` (a session of any agent, as entries), one reader per agent (`codex`, `copilot`, `opencode`,
`qwen`, `gemini`, `antigravity`, `cline`, `goose`, `cursor`), `database` (SQLite without writing),
`catalogue` (which sessions there are on this machine, and reading any of them by its path).
"""
