"""Rules about headers (a key, a version, known switches) and about the size of the prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reverie.messages.blocks import JsonObject
from reverie.values import value
from reverie_simulator.api_error import ApiError, invalid
from reverie_simulator.facts import ModelFacts
from reverie_simulator.prompt import SimulatedPrompt
from reverie_simulator.wire import number_at

CONTEXT_MANAGEMENT_BETA = "context-management-2025-06-27"
COMPACTION_BETA = "compact-2026-01-12"
LONG_WINDOW_BETA = "context-1m-2025-08-07"
THREADS_BETAS = ("message-threads-",)
INTERLEAVED_BETA = "interleaved-thinking-2025-05-14"
CACHE_SCOPE_BETAS = ("prompt-caching-scope-",)
TURN_SETTINGS_BETAS = (
    "per-turn-control-",
    "mid-conversation-output-config-",
    "mid-conversation-system-clear-at-",
)
TOOL_CHANGES_BETAS = ("mid-conversation-tool-changes-", "inline-tools-")
CACHE_EDITS_BETA = "reverie-cache-edits-2026-01-01"
"""Our own name for an extension that the public API does not offer."""

_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}")
_BETA = re.compile(r"[a-z0-9][a-z0-9-]*-(\d{4}-\d{2}-\d{2}|\d{8})")


@value
class Headers:
    """What a request's headers say."""

    betas: frozenset[str] = frozenset()
    api_key: str = ""

    @property
    def features(self) -> RequestFeatures:
        return RequestFeatures(
            context_management=CONTEXT_MANAGEMENT_BETA in self.betas,
            compaction=COMPACTION_BETA in self.betas,
            cache_edits=CACHE_EDITS_BETA in self.betas,
            cache_scope=self._has(CACHE_SCOPE_BETAS),
            turn_settings=self._has(TURN_SETTINGS_BETAS),
            threads=self._has(THREADS_BETAS),
            tool_changes=self._has(TOOL_CHANGES_BETAS),
        )

    def _has(self, beginnings: tuple[str, ...]) -> bool:
        return any(beta.startswith(beginnings) for beta in self.betas)


def read_headers(headers: Mapping[str, str]) -> Headers | ApiError:
    """Read headers with lower-case names; refuse them as the provider does."""
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not key:
        return ApiError(401, "x-api-key header is required")
    version = headers.get("anthropic-version")
    if not version:
        return invalid("anthropic-version: header is required")
    if not _VERSION.fullmatch(version):
        return invalid(f'anthropic-version: "{version}" is not a valid version')
    betas = frozenset(name.strip() for name in headers.get("anthropic-beta", "").split(",") if name.strip())
    unknown = sorted(name for name in betas if not _BETA.fullmatch(name))
    if unknown:
        listed = ", ".join(f"`{name}`" for name in unknown)
        return invalid(
            f"Unexpected value(s) {listed} for the `anthropic-beta` header. Please consult our documentation at "
            "platform.claude.com/docs or try again without the header."
        )
    return Headers(betas=betas, api_key=key)


REQUEST_BYTES_MAX = 32 * 1024 * 1024
LONG_WINDOW_TOKENS = 1_000_000


def window_tokens(facts: ModelFacts, headers: Headers) -> int:
    """The window of a request; a header widens that of some older models."""
    widens = facts.family == "sonnet" and (4, 0) <= facts.version < (4, 6) and LONG_WINDOW_BETA in headers.betas
    return LONG_WINDOW_TOKENS if widens else facts.window_tokens


def check_window(prompt: SimulatedPrompt, body: JsonObject, window: int) -> str | None:
    """Whether the prompt fits, and for older models whether the reply does too."""
    used, reply = prompt.tokens, number_at(body, "max_tokens")
    if used > window:
        return f"prompt is too long: {used} tokens > {window} maximum"
    if not prompt.facts.overflows_softly and used + reply > window:
        return (
            f"input length and `max_tokens` exceed context limit: {used} + {reply} > {window}, decrease input length "
            "or `max_tokens` and try again"
        )
    return None


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
