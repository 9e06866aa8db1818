"""What the headers of a request switch on."""

from __future__ import annotations

from reverie.values import value


@value
class RequestFeatures:
    """What the headers of a request switch on."""

    context_management: bool = False
    compaction: bool = False
    cache_edits: bool = False
    cache_scope: bool = False
    """A mark may carry a `scope`; some clients of the provider send one."""
    turn_settings: bool = False
    """A system message may carry settings for the turns after it."""
    threads: bool = False
    """The provider holds the conversation between requests."""
    tool_changes: bool = False
    """Tools may be added and removed in mid-conversation."""
