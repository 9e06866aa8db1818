"""What `Memory` is made of, each loaded when first asked for.

Reading order: `saving` (how a memory is made), `naming` (which one is meant), `shelves` (the directories that recall
looks into), `meaning` (vectors), `selecting` (a model's choice), `watching` (edits by others), `account` (what `why`
answers), `past` (past sessions), `learning` (memories from them), `dreaming`, `dream_by_model`, `dream_estimate` and
`dream_task` (memories put in order), `upkeep` (what is wrong), `repository` (what git says of the project).
"""
