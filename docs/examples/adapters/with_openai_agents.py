"""An agent of the OpenAI Agents SDK that remembers; OPENAI_API_KEY and OPENAI_BASE_URL say who answers."""

import asyncio
import tempfile

from agents import Agent, Runner, set_tracing_disabled
from reverie import Memory
from reverie.adapters.openai_agents import ReverieSession


async def main() -> None:
    set_tracing_disabled(True)
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.save(
            name="No database mocks",
            type="feedback",
            description="Integration tests use a real database, never a mock",
            body="Integration tests use a real database; a mock hid a broken migration.",
        )
        agent = Agent(name="Helper", instructions="Answer briefly.", model="gpt-5.2")
        session = ReverieSession("talk-1", memory)
        for text in (
            "How do we test the database in integration tests?",
            "We deploy only on Tuesdays, never on Fridays.",
        ):
            result = await Runner.run(agent, text, session=session, run_config=session.run_config())
            print(result.final_output)
        memory.wait_until_learnt(60)
        print("remembered:", ", ".join(topic.name for topic in memory.topics()))


asyncio.run(main())
