"""The public faces.

Reading order: `memory` (what lasts), `saving` (how a memory is made), `learning` (memories from past sessions),
`dreaming`, `dream_by_model` and `dream_task` (memories put in order), `naming` (which one is meant), `shelves` (the
directories that recall looks into), `account` (what `why` answers), `past` (past sessions), `selecting` (a model's
choice), `meaning` (vectors), `watching` (edits by others), `upkeep` (what is wrong), `staff` (child agents) with
`roles`, `agent_answers`, `oversight`, `post` (letters), `teammates` and `teammate` (a session that is one),
`repository` (what git says of the project), `process` (what comes from the process when the caller does not say);
`session` (an agent to work with), made by `session_parts` from a `session_setup`, with `briefing` (what its model is
told), `disk_changes` and `idling` (what hooks hear of between turns), `recalling`, `noting` and `extracting` and
`sleeping` (memories, notes, learning and dreams beside it), `extensions` (plugins) with `invoking` (skills), `serving`
(servers), `included` (instruction files from outside) and `trusting` (what waits for the user's word), `rule_keeping`
(rules that outlive it); `window` (for one's own loop), `followed` (a loop that keeps its messages), `wrap` (for one's
own client).
"""
