"""Other people's agents: their sessions, memory files, hooks and settings. Their sessions are never written.

Reading order: `fields` (JSON that nobody promises), `session` (a session of any agent, as entries), one reader per
agent (`codex` with `codex_records`, `copilot`, `opencode` with `opencode_tree`, `qwen`, `gemini`, `antigravity`,
`cline`, `goose`, `cursor`), `database` (SQLite without writing), `catalogue` (which sessions there are on this machine,
and reading any of them by its path). Then their memory files: `memory_files` (reading them as notes), `memory_targets`
(writing notes for them), `marked_block` (the one block that is ours in a file of somebody else). Then their hooks and
settings: `hook_events` (events in one form, answers in theirs), `install` (hooks and entries in their settings).
"""
