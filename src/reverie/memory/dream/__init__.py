"""Consolidation: when to dream, what a dream proposes, and how that reaches the directory as one commit.

Reading order: `gates` (is it time), `lock` (one dreamer, and when the last one succeeded), `sessions` (what happened
since); `tidy` (the dream without a model: `likeness`, `duplicates`, `relative_dates`, `dead_anchors`,
`contradictions`), `from_logs` (daily logs into topics); `fork`, `view` and `staging` (the dream of a model), `check`
(what of its result may stand); `proposal` (the result as a value and on disk), `limits` (what needs a person's word),
`hunks` (the proposal as a diff, piece by piece), `apply` (one commit, merged with what others did meanwhile).
"""
