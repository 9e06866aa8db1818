"""Roles that an agent may play: Markdown files with a system prompt.

Reading order: `definition` (one role, as a value), `discover` (those we bring, where people keep theirs, which one a
name means, and what the model is told of them). `subagents.roles` makes an agent of one.
"""

from reverie.session.subagents.definitions.definition import Definition, definition_of
from reverie.session.subagents.definitions.discover import Agents, agent_line, list_agents, listing_delta

__all__ = ["Agents", "Definition", "agent_line", "definition_of", "list_agents", "listing_delta"]
