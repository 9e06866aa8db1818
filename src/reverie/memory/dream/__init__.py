"""Consolidation: when to dream, what a dream proposes, and how that reaches the directory as one commit.

Reading order: `dreams` (run one, review, apply, discard), `gates` (is it time, and what happened since), `lock` (one at
a time, and when the last one succeeded); `tidy` (the dream without a model) with `likeness`, `contradictions` and
`retire`, `daily_logs` and `from_logs` (logs of long sessions into topics); `model_dream` (the dream of a model) with
`staging`, `estimate` (what it would cost), `task` (what is shown while it runs), `check` (what of its result may
stand); `proposal` (the result as a value and on disk, and what of it needs a person's word), `hunks` (the proposal as a
diff, piece by piece), `apply` (one commit, merged with what others did meanwhile).
"""
