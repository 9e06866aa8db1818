"""Errors in the provider's wording and JSON shape."""

from __future__ import annotations

from reverie.messages.blocks import Json, JsonObject
from reverie.values import value

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}

MESSAGES = {
    401: "invalid x-api-key",
    402: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
    "purchase credits.",
    403: "Your API key does not have permission to use the specified resource.",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "The request conflicts with the current state of the resource.",
    413: "Request exceeds the maximum size",
    429: "This request would exceed your organization's rate limit of 400,000 input tokens per minute. Please reduce "
    "the prompt length or the maximum tokens requested, or try again later.",
    500: "Internal server error",
    503: "Service unavailable",
    504: "Request timed out",
    529: "Overloaded",
}
"""The usual words for errors that are not about one field."""


@value
class ApiError:
    """A refusal, before it gets a request id."""

    status: int
    message: str
    kind: str = ""
    """Follows from the status when empty."""
    retry_after_seconds: float | None = None
    details: JsonObject | None = None
    """What a program is to read, such as an `error_code`."""

    def as_json(self, request_id: str | None) -> dict[str, Json]:
        """The body of the error, or the data of an error event."""
        error: dict[str, Json] = {"type": self.kind or KINDS.get(self.status, "api_error"), "message": self.message}
        if self.details is not None:
            error["details"] = dict(self.details)
        return {"type": "error", "error": error, "request_id": request_id}


def usual_error(status: int) -> ApiError:
    """The error with a status's usual words."""
    return ApiError(status, MESSAGES.get(status, "Internal server error"))


def invalid(message: str) -> ApiError:
    """A 400 with the given words."""
    return ApiError(400, message)
