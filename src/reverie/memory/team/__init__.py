"""Team memory: what everybody who works on a repository shares, in `<memory_dir>/team/`.

The files are topics of the project's own store, so recall, history and undo cover them. What is shared is a copy of
them elsewhere; `sync` brings both together.

- `entry`: one shared file with author and trust, or the tombstone of one that was deleted
- `merge`: three-way merge of one file: who wins, and which edit goes to a conflict copy
- `rules`: what may be shared, and what is taken from a remote
- `state`: which remote was joined, and what both sides last agreed on
- `sync`: pull and push over any `TeamRemote`
- `git_remote`: a branch of a git repository as the remote; no server
- `http_remote`: a repository at a team server as the remote
- `team`: `Team`, what the command line and sessions use
- `own_machines`: `PersonalSync`, private memory on several machines of one person
- `watch`: pushes after edits and pulls now and then
"""
