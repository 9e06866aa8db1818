"""Past context: passages of a project's transcripts, found again (spec 2 §14).

Reading order: `listing` (which transcripts), `cutting` (what of a record is a passage), `terms` (its words), `database`
(the index file), `indexing` (keeping it in step with the transcripts), `finding` (candidates for the engine of
`search`), `texts` (reading them again), `past_search` (the whole).
"""

from reverie.memory.search.passages.past_search import Found, PastHit, PastQuery, PastSearch

__all__ = ["Found", "PastHit", "PastQuery", "PastSearch"]
