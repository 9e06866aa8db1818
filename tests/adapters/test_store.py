"""The LangGraph store, and what is said when a library is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.person import Person
from tests.requirements import requirement


@pytest.mark.program
@requirement("adapters:store")
async def test_a_store_gets_puts_searches_filters_and_removes(person: Person, tmp_path: Path) -> None:
    pytest.importorskip("langgraph")
    from reverie.adapters.langgraph import ReverieStore

    with person.open(person.repository(tmp_path / "project")) as memory:
        memory.save(name="Tabs", description="The user prefers tabs", type="user", body="Tabs, not spaces.")
        store = ReverieStore(memory)
        store.put(("rules", "ada"), "deploy", {"content": "Deploy on Tuesdays only.", "type": "feedback"})
        await store.aput(("facts",), "ports", {"web": 8080, "admin": 9090})

        deploy, ports = store.get(("rules", "ada"), "deploy"), await store.aget(("facts",), "ports")
        assert deploy is not None
        assert ports is not None
        assert deploy.value["content"] == "Deploy on Tuesdays only."
        assert ports.value == {"web": 8080, "admin": 9090}
        assert store.get(("rules",), "deploy") is None
        assert [item.key for item in store.search(("rules",), query="on which day do we deploy?")] == ["deploy"]
        assert [item.key for item in store.search((), filter={"web": 8080})] == ["ports"]
        assert {item.key for item in store.search(())} == {"Tabs", "deploy", "ports"}
        assert store.list_namespaces(prefix=("rules",)) == [("rules", "ada")]
        store.delete(("facts",), "ports")
        assert store.get(("facts",), "ports") is None
        assert [commit.change.author for commit in memory.log()][:3] == ["agent", "agent", "agent"]
        assert {topic.trust for topic in memory.topics() if topic.name != "Tabs"} == {"inferred"}


@requirement("adapters:missing")
def test_a_missing_library_is_named_with_its_extra() -> None:
    code = "import sys; sys.modules['llama_index'] = None; import reverie.adapters.llama_index"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "pip install 'reverie[llama-index]'" in ran.stderr
