"""What we promise of adapters for other people's libraries."""

from __future__ import annotations

from tests.promises import Requirement

PROMISES = {
    "adapters:examples": Requirement(
        "With the real OpenAI Agents SDK, Pydantic AI, LangChain, LlamaIndex and Claude Agent SDK a memory reaches the "
        "request, once, and what the user says is learnt; the examples in the documents run."
    ),
    "adapters:store": Requirement(
        "A LangGraph store over a memory gets, puts, searches, filters and removes; every change has a history."
    ),
    "adapters:missing": Requirement("An adapter whose library is not installed names the extra."),
}
