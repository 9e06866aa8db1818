"""An agent at work. Start reading here: `session` (`Session`, the public class), then `loop`.

Building one: `wiring` (from the settings of this process, as far as the user trusts the project), `options` (everything
that comes from outside, as one value, and which keys in it others do not see), `build` (`build_session`: all parts,
from top to bottom), `parts` (what they do for the loop, how they begin and end), `descriptions` (what they say of
themselves).

A turn: `loop` (until the model stops calling tools), `tool_calls` (permission, hooks, run, answer), `compaction` (when
the window fills), `events` (what happens, as values), `mentions` (`@path` in a message), `recall` (memories for
the turn, and the answer where there is no model), `web_search`.

What the model is told: `opening_prompt` (all of it), `system_prompt` (by sections), `prompt_text` (the files under
`prompts/`), `user_context` (the first message), `memory_prompt`, `output_style`.

Between and after turns: `background_work` (the list of it), `notes` (session notes), `extraction` (what a turn taught),
`dream`, `retention` (files that expired), `disk_changes` (what hooks hear of), `lifecycle_hooks` (start, idle and end),
`file_history` (going back, with files), `team_memory` (pulls and pushes of what is shared).

What people bring: `extensions` (all of it), `skills`, `mcp_tools`, `project_trust` (what waits for the user's word,
instruction files from outside the project and permission rules that outlive the session included), `memory_writes`
(memories that tools write). `subagents` are its child agents, `teammate` is a
session that works for another one.
"""
