"""A Messages API on this machine, with a byte-exact prompt cache, scripted replies and real error shapes.

Reading order: `app` (HTTP) and `control` (its own addresses), `server` (running it), `simulation` (one run), `provider`
(a request in, a reply out), `protocols` (the forms of other providers), `answers`, `rules` (what is refused), `prompt`
(what the model reads), `edits`, `compaction`, `cache`, `explain`, `usage`, `script`, `script_file`, `replies`,
`events`, `clock`, `api_error`, `facts`, `weights`, `media`, `memo`, `wire`.
"""
