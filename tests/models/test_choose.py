"""A name becomes a model."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from reverie.errors import UserMistake
from reverie.models.anthropic import AnthropicModel
from reverie.models.choose import Access, choose
from reverie.models.connection import Timeouts
from reverie.models.offline import OfflineModel
from reverie.models.openai import OpenAIModel
from reverie.models.retry import Retries
from tests.requirements import requirement

LOCAL = "http://localhost:8080"


@requirement("models:choose:names")
@pytest.mark.parametrize(
    ("name", "access", "kind", "spelt", "url"),
    [
        ("offline", Access(), OfflineModel, "offline", None),
        ("claude-sonnet-4-5", Access(), AnthropicModel, "claude-sonnet-4-5", "https://api.anthropic.com"),
        ("claude-sonnet-4-5[1m]", Access(), AnthropicModel, "claude-sonnet-4-5[1m]", "https://api.anthropic.com"),
        ("sonnet", Access(), AnthropicModel, "claude-sonnet-5-5", "https://api.anthropic.com"),
        ("anthropic/their-own", Access(anthropic_url=LOCAL), AnthropicModel, "their-own", LOCAL),
        ("openai/gpt-9", Access(), OpenAIModel, "gpt-9", "https://api.openai.com/v1"),
        ("openai/org/model", Access(openai_url=LOCAL), OpenAIModel, "org/model", LOCAL),
        ("ollama/qwen3:4b", Access(), OpenAIModel, "qwen3:4b", "http://localhost:11434/v1"),
        ("qwen3", Access(openai_url=LOCAL), OpenAIModel, "qwen3", LOCAL),
        ("org/claude-like", Access(openai_url=LOCAL), OpenAIModel, "org/claude-like", LOCAL),
        ("gpt-9", Access(openai_key="k"), OpenAIModel, "gpt-9", "https://api.openai.com/v1"),
    ],
)
def test_a_name_leads_to_whom_it_means(name: str, access: Access, kind: type, spelt: str, url: str | None) -> None:
    model = choose(name, access)

    assert type(model) is kind
    assert model.name == spelt
    assert getattr(model, "base_url", None) == url


@requirement("models:choose:names")
@pytest.mark.parametrize("name", ["qwen3", "", "nobody/knows", "openai/"])
def test_a_name_that_nobody_serves_is_the_users_mistake(name: str) -> None:
    with pytest.raises(UserMistake, match="offline"):
        choose(name, Access())


@requirement("models:choose:names")
@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host", "http://", "http://host:port", "http://me:s3cret@:1"])
def test_an_address_that_is_none_is_the_users_mistake(url: str) -> None:
    for access in (Access(openai_url=url), Access(anthropic_url=url)):
        with pytest.raises(UserMistake, match="not a server address") as caught:
            choose("opus" if access.anthropic_url else "local", access)
        assert "s3cret" not in str(caught.value)


@requirement("models:choose:names")
def test_patience_is_handed_on() -> None:
    access = Access(timeouts=Timeouts(idle_seconds=1), retries=Retries(attempts=9), openai_url=LOCAL)
    for name in ("opus", "local"):
        model = choose(name, access)
        assert isinstance(model, AnthropicModel | OpenAIModel)
        assert (model.timeouts.idle_seconds, model.retries.attempts) == (1, 9)


@requirement("models:errors:no-key")
def test_keys_are_not_shown() -> None:
    access = Access(anthropic_key="s3cret-a", anthropic_token="s3cret-b", openai_key="s3cret-c")

    assert "s3cret" not in repr(access)
    assert "s3cret" not in repr(choose("opus", access))


@requirement("models:import:lazy")
def test_choosing_and_answering_offline_import_no_vendor_sdk() -> None:
    program = """
        import asyncio, sys
        from reverie.models.choose import Access, choose
        from reverie.models.ports import Request
        from reverie.messages.message import user

        async def ask():
            async for event in choose("offline", Access()).stream(Request("offline", (user("hi"),))):
                pass

        asyncio.run(ask())
        choose("opus", Access())
        choose("openai/x", Access())
        print(sorted({"anthropic", "openai", "httpx2", "httpx", "pydantic"} & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "[]"
