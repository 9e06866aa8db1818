"""Skills and commands: Markdown files that the user or the model invokes by name.

Reading order: `skill` (one, as a value), `discover` (where they lie and what a name means), `listing` (what the model
is told of them), `invocation` (what it reads when one is invoked).
"""

from reverie.extensions.skills.discover import Skills, list_nested, list_skills
from reverie.extensions.skills.invocation import Invocation, read_invocation
from reverie.extensions.skills.listing import describe, listing, skills_in_play
from reverie.extensions.skills.skill import Skill

__all__ = [
    "Invocation",
    "Skill",
    "Skills",
    "describe",
    "list_nested",
    "list_skills",
    "listing",
    "read_invocation",
    "skills_in_play",
]
