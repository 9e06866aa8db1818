"""What is remembered: topics as Markdown files, their index, their history, and how they are found again.

In reading order, by what they are about:

- a topic: `topic_value`, `topic` (its file), `topic_fields` and `frontmatter` (its head), `topic_merge` (two edits of
  one), `topic_remarks` (what was guessed), `filenames`, `age`, `anchors` (what it is tied to), `situations`, `tasks`
  and `globs` (when it applies), `injection` (text that tries to be more than data)
- MEMORY.md: `index`, `index_lines`, `index_edits`, `catalogue` and `row_table` (what it must know of every topic)
- a directory: `store` (save, edit, forget), `finding` (which topic is meant), `writer` (the only way to write),
  `attribution` (who made an edit), `vetted` (what was looked at), `worktree` and `tracked` (the files beside the last
  commit), `exchange` (two renames)
- its history: `history`, `change` (who, why, on what grounds), `timeline` (log, why, undo, erase), `past`, `undo`,
  `erase`, `redact`, `relearning`, `tombstones`, `bundle`, `packing`, `retention`, `git` (the formats)
- recall: `recall`, `recalled` (what a hit looks like), `indexed`, `look_ahead`, `topic_table` and `topic_rows` (what
  recall knows of every topic), `scopes` (which directories), `usage_log`, `search` (the engine), `passages` (past
  sessions), `doctor`
- background: `extraction` (memories from what the user said), `daily` (logs of long sessions), `dream` (all of it put
  in order now and then)
"""
