"""What happened to a memory directory, kept as git commits, and the only way to write to it.

- the record: `change` (who, why, on what grounds), `history` (the repository), `past` (earlier states), `packing`
- the files beside the last commit: `tracked`, `listing` (again and again), `told` (by the system), `worktree`,
  `exchange` (two renames)
- writing: `writer` (the lock, one commit at a time), `attribution` (who made an edit that is found), `undo`
- forgetting for good: `erase`, `redact` (transcripts), `relearning` (what must not come back), `tombstones`
- carrying away: `bundle`
"""
