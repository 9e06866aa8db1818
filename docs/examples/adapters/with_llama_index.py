"""A memory block for LlamaIndex before OpenAI's own client; OPENAI_API_KEY and OPENAI_BASE_URL say who answers."""

import asyncio
import tempfile

import openai
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory as ChatMemory

from reverie import Memory
from reverie.adapters.llama_index import ReverieMemoryBlock


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        memory.save(
            name="No database mocks",
            type="feedback",
            description="Integration tests use a real database, never a mock",
            body="Integration tests use a real database; a mock hid a broken migration.",
        )
        # So small that old messages leave the chat history, and are learnt.
        chat = ChatMemory.from_defaults(
            session_id="talk-1",
            token_limit=60,
            token_flush_size=20,
            chat_history_token_ratio=0.3,
            memory_blocks=[ReverieMemoryBlock(memory)],
        )
        client = openai.AsyncOpenAI()
        for text in (
            "We deploy only on Tuesdays, never on Fridays.",
            "How do we test the database in integration tests?",
        ):
            await chat.aput(ChatMessage(role="user", content=text))
            messages = [{"role": each.role.value, "content": each.content or ""} for each in await chat.aget()]
            answer = await client.chat.completions.create(model="gpt-5.2", messages=messages)
            print(answer.choices[0].message.content)
            await chat.aput(ChatMessage(role="assistant", content=answer.choices[0].message.content))
        memory.wait_until_learnt(60)
        print("remembered:", ", ".join(topic.name for topic in memory.topics()))


asyncio.run(main())
