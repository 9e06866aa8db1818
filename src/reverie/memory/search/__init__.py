"""Searches topics and passages of transcripts by words and vectors; ranks, gives reasons, and says how sure it is.

- recall of topics: `recall` (which matter now), `topic_index` (one directory as recall sees it) with its
  `topic_table`, `model_selection` (a model chooses), `render` (how a recalled topic is shown)
- the engine: `document` (documents, queries, reasons), `engine` (open, update, search), `analyze` with `stem` and
  `words` (text to terms), `query` (terms weighed by the store), `spelling` (unknown words), `standing` (situations
  that hold), `database` (the search tables of `index.db`, which `memory/index_file` opens), `features` (what is
  measured of a candidate), `rank` (how likely it helps, and what is shown)
- meaning, with the `semantic` extra: `semantic`, `vectors`, `sentences`, `embed`, `tensors`, `blas` (threads),
  `beside` (two things at once), `weights` (the model files)
- `passages`: what past sessions said, opened by `past_sessions`
"""
