"""The public faces.

Reading order: `memory` (what lasts), `saving` (how a memory is made), `learning` (memories from past sessions),
`dreaming`, `dream_by_model` and `dream_task` (memories put in order), `naming` (which one is meant), `shelves` (the
directories that recall looks into), `account` (what `why` answers), `past` (past sessions), `selecting` (a model's
choice), `meaning` (vectors), `watching` (edits by others), `upkeep` (what is wrong),
`repository` (what git says of the project), `process` (what comes from the process when the caller does not say);
`window` (for one's own loop), `followed` (a loop that keeps its messages), `wrap` (for one's own client).
"""
