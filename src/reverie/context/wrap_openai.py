"""`wrap` for clients of `openai`: chat completions and responses, sync and async.

The SDK has no middleware. What comes back is a client of a class made on the spot, a subclass of the client's own,
which changes the options of a request where the SDK lets subclasses do so: every way and every copy is covered.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from reverie.context.client_conversations import ClientConversations
from reverie.context.client_messages import to_plain
from reverie.context.openai_messages import ChatDialect, Dialect, ResponsesDialect, read_tools

Client = TypeVar("Client")

_MARK = "_reverie_wraps"
"""The attribute of a class made here that names the class it was made of."""
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_KEPT_ELSEWHERE = ("previous_response_id", "conversation")
"""Where one of these is given, the provider keeps the conversation: there is nothing to reduce."""


def is_openai_client(client: object) -> bool:
    """Whether this is a client of `openai`; without it nobody has one."""
    sdk = sys.modules.get("openai")
    return sdk is not None and isinstance(client, sdk.OpenAI | sdk.AsyncOpenAI)


def wrap_openai(client: Client, conversations: ClientConversations) -> Client:
    """The same client, whose conversations pass through these."""
    import openai

    base: type[Any] = getattr(type(client), _MARK, type(client))
    is_async = issubclass(base, openai.AsyncOpenAI)
    methods = _async_methods(base, conversations) if is_async else _sync_methods(base, conversations)
    wrapped = cast("Any", client).copy()
    wrapped.__class__ = type(base.__name__, (base,), {**methods, _MARK: base, "__module__": base.__module__})
    return cast("Client", wrapped)


def _sync_methods(base: type[Any], conversations: ClientConversations) -> dict[str, Any]:
    def prepare_options(self: Any, options: Any) -> Any:
        return prepare_request(base._prepare_options(self, options), conversations)

    return {"_prepare_options": prepare_options}


def _async_methods(base: type[Any], conversations: ClientConversations) -> dict[str, Any]:
    async def prepare_options(self: Any, options: Any) -> Any:
        options = await base._prepare_options(self, options)
        if conversations.has_memory:
            return await asyncio.to_thread(prepare_request, options, conversations)
        return prepare_request(options, conversations)

    return {"_prepare_options": prepare_options}


def prepare_request(options: Any, conversations: ClientConversations) -> Any:
    """The options of a request, its conversation as the window would send it; other requests as they are."""
    path = str(options.url).partition("?")[0].rstrip("/")
    body = options.json_data
    if str(options.method).lower() != "post" or not isinstance(body, Mapping):
        return options
    if path.endswith("/chat/completions") and body.get("messages"):
        new_body = _prepare_body(body, "messages", ChatDialect(), conversations)
    elif path.endswith("/responses") and body.get("input"):
        new_body = _prepare_body(body, "input", ResponsesDialect(), conversations)
    else:
        return options
    changed = options.model_copy()
    changed.json_data = new_body
    return changed


def _prepare_body(
    body: Mapping[str, Any], key: str, dialect: Dialect, conversations: ClientConversations
) -> dict[str, Any]:
    plain = {**body, key: to_plain(body[key]), "tools": to_plain(body.get("tools") or [])}
    conversation = dialect.read(plain)
    if any(body.get(kept) for kept in _KEPT_ELSEWHERE):
        return _recall_only(body, key, plain[key], dialect, conversations)
    limit = next((body[name] for name in _LIMITS if isinstance(body.get(name), int)), None)
    _, prepared, recalled = conversations.prepare(
        str(body.get("model", "")),
        conversation.messages,
        "\n\n".join(conversation.system),
        read_tools(plain["tools"]),
        max_tokens=limit,
    )
    return {**body, key: conversation.write(prepared.request.messages, recalled, dialect)}


def _recall_only(
    body: Mapping[str, Any], key: str, given: Any, dialect: Dialect, conversations: ClientConversations
) -> dict[str, Any]:
    """The new part of a conversation that the provider keeps, with what is remembered for it."""
    items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    last = items[-1] if items else {}
    content = last.get("content") if last.get("role") == "user" else None
    if not content or not conversations.has_memory:
        return dict(body)
    text = content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
    recalled = conversations.recall(text.strip())
    return {**body, key: dialect.append_text(items, recalled)} if recalled else dict(body)
