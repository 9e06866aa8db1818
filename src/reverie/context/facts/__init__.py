"""What happened in a conversation, told from its structure and never by a model.

`values` are the facts; `rounds` divides items into rounds; `outline`, `shell`, `outcomes`, `stated` and `terms` read
source text, commands, outputs, sentences and identifiers; `touched` keeps the files; `gathering` puts it all together.
"""

from reverie.context.facts.gathering import gather, merge
from reverie.context.facts.values import Facts

__all__ = ["Facts", "gather", "merge"]
