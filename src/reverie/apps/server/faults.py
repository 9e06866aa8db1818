"""What a request can fail with: a status, a code for programs, a sentence for people, and further fields."""

from __future__ import annotations

from typing import Any


class RequestFault(Exception):
    """An answer other than success. Raised inside a transaction, it undoes the transaction."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: dict[str, str] | None = None, **fields: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.fields = fields

    @property
    def document(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": {"code": self.code, "message": self.message, **self.fields}}
