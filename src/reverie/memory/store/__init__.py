"""One directory of topics: its files, MEMORY.md and git history, and the only way to write to it.

- the whole: `topic_store` (read, save, edit, forget, pin), `timeline` (log, why, undo, erase)
- the record: `change` (who, why, on what grounds), `history` (the repository), `past` (earlier states), `git`
- MEMORY.md: `index`
- the files beside the last commit: `worktree` (which are tracked, what changed, how they are written),
  `atomic_rename` (swap two files, rename only if absent)
- writing: `writer` (the lock, one commit at a time), `attribution` (who made an edit that is found)
- forgetting for good: `erase`, `redact` (transcripts), `erased_sentences` (what must not be learnt again),
  `tombstones`
- carrying away: `bundle`; which topics were recalled: `usage_log`
"""
