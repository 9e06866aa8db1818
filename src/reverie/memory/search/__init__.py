"""Finding documents again: an index over words and vectors that ranks, explains itself and can say nothing.

Reading order: `document` (what goes in and comes out), `engine` (open, update, search), `analyze` with `stem` and
`words` (text to terms), `database` (the index file), `spelling` (unknown words), `features` (what is measured),
`rank` (how it is weighed), `abstain` (when to say nothing), `vectors`, `sentences` and `embed` (meaning, with the
`semantic` extra; `tensors` and `blas` are its numbers and its threads, `beside` does two things at once), `weights`
(the model files).
"""

from reverie.memory.search.document import Document, Known, Query, Scored, Why
from reverie.memory.search.engine import SearchIndex

__all__ = ["Document", "Known", "Query", "Scored", "SearchIndex", "Why"]
