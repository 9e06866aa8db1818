"""Maps a provider's failure to the error class on which callers act.

Pure. Providers say the same thing with different statuses and words, so the order of the questions matters: is the
request too long, is a picture too large, and only then what the status or the provider's own name for it means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import field
from email.utils import parsedate_to_datetime
from typing import Any

from reverie.errors import (
    BadRequest,
    ContextTooLong,
    MediaTooLarge,
    Overloaded,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from reverie.messages.codec import as_count
from reverie.patterns import lazy_regex
from reverie.values import value

_LONGEST_QUOTE_CHARS = 400
_HIDDEN = "[key]"

_TOO_LONG = tuple(
    lazy_regex(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        # Anthropic
        r"prompt is too long: (?P<used>\d+) tokens > (?P<limit>\d+)",
        r"exceed context limit: (?P<used>\d+) \+ (?P<more>\d+) > (?P<limit>\d+)",
        # OpenAI, vLLM, llama-cpp-python
        r"maximum context length is (?P<limit>\d+) tokens.*?(?:resulted in|requested) (?:about )?(?P<used>\d+) tokens",
        r"passed (?P<used>\d+) input tokens and requested (?P<more>\d+) output tokens.*?only (?P<limit>\d+)",
        r"prompt \(?(?:total )?length (?P<used>\d+)\)? is (?:longer|too long).*?maximum model length of (?P<limit>\d+)",
        r"requested tokens \((?P<used>\d+)\) exceed context window of (?P<limit>\d+)",
        r"request too large.*?limit:? (?P<limit>\d+), requested:? (?P<used>\d+)",
        # llama.cpp, LM Studio, Mistral, Gemini
        r"request \((?P<used>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)",
        r"first (?P<used>\d+) tokens when context the overflows.*?only (?P<limit>\d+)",
        r"prompt contains (?P<used>\d+) tokens.*?(?P<limit>\d+) maximum context length",
        r"token count \(?(?P<used>\d+)\)? exceeds the maximum number of tokens allowed \(?(?P<limit>\d+)",
        # Without the size of the request
        r"maximum context length is (?P<limit>\d+)",
        r"prompt is too long",
        r"exceeds? (?:the |maximum |available |model's )*context (?:size|window|length)",
        r"context (?:size|length|window) has been exceeded",
        r"input (?:is too long|length exceeds)",
    )
)
_TOO_LONG_KINDS = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_TOO_LARGE = lazy_regex(
    r"image[^.]*(?:exceed|too large)|(?:pdf|document)[^.]*(?:exceed|too large)|maximum of \d+ pdf pages", re.IGNORECASE
)
_NO_CREDIT = lazy_regex(
    r"credit balance|insufficient[_ ](?:quota|credit|balance)|exceeded your current quota", re.IGNORECASE
)

_STATUS_OF_KIND = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What the provider's own names mean; needed when an error arrives inside a stream that began with status 200."""

_AUTHENTICATION_ADVICE = {
    401: "the key was not accepted; check it, or name another model",
    402: "the account has no credit; add some, or name another model",
    403: "the key may not do this; use one that may, or name another model",
}


@value
class ProviderError:
    """A provider's account of a failure."""

    text: str
    kind: str = ""
    """The provider's own name for it."""
    status: int | None = None
    """None when it came inside a stream."""
    used_tokens: int = 0
    limit_tokens: int = 0
    request_id: str | None = None
    retry_after_seconds: float | None = None


@value
class ProviderName:
    """Whom we talk to, as it may be named in a message."""

    place: str
    """The address without user name, password and query."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What must not appear in any message, even when the provider quotes it."""

    def quote(self, text: str) -> str:
        """The provider's words, shortened and without secrets."""
        for secret in filter(None, map(str.strip, self.secrets)):
            text = text.replace(secret, _HIDDEN)
        text = " ".join(text.split())
        return text if len(text) <= _LONGEST_QUOTE_CHARS else text[:_LONGEST_QUOTE_CHARS] + "…"


def read_failure(status: int | None, body: object, headers: Mapping[str, str]) -> ProviderError:
    """Understand the body of an error, whichever of the usual shapes it has."""
    detail = _unwrap_error(body)
    code = detail.get("code")
    kind = code if isinstance(code, str) and code in (*_STATUS_OF_KIND, *_TOO_LONG_KINDS) else detail.get("type")
    text = detail.get("message") or detail.get("detail") or body or ""
    return ProviderError(
        text=text if isinstance(text, str) else str(text),
        kind=str(kind or code or ""),
        status=status if status is None or status >= 400 else None,
        used_tokens=as_count(detail.get("n_prompt_tokens")),
        limit_tokens=as_count(detail.get("n_ctx")),
        request_id=headers.get("request-id") or headers.get("x-request-id"),
        retry_after_seconds=_retry_after(headers),
    )


def fault(error: ProviderError, provider: ProviderName) -> Unavailable:
    """The error for what was said."""
    status = error.status or _STATUS_OF_KIND.get(error.kind, 500)
    quoted = provider.quote(error.text) or f"status {status}"
    origin: dict[str, Any] = {"status": status, "request_id": error.request_id}
    if (gap := _too_long(error)) is not None:
        used, limit = gap
        return ContextTooLong(f"too long for the model: {quoted}", used_tokens=used, limit_tokens=limit, **origin)
    if _TOO_LARGE.search(error.text) or status == 413:
        return MediaTooLarge(f"too large for {provider.place}: {quoted}", **origin)
    if _NO_CREDIT.search(error.text) or error.kind == "insufficient_quota":
        return Unauthenticated(f"{provider.place}: {_AUTHENTICATION_ADVICE[402]} ({quoted})", **origin)
    if status in _AUTHENTICATION_ADVICE:
        return Unauthenticated(f"{provider.place}: {_AUTHENTICATION_ADVICE[status]} ({quoted})", **origin)
    origin["retry_after_seconds"] = error.retry_after_seconds
    if status == 429:
        return RateLimited(f"{provider.place} has had too many requests: {quoted}", **origin)
    if status >= 500 or status == 408:
        return Overloaded(f"{provider.place} failed with {status}: {quoted}", **origin)
    return BadRequest(f"{provider.place} refused the request ({status}): {quoted}", **origin)


def _too_long(error: ProviderError) -> tuple[int | None, int | None] | None:
    """Size and limit of a request that does not fit; None when that is not the matter."""
    if error.status in _AUTHENTICATION_ADVICE:
        return None
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", error.text)
    for pattern in _TOO_LONG:
        if match := pattern.search(plain):
            sizes = {name: int(value) for name, value in match.groupdict().items() if value}
            used = sizes.get("used", error.used_tokens) + sizes.get("more", 0)
            return used or None, sizes.get("limit", error.limit_tokens) or None
    if error.kind in _TOO_LONG_KINDS:
        return error.used_tokens or None, error.limit_tokens or None
    return None


def _unwrap_error(body: object) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            return inner
        return {"message": inner} if isinstance(inner, str) else body
    return {}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Milliseconds, seconds or a date; a date is measured from the server's own clock."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        until, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
        return max(0.0, (until - now).total_seconds())
    except (KeyError, TypeError, ValueError):
        return None
