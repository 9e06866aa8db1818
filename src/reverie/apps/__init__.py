"""Programs built on the library: the command line, the terminal agent, replay, the demo and the team server.

`cli` (one file per command), `tui` (the terminal agent), `replay` (recorded sessions through a context strategy),
`demo` (what `make demo` shows), `server` (the team server), `worker` (jobs of the team server), `mcp` (the memory for
other agents), `hook` (what hooks of other agents call), `inspect` (the web page). Shared by them: `rows` (data of
inspection commands), `window_history` (what filled the window at each request), `memory_documents` (memories as JSON),
`find_session` (the transcript that is meant),
`session_figures` (messages and cost of sessions), `bookings` (model calls of all sessions), `plain`
(untrusted text made safe to print), `model_list` (models a user can switch to), `compact_argument` (the argument of
`/compact`), `dream_session` (the session from which a model dreams), `loopback` (sockets that only this machine
reaches).
"""
