"""`wrap(client)`: a client of `anthropic` or `openai`, sync or async, whose conversations stay inside the window.

One changed line. What comes back is the client's own class with a part of ours in front, so every way in which it sends
a conversation (`create`, `stream`, `parse`, tool runners, raw and streaming responses, batches, copies of the client)
passes through a `Window`, and everything else of it is as it was. With a memory, what is remembered is put behind the
user's words, and learnt from them. No vendor SDK is imported before a request needs it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from reverie.context.client_conversations import ClientConversations, RemembersConversations
from reverie.context.client_messages import to_plain
from reverie.context.window import Window
from reverie.context.wrap_openai import is_openai_client, wrap_openai
from reverie.errors import UserMistake
from reverie.settings import Settings

Client = TypeVar("Client")

_THREADS = (
    "a client wrapped by reverie sends the whole conversation, so that its window can reduce it; message threads keep "
    "it at the provider: use `messages.create` or the tool runner, which goes on without a thread"
)


def wrap(
    client: Client,
    memory: RemembersConversations | None = None,
    *,
    settings: Settings | None = None,
    strategy: str = "default",
    directory: Path | str | None = None,
    window: int | None = None,
) -> Client:
    """The same client with a window in front of every conversation, and with a memory where one is given.

    With a `Memory` each message of the user is followed by what is remembered that matters for it, and what the user
    says is learnt by rules. A client that was wrapped before gets the new window instead of the old one.
    """

    def make(model: str) -> Window:
        return Window(model, settings, strategy, directory, window=window)

    make("")  # a wrong argument is told here and not by the first request
    conversations = ClientConversations(make, memory)
    if is_openai_client(client):
        return wrap_openai(client, conversations)
    copy, installed = getattr(client, "copy", None), getattr(client, "middleware", None)
    if not callable(copy) or not isinstance(installed, Sequence):
        raise UserMistake(
            f"wrap takes a client of `anthropic` 2.8 or newer or of `openai`, sync or async, not "
            f"{type(client).__name__}; with other clients call `Window.prepare` before each request and send what it "
            "gives"
        )
    is_async = inspect.iscoroutinefunction(getattr(client, "request", None))
    ours: _Middleware = _AsyncMiddleware(conversations) if is_async else _SyncMiddleware(conversations)
    return cast("Client", copy(middleware=[*(one for one in installed if not isinstance(one, _Middleware)), ours]))


class _Middleware:
    """What both kinds of clients share: which requests carry a conversation, and what is sent instead."""

    def __init__(self, conversations: ClientConversations) -> None:
        self._conversations = conversations

    def prepare(self, request: Any) -> tuple[Any, Window | None]:
        """The request to send, and the window to tell what came back; none where nothing comes back at once."""
        body = request.json
        path = str(request.url).partition("?")[0].rstrip("/")
        if str(request.method).lower() != "post" or not isinstance(body, Mapping):
            return request, None
        if path.endswith("/v1/messages/batches"):
            questions = [{**one, "params": self._prepare_body(one["params"])[1]} for one in body.get("requests") or ()]
            return request.copy(body={**body, "requests": questions}), None
        if not path.endswith("/v1/messages"):
            return request, None
        if body.get("thread"):
            _refuse_thread()
        window, prepared = self._prepare_body(body)
        return request.copy(body=prepared), window

    def _prepare_body(self, body: Mapping[str, Any]) -> tuple[Window, dict[str, Any]]:
        """A Messages API body as its window would send it, and that window."""
        window, prepared, _ = self._conversations.prepare(
            str(body.get("model", "")),
            body.get("messages") or (),
            body.get("system") or (),
            body.get("tools") or (),
            max_tokens=body.get("max_tokens"),
        )
        # The marks of the window stand for the client's automatic one, which would count as a further mark.
        passed_on = {
            key: value for key, value in body.items() if key not in ("messages", "system", "tools", "cache_control")
        }
        return window, passed_on | {
            key: prepared.body[key] for key in ("tools", "system", "messages") if key in prepared.body
        }


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
        if self._conversations.has_memory:
            request, window = await asyncio.to_thread(self.prepare, request)
        else:
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
