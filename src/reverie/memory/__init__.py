"""What is remembered: topics as Markdown files, their index, their history, and how they are found again.

From the bottom up; a package imports only those above it in this list:

- `topics`: one topic, its file and head, its age and when it applies
- `git`: the formats of a git repository, read and written without running git
- `history`: every change as a commit, and the only way to write
- `index`: MEMORY.md
- `store` (save, edit, forget, on one directory) and `timeline` (log, why, undo, erase)
- `search` (the engine), `recall` (topics for a question), `scopes` (which directories), `doctor`
- `retention` (how long transcripts and spills stay), `passages` (what past sessions said)
- background: `extraction` (memories from what the user said), `daily` (logs of long sessions), `dream` (all of it put
  in order now and then), `fork_runner` (what both need of a conversation)
"""
