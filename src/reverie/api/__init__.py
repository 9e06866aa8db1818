"""The public faces.

`memory` (what lasts) with its `memory_parts`; `session` (an agent to work with), made by `session_parts` from a
`session_setup`, with its `staff` of child agents, `own_keys` (which others do not see) and `teammate` (a session that
plays a member of a team); `window` (for one's own loop), `followed` (a loop that keeps its messages), `wrap` (for one's
own client). `process` finds what the caller does not say.
"""
