"""A LangChain agent that remembers, with a LangGraph store; OPENAI_API_KEY and OPENAI_BASE_URL say who answers."""

import tempfile

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from reverie import Memory
from reverie.adapters.langchain import MemoryMiddleware
from reverie.adapters.langgraph import ReverieStore

with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
    store = ReverieStore(memory)
    store.put(
        ("rules",),
        "tests",
        {
            "description": "Integration tests use a real database, never a mock",
            "content": "Integration tests use a real database; a mock hid a broken migration.",
        },
    )
    agent = create_agent(
        ChatOpenAI(model="gpt-5.2"),
        tools=[],
        middleware=[MemoryMiddleware(memory)],
        checkpointer=InMemorySaver(),
        store=store,
    )
    thread = {"configurable": {"thread_id": "talk-1"}}
    for text in ("How do we test the database in integration tests?", "We deploy only on Tuesdays, never on Fridays."):
        state = agent.invoke({"messages": [{"role": "user", "content": text}]}, thread)
        print(state["messages"][-1].text)
    memory.wait_until_learnt(60)
    print("found:", [item.key for item in store.search(("rules",), query="may I mock the database in a test?")])
    print("remembered:", ", ".join(topic.name for topic in memory.topics()))
