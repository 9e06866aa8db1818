"""The embedded summariser: summaries and notes from facts, without a model.

`line` is what a digest is made of, quotes of the user included; `drafts` turns facts into lines; `choose` takes the
lines that tell the most within a limit, by how likely an identifier is needed again; `summary` and `notes` put the
lines under their headings. Everything in a digest is quoted from the conversation or counted in it.
"""

from reverie.context.digest.line import quote_requests
from reverie.context.digest.notes import notes
from reverie.context.digest.summary import summary

__all__ = ["notes", "quote_requests", "summary"]
