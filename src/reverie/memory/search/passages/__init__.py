"""Search in passages of a project's transcripts.

Reading order: `listing` (which transcripts), `cut` (what of a record is a passage), `terms` (its words), `database`
(the index file), `update` (keeping it in step with the transcripts), `find` (candidates), `rank`
(their order), `texts` (reading them again), `past_search` (the whole).
"""

from reverie.memory.search.passages.past_search import PastHit, PastQuery, PastSearch, PastSearchResult

__all__ = ["PastHit", "PastQuery", "PastSearch", "PastSearchResult"]
