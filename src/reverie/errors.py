"""Every exception of the package, as one class tree.

```text
Error
  · UserMistake            bad flag, bad file, bad setting, bad front matter   → exit 2, one line, how to fix it
  · Unavailable            model, network, server, missing program             → a retry may help
      - ContextTooLong     the provider says the request does not fit          → reactive compaction
      - MediaTooLarge      one image or document is over the provider's limit  → strip it
      - RateLimited        429, with the provider's own waiting time           → wait, then retry
      - Overloaded         529 and 5xx                                         → back off, then retry
      - Unauthenticated    401, 403, 402: key, permission or credit            → a person must act
      - BadRequest         any other 4xx: the request itself is wrong          → a bug of ours or of a tool
      - Interrupted        the stream ended before its end                     → retry
  · Refused                permission, hook, secret found                      → say by whom and why
  · Conflict               a lock is held, a file changed meanwhile            → read again
  · Damaged                a file we cannot read (path, line)                  → named, skipped, never overwritten
```

A class exists because some caller does something different for it. Building an error does nothing.
"""

from __future__ import annotations

from pathlib import Path


class Error(Exception):
    """The root of everything that Reverie raises on purpose."""


class UserMistake(Error):
    """Something the user wrote is wrong: a flag, a file, a setting.

    The message names the thing, the place and the next step; the command line prints it and exits with 2.
    """


class Unavailable(Error):
    """Something outside did not do its part; trying again may help."""

    status: int | None
    """The HTTP status, where there was one."""
    request_id: str | None
    """The provider's name for the request, to quote in a report."""
    retry_after_seconds: float | None
    """How long the provider asks to wait, where it said so."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds


class ContextTooLong(Unavailable):
    """The request does not fit into the model's window."""

    used_tokens: int | None
    limit_tokens: int | None

    def __init__(
        self,
        message: str,
        *,
        used_tokens: int | None = None,
        limit_tokens: int | None = None,
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, status=status, request_id=request_id)
        self.used_tokens = used_tokens
        self.limit_tokens = limit_tokens

    @property
    def gap_tokens(self) -> int | None:
        """How much must go, when the provider said so."""
        if self.used_tokens is None or self.limit_tokens is None:
            return None
        return max(0, self.used_tokens - self.limit_tokens)


class MediaTooLarge(Unavailable):
    """One image or document, or the body as a whole, is larger than the provider takes."""


class RateLimited(Unavailable):
    """Too many requests; the provider may say how long to wait."""


class Overloaded(Unavailable):
    """The provider has no capacity or failed inside."""


class Unauthenticated(Unavailable):
    """The key is missing, wrong, without permission or without credit."""


class BadRequest(Unavailable):
    """The provider refused the request as malformed; sending it again will not help."""


class Interrupted(Unavailable):
    """The connection or the stream ended before the answer was complete."""


class Refused(Error):
    """A rule said no."""

    by: str
    """Who refused: `permission`, `hook`, `secret scan`, …"""

    def __init__(self, message: str, *, by: str) -> None:
        super().__init__(message)
        self.by = by


class Conflict(Error):
    """Somebody else holds or changed what this call wanted."""


class Damaged(Error):
    """A file cannot be read as what it should be. It is named, skipped where possible and never overwritten."""

    path: Path
    line: int | None

    def __init__(self, message: str, *, path: Path, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line
