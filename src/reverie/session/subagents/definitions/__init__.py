"""Roles that an agent may play: Markdown files with a system prompt.

Reading order: `definition` (one role, as a value), `built_in` (those we bring), `discover` (where people keep theirs
and which one a name means), `listing` (what the model is told of them). `subagents.roles` makes an agent of one.
"""

from reverie.session.subagents.definitions.definition import Definition, definition_of
from reverie.session.subagents.definitions.discover import Agents, list_agents
from reverie.session.subagents.definitions.listing import agent_line, listing_delta

__all__ = ["Agents", "Definition", "agent_line", "definition_of", "list_agents", "listing_delta"]
