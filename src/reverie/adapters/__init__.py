"""Other people's libraries: each adapter is one file that puts a `Memory` where the library has a place for one.

`openai_agents` (a session), `pydantic_ai` (a history processor), `langchain` (a middleware), `langgraph` (a store),
`llama_index` (a memory block), `claude_agent` (hooks). Each imports its library and needs the extra of the same name.
All of them recall for the newest message of the user, once, and learn from it (`recall_once`).
"""

from __future__ import annotations

import re
from typing import NoReturn

from reverie.errors import Unavailable
from reverie.memory.memory import Memory

OPENING = "<system-reminder>"
"""How recalled text begins; a message that has it was looked at already."""
_SHOWN = re.compile(r"^Memory \([^)]*\): (/.+\.md):$", re.MULTILINE)


def refuse_missing(library: str, extra: str, problem: ImportError) -> NoReturn:
    """Say which extra brings a library that is not installed."""
    raise Unavailable(
        f"this adapter requires {library} ({problem.name} is not installed); run `pip install 'reverie[{extra}]'`"
    ) from problem


def recall_once(memory: Memory, text: str, *, history: str = "", reply_to: str = "", session: str = "") -> str:
    """What is remembered that matters for a message, to be put behind it; also learns from the message.

    Memories that stand in the history already are left out.
    """
    if not text.strip():
        return ""
    conversation = memory.follow_conversation(session, shown=_SHOWN.findall(history))
    conversation.learn(text, reply_to)
    return conversation.recall(text, reply_to)
