"""The conversations of one wrapped client: each with its window and, with a memory, what was recalled for it.

A client may hold several conversations at once; each is recognised by how it begins. What was recalled for a message
stays behind that message in every later request, so that each request extends the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Protocol

from reverie.context.client_messages import AnyMessage, AnySystem, AnyTool, to_plain
from reverie.context.window import PreparedRequest, Window
from reverie.messages.message import Message

CONVERSATIONS = 64
"""How many conversations of one client are remembered; the one longest unused is forgotten first."""


class RecallsForConversation(Protocol):
    """What a memory does for one conversation; `reverie.memory.conversation.ConversationMemory` is one."""

    def recall(self, text: str, context: str = "") -> str:
        """What to put behind a message of the user; empty for nothing."""

    def learn(self, text: str, reply_to: str = "") -> None:
        """Learn from a message of the user."""


class RemembersConversations(Protocol):
    """A memory, as far as wrapped clients need one; `reverie.Memory` is one."""

    def follow_conversation(self, session: str = "") -> RecallsForConversation:
        """The memory of a new conversation."""


class _ClientConversation:
    """One conversation: its window, and what was recalled for which message."""

    def __init__(self, window: Window, memory: RecallsForConversation | None) -> None:
        self.window = window
        self._memory = memory
        self.recalled: dict[int, str] = {}

    def knows(self, messages: Sequence[AnyMessage]) -> bool:
        """Whether these messages continue this conversation."""
        return self.window.knows(add_recalled(messages, self.recalled))

    def remember(self, messages: Sequence[AnyMessage]) -> None:
        """Recall for the newest message, once, and learn from it; nothing for tool results."""
        place = len(messages) - 1
        if self._memory is None or place < 0 or place in self.recalled:
            return
        text = _typed_text(messages[place])
        if text:
            before = _reply_text(messages[:place])
            self.recalled[place] = self._memory.recall(text, before)
            self._memory.learn(text, before)


class ClientConversations:
    """All conversations of one client, the newest last."""

    def __init__(self, make_window: Callable[[str], Window], memory: RemembersConversations | None = None) -> None:
        self._make_window = make_window
        self._memory = memory
        self._open: list[_ClientConversation] = []
        self._lock = Lock()

    @property
    def has_memory(self) -> bool:
        """Whether requests wait for a recall."""
        return self._memory is not None

    def prepare(
        self,
        model: str,
        messages: Sequence[AnyMessage],
        system: AnySystem = (),
        tools: Iterable[AnyTool] = (),
        *,
        max_tokens: int | None = None,
    ) -> tuple[Window, PreparedRequest, Mapping[int, str]]:
        """The window of a conversation, what it would send, and what was recalled behind which message."""
        with self._lock:
            conversation = self._find(model, messages)
            conversation.remember(messages)
            shown = add_recalled(messages, conversation.recalled)
            prepared = conversation.window.prepare(shown, system, tools, max_tokens=max_tokens)
        return conversation.window, prepared, dict(conversation.recalled)

    def recall(self, text: str) -> str:
        """What is remembered for a message whose conversation the provider keeps; also learns from it."""
        if self._memory is None or not text:
            return ""
        memory = self._memory.follow_conversation()
        memory.learn(text)
        return memory.recall(text)

    def _find(self, model: str, messages: Sequence[AnyMessage]) -> _ClientConversation:
        for conversation in reversed(self._open):
            if conversation.window.model == model and conversation.knows(messages):
                self._open.remove(conversation)
                break
        else:
            memory = None if self._memory is None else self._memory.follow_conversation()
            conversation = _ClientConversation(self._make_window(model), memory)
        self._open = [*self._open, conversation][-CONVERSATIONS:]
        return conversation


def add_recalled(messages: Sequence[AnyMessage], recalled: Mapping[int, str]) -> Sequence[AnyMessage]:
    """The messages, each followed by what was recalled for it."""
    if not any(recalled.values()):
        return messages
    return [
        _append_text(message, recalled[place]) if recalled.get(place) else message
        for place, message in enumerate(messages)
    ]


def _append_text(message: AnyMessage, text: str) -> AnyMessage:
    role, content = _role(message), _content(message)
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [*content]
    return {"role": role, "content": [*parts, {"type": "text", "text": text}]}


def _typed_text(message: AnyMessage) -> str:
    """The words of a message of the user; none where it brings results of tools."""
    if _role(message) != "user":
        return ""
    content = _content(message)
    if isinstance(content, str):
        return content.strip()
    blocks = [block if isinstance(block, Mapping) else to_plain(block) for block in content]
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()


def _reply_text(messages: Sequence[AnyMessage]) -> str:
    """What the model said last."""
    for message in reversed(messages):
        if _role(message) == "assistant":
            content = _content(message)
            if isinstance(content, str):
                return content
            blocks = (block if isinstance(block, Mapping) else to_plain(block) for block in content)
            return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    return ""


def _role(message: AnyMessage) -> str:
    if isinstance(message, Mapping):
        return str(message.get("role", ""))
    return str(message.role.value if isinstance(message, Message) else getattr(message, "role", ""))


def _content(message: AnyMessage) -> Any:
    if isinstance(message, Mapping):
        return message.get("content") or ""
    return getattr(message, "content", None) or ""
