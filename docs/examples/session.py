"""An agent that remembers, from Python.

Run it with `python docs/examples/session.py [MODEL]`. Without a key the model is `offline`: it cannot talk, but
everything that needs no model works, and what you say that lasts is remembered.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile

from reverie import Session
from reverie.permissions.approval import Approval, Question
from reverie.session.events import Notice, ToolEnded, TurnEnded


class Careful:
    """Answers what the rules leave open: reading is fine, everything else is not."""

    async def approve(self, question: Question) -> Approval:
        print("asked:", question.need.summary, "-", question.reason)
        return Approval(question.need.act == "read", message="this is only an example")


async def main(model: str) -> None:
    with tempfile.TemporaryDirectory() as project:
        async with Session.start(project, model=model, approver=Careful()) as session:
            session.listen(lambda event: print("·", event.text) if isinstance(event, Notice) else None)
            async for event in session.send("Remember: never mock the database in integration tests."):
                match event:
                    case ToolEnded():
                        print("tool", event.name, "failed" if event.is_error else "done")
                    case TurnEnded():
                        print(event.ending, "-", event.text)
                    case _:
                        pass
        for topic in session.memory.topics():
            print("remembered:", topic.name)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "offline"))
