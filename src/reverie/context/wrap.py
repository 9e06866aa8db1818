"""`wrap(client)`: an `anthropic` client, sync or async, whose conversations stay inside the window.

One changed line. What comes back is the client's own class with a middleware of ours, so every way in which it sends a
conversation (`create`, `stream`, `parse`, the tool runner, raw and streaming responses, batches, copies of the client)
passes through a `Window`, and everything else of it is as it was. A client may hold several conversations at once;
each is recognised by how it begins. No vendor SDK is imported before a request needs it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn, TypeVar, cast

from reverie.context.client_messages import to_plain
from reverie.context.window import Window
from reverie.errors import UserMistake
from reverie.settings import Settings

Client = TypeVar("Client")

CONVERSATIONS = 64
"""How many conversations of one client are remembered; the one longest unused is forgotten first."""
_THREADS = (
    "a client wrapped by reverie sends the whole conversation, so that its window can reduce it; message threads keep "
    "it at the provider: use `messages.create` or the tool runner, which goes on without a thread"
)


def wrap(
    client: Client,
    *,
    settings: Settings | None = None,
    strategy: str = "default",
    directory: Path | str | None = None,
    window: int | None = None,
) -> Client:
    """The same client with a window in front of every conversation.

    A client that was wrapped before gets the new window instead of the old one.
    """
    copy, installed = getattr(client, "copy", None), getattr(client, "middleware", None)
    if not callable(copy) or not isinstance(installed, Sequence):
        raise UserMistake(
            f"wrap takes a client of `anthropic` 2.8 or newer, sync or async, not {type(client).__name__}; with other "
            "clients call `Window.prepare` before each request and send what it gives"
        )

    def make(model: str) -> Window:
        return Window(model, settings, strategy, directory, window=window)

    make("")  # a wrong argument is told here and not by the first request
    windows = _Windows(make)
    is_async = inspect.iscoroutinefunction(getattr(client, "request", None))
    ours: _Middleware = _AsyncMiddleware(windows) if is_async else _SyncMiddleware(windows)
    return cast("Client", copy(middleware=[*(one for one in installed if not isinstance(one, _Middleware)), ours]))


class _Windows:
    """The conversations of one client, the newest last."""

    def __init__(self, make: Callable[[str], Window]) -> None:
        self._make = make
        self._open: list[Window] = []
        self._lock = Lock()

    def prepare(self, body: Mapping[str, Any]) -> tuple[Window, dict[str, Any]]:
        """A Messages API body as its window would send it, and that window."""
        messages = body.get("messages") or ()
        with self._lock:
            window = self._of(str(body.get("model", "")), messages)
            prepared = window.prepare(
                messages, body.get("system") or (), body.get("tools") or (), max_tokens=body.get("max_tokens")
            )
        # The marks of the window stand for the client's automatic one, which would count as a further mark.
        passed_on = {
            key: value for key, value in body.items() if key not in ("messages", "system", "tools", "cache_control")
        }
        return window, passed_on | {
            key: prepared.body[key] for key in ("tools", "system", "messages") if key in prepared.body
        }

    def _of(self, model: str, messages: Sequence[Any]) -> Window:
        window = next((one for one in reversed(self._open) if one.model == model and one.knows(messages)), None)
        if window is None:
            window = self._make(model)
        else:
            self._open.remove(window)
        self._open = [*self._open, window][-CONVERSATIONS:]
        return window


class _Middleware:
    """What both kinds of clients share: which requests carry a conversation, and what is sent instead."""

    def __init__(self, windows: _Windows) -> None:
        self._windows = windows

    def prepare(self, request: Any) -> tuple[Any, Window | None]:
        """The request to send, and the window to tell what came back; none where nothing comes back at once."""
        body = request.json
        path = str(request.url).partition("?")[0].rstrip("/")
        if str(request.method).lower() != "post" or not isinstance(body, Mapping):
            return request, None
        if path.endswith("/v1/messages/batches"):
            questions = [
                {**one, "params": self._windows.prepare(one["params"])[1]} for one in body.get("requests") or ()
            ]
            return request.copy(body={**body, "requests": questions}), None
        if not path.endswith("/v1/messages"):
            return request, None
        if body.get("thread"):
            _refuse_thread()
        window, prepared = self._windows.prepare(body)
        return request.copy(body=prepared), window


class _SyncMiddleware(_Middleware):
    def __call__(self, request: Any, call_next: Callable[[Any], Any]) -> Any:
        request, window = self.prepare(request)
        response = call_next(request)
        if window is None or not response.http_response.is_success:
            return response
        if request.stream:
            stream = response.parse()
            stream._iterator = _follow(stream._iterator, _Reported(window))
        elif response.http_response.is_closed:
            _Reported(window).tell(response.parse())
        return response


class _AsyncMiddleware(_Middleware):
    async def __call__(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        request, window = self.prepare(request)
        response = await call_next(request)
        if window is None or not response.http_response.is_success:
            return response
        if request.stream:
            stream = await response.parse()
            stream._iterator = _follow_async(stream._iterator, _Reported(window))
        elif response.http_response.is_closed:
            _Reported(window).tell(await response.parse())
        return response


class _Reported:
    """Collects what the provider reports of a request, and tells the window at the end.

    A body that the caller reads piece by piece (`with_streaming_response`) is left to the caller: the window then goes
    by its own estimate.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._usage: dict[str, Any] = {}

    def note(self, event: Any) -> None:
        """Take what an event of a stream says."""
        usage = getattr(getattr(event, "message", event), "usage", None)
        self._usage |= {key: value for key, value in (to_plain(usage) or {}).items() if value is not None}

    def tell(self, answer: Any = None) -> None:
        """Say it; an answer that is no message says nothing."""
        self.note(answer)
        if self._usage:
            self._window.observe(self._usage)


def _follow(events: Iterator[Any], reported: _Reported) -> Iterator[Any]:
    try:
        for event in events:
            reported.note(event)
            yield event
    finally:
        reported.tell()


async def _follow_async(events: AsyncIterator[Any], reported: _Reported) -> AsyncIterator[Any]:
    try:
        async for event in events:
            reported.note(event)
            yield event
    finally:
        reported.tell()


def _refuse_thread() -> NoReturn:
    """Refuse as a provider without threads does: the tool runner then goes on without one, `thread()` raises it."""
    import anthropic
    import httpx2

    details = {"error_code": "thread_unsupported_request", "unsupported": ["reverie.wrap"]}
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": _THREADS, "details": details}}
    request = httpx2.Request("POST", "https://threads.invalid")
    raise anthropic.BadRequestError(_THREADS, response=httpx2.Response(400, json=body, request=request), body=body)
