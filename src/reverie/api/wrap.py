"""`wrap(client)`: an `anthropic` client, sync or async, whose conversations stay inside the window.

One changed line: every `messages.create` and `messages.stream` of the wrapped client first passes through a `Window`. A
client may hold several conversations at once; each is recognised by how it begins. Everything else of the client is
passed through untouched, and no vendor SDK is imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from reverie.api.window import Window
from reverie.settings import Settings

Client = TypeVar("Client")

CONVERSATIONS = 64
"""How many conversations of one client are remembered; the one longest unused is forgotten first."""


def wrap(
    client: Client,
    *,
    settings: Settings | None = None,
    strategy: str = "default",
    directory: Path | str | None = None,
    window: int | None = None,
) -> Client:
    """The same client with a window in front of every conversation."""

    def make(model: str) -> Window:
        return Window(model, settings, strategy, directory, window=window)

    return cast("Client", _Wrapped(client, _Windows(make)))


class _Windows:
    """The conversations of one client, the newest last."""

    def __init__(self, make: Callable[[str], Window]) -> None:
        self._make = make
        self._open: list[Window] = []

    def of(self, model: str, messages: Sequence[Any]) -> Window:
        found = next((one for one in reversed(self._open) if one.model == model and one.knows(messages)), None)
        if found is None:
            found = self._make(model)
        else:
            self._open.remove(found)
        self._open = [*self._open, found][-CONVERSATIONS:]
        return found


class _Wrapped:
    """Stands for a client, or for its `beta`; only `messages` is another one."""

    def __init__(self, inner: object, windows: _Windows) -> None:
        self._inner = inner
        self._windows = windows

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "messages":
            return _Messages(found, self._windows)
        if name == "beta" or name == "with_options":
            return self._again(found)
        return found

    def _again(self, found: Any) -> Any:
        if callable(found):
            return lambda *args, **more: _Wrapped(found(*args, **more), self._windows)
        return _Wrapped(found, self._windows)


class _Messages:
    """The `messages` of a client, with a window before `create` and `stream`."""

    def __init__(self, inner: Any, windows: _Windows) -> None:
        self._inner = inner
        self._windows = windows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create(self, **arguments: Any) -> Any:
        """Send the prepared request; what comes back is what the client gives."""
        window, ready = self._prepared(arguments)
        answer = self._inner.create(**ready)
        if inspect.isawaitable(answer):
            return _observed_later(window, answer)
        return _observed(window, answer)

    def stream(self, **arguments: Any) -> Any:
        """Open a stream of the prepared request."""
        window, ready = self._prepared(arguments)
        return _Stream(self._inner.stream(**ready), window)

    def _prepared(self, arguments: dict[str, Any]) -> tuple[Window, dict[str, Any]]:
        messages = arguments.get("messages", ())
        window = self._windows.of(str(arguments.get("model", "")), messages)
        made = window.prepare(
            messages,
            arguments.get("system") or (),
            [dict(tool) for tool in arguments.get("tools") or ()],
            max_tokens=arguments.get("max_tokens"),
        )
        ready = {**arguments, "messages": made.body["messages"]}
        for key in ("system", "tools"):
            if key in made.body:
                ready[key] = made.body[key]
        return window, ready


class _Stream:
    """A stream manager that tells the window what the provider reported when it closes."""

    def __init__(self, inner: Any, window: Window) -> None:
        self._inner = inner
        self._window = window
        self._open: Any = None

    def __enter__(self) -> Any:
        self._open = self._inner.__enter__()
        return self._open

    def __exit__(self, *problem: object) -> Any:
        self._tell()
        return self._inner.__exit__(*problem)

    async def __aenter__(self) -> Any:
        self._open = await self._inner.__aenter__()
        return self._open

    async def __aexit__(self, *problem: object) -> Any:
        self._tell()
        return await self._inner.__aexit__(*problem)

    def _tell(self) -> None:
        try:
            snapshot = self._open.current_message_snapshot
        except (AttributeError, AssertionError):
            # Nothing arrived, so there is nothing to learn from.
            return
        _observed(self._window, snapshot)


def _observed(window: Window, answer: Any) -> Any:
    usage = getattr(answer, "usage", None)
    if usage is not None:
        window.observe(_as_mapping(usage))
    return answer


async def _observed_later(window: Window, answer: Any) -> Any:
    return _observed(window, await answer)


def _as_mapping(usage: Any) -> Mapping[str, Any]:
    if isinstance(usage, Mapping):
        return usage
    dump = getattr(usage, "model_dump", None)
    return cast("Mapping[str, Any]", dump()) if dump is not None else vars(usage)
