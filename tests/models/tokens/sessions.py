"""Small views and entries for tests of counts and totals."""

from __future__ import annotations

from reverie.messages.blocks import Text, ToolResult, ToolUse
from reverie.messages.entries import AssistantEntry, Envelope, UserEntry
from reverie.messages.message import Message, Role, Usage, user

MODEL = "claude-sonnet-4-5"
WORDS = "The importer skips a damaged record and names the line. " * 20


class Session:
    """Entries that hang one under the other."""

    def __init__(self, model: str = MODEL) -> None:
        self.model = model
        self.entries: list[UserEntry | AssistantEntry] = []

    def envelope(self, *, sidechain: bool = False) -> Envelope:
        number = len(self.entries)
        parent = self.entries[-1].envelope.uuid if self.entries else None
        return Envelope(
            f"u{number}", parent, "s", f"2026-08-22T12:00:{number:02}.000Z", version="2.1.14", is_sidechain=sidechain
        )

    def says(self, text: str) -> Session:
        self.entries.append(UserEntry(self.envelope(), user(text)))
        return self

    def answers(
        self,
        *content: Text | ToolUse,
        usage: Usage | None,
        message_id: str = "",
        stop_reason: str | None = "end_turn",
        sidechain: bool = False,
    ) -> Session:
        envelope = self.envelope(sidechain=sidechain)
        message = Message(Role.ASSISTANT, content)
        number = len(self.entries)
        self.entries.append(
            AssistantEntry(
                envelope,
                message,
                message_id=message_id or f"msg{number}",
                model=self.model,
                stop_reason=stop_reason,
                usage=usage,
            )
        )
        return self

    def calls(self, tool_use_id: str, *, usage: Usage, message_id: str = "") -> Session:
        call = ToolUse(tool_use_id, "Bash", {"command": "ls"})
        return self.answers(call, usage=usage, message_id=message_id, stop_reason="tool_use")

    def returns(self, tool_use_id: str, text: str) -> Session:
        self.entries.append(UserEntry(self.envelope(), user(ToolResult(tool_use_id, text))))
        return self
