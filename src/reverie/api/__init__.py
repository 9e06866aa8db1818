"""The public faces.

Reading order: `memory` (what lasts), `saving` (how a memory is made), `selecting` (a model's choice), `meaning`
(vectors), `watching` (edits by others), `upkeep` (what is wrong), `repository` (what git says of the project),
`process` (what comes from the process when the caller does not say).
"""
