"""An agent of Pydantic AI that remembers; OPENAI_API_KEY and OPENAI_BASE_URL say who answers."""

import asyncio
import tempfile

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory

from reverie import Memory
from reverie.adapters.pydantic_ai import MemoryProcessor


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.save(
            name="No database mocks",
            type="feedback",
            description="Integration tests use a real database, never a mock",
            body="Integration tests use a real database; a mock hid a broken migration.",
        )
        agent = Agent("openai-chat:gpt-5.2", capabilities=[ProcessHistory(MemoryProcessor(memory))])
        first = await agent.run("How do we test the database in integration tests?")
        print(first.output)
        second = await agent.run("We deploy only on Tuesdays, never on Fridays.", message_history=first.all_messages())
        print(second.output)
        memory.wait_until_learnt(60)
        print("remembered:", ", ".join(topic.name for topic in memory.topics()))


asyncio.run(main())
