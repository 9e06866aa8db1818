"""The Claude Agent SDK with a memory; ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL say who answers."""

import asyncio
import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from reverie import Memory
from reverie.adapters.claude_agent import memory_hooks


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as project, Memory(folder) as memory:
        memory.save(
            name="No database mocks",
            type="feedback",
            description="Integration tests use a real database, never a mock",
            body="Integration tests use a real database; a mock hid a broken migration.",
        )
        options = ClaudeAgentOptions(hooks=memory_hooks(memory), cwd=project, max_turns=2)
        prompt = "How do we test the database in integration tests? We deploy only on Tuesdays, never on Fridays."
        async for message in query(prompt=prompt, options=options):
            if isinstance(message, ResultMessage):
                print(message.result)
        memory.wait_until_learnt(60)
        print("remembered:", ", ".join(topic.name for topic in memory.topics()))


asyncio.run(main())
