"""Computes the billed usage of a request, and its JSON."""

from __future__ import annotations

from reverie.messages.blocks import Json
from reverie.values import value


@value
class CacheUsage:
    """The input side of a bill."""

    input_tokens: int
    """Tokens behind the last breakpoint, or all of them when nothing is cached."""
    read_tokens: int = 0
    written_5m_tokens: int = 0
    written_1h_tokens: int = 0
    deleted_tokens: int = 0
    """What `cache_edits` removed from the prompt; part of no other number."""

    @property
    def written_tokens(self) -> int:
        return self.written_5m_tokens + self.written_1h_tokens

    @property
    def total_tokens(self) -> int:
        """The size of the prompt."""
        return self.input_tokens + self.read_tokens + self.written_tokens

    def as_json(self) -> dict[str, Json]:
        """The fields as every usage object begins with them."""
        return {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.written_tokens,
            "cache_read_input_tokens": self.read_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m_tokens,
                "ephemeral_1h_input_tokens": self.written_1h_tokens,
            },
        }


NO_INPUT = CacheUsage(input_tokens=0)


@value
class Iteration:
    """One pass over the model inside one request."""

    kind: str
    """`message`, or `compaction` for the pass that wrote a summary."""
    cache: CacheUsage
    output_tokens: int

    def as_json(self) -> dict[str, Json]:
        fields = self.cache.as_json()
        return {
            "input_tokens": fields["input_tokens"],
            "output_tokens": self.output_tokens,
            "cache_read_input_tokens": fields["cache_read_input_tokens"],
            "cache_creation_input_tokens": fields["cache_creation_input_tokens"],
            "cache_creation": fields["cache_creation"],
            "type": self.kind,
        }


@value
class ReplyBill:
    """Everything that one reply reports of its cost."""

    cache: CacheUsage
    output_tokens: int
    thinking_tokens: int | None = None
    """None for models that do not report it."""
    iterations: tuple[Iteration, ...] | None = None
    """None unless compaction was asked for."""
    geography: str = "global"
    edits_cache: bool = False
    """Whether the request used the `cache_edits` extension."""
    web_searches: int = 0
    """Searches that the provider made for the reply."""

    def message(self) -> dict[str, Json]:
        """The usage of a complete reply."""
        fields = self.start(self.output_tokens)
        if self.thinking_tokens is not None:
            fields["output_tokens_details"] = {"thinking_tokens": self.thinking_tokens}
        return {**fields, **self._extensions()}

    def start(self, output_tokens: int) -> dict[str, Json]:
        """The usage with which a stream opens."""
        return {
            **self.cache.as_json(),
            "output_tokens": output_tokens,
            "service_tier": "standard",
            "inference_geo": self.geography,
        }

    def final(self) -> dict[str, Json]:
        """The cumulative usage with which a stream closes."""
        fields = self.cache.as_json()
        del fields["cache_creation"]
        fields["output_tokens"] = self.output_tokens
        if self.thinking_tokens is not None:
            fields["output_tokens_details"] = {"thinking_tokens": self.thinking_tokens}
        return {**fields, **self._extensions()}

    def _extensions(self) -> dict[str, Json]:
        fields: dict[str, Json] = {}
        if self.iterations is not None:
            fields["iterations"] = [iteration.as_json() for iteration in self.iterations]
            if any(iteration.kind == "compaction" for iteration in self.iterations):
                fields["server_tool_use"] = {"web_search_requests": 0, "web_fetch_requests": 0}
        if self.web_searches:
            fields["server_tool_use"] = {"web_search_requests": self.web_searches, "web_fetch_requests": 0}
        if self.edits_cache:
            fields["cache_deleted_input_tokens"] = self.cache.deleted_tokens
        return fields
