"""Prompts of memory: short, every placeholder filled, and what the code reads is what they ask for."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.memory.dream.check import REPLACED_BY, RETIRED
from reverie.memory.dream.model_dream import DreamSources, dream_fork
from reverie.memory.extraction.candidate import UserMessage
from reverie.memory.extraction.fork import extraction_fork
from reverie.memory.extraction.model_question import SCHEMA as LEARN_SCHEMA
from reverie.memory.extraction.model_question import prompt_for
from reverie.memory.prompt_files import PROMPTS, fill_prompt
from reverie.memory.search.document import Query
from reverie.memory.search.model_selection import SCHEMA as SELECTOR_SCHEMA
from reverie.memory.search.model_selection import ask_selector
from reverie.memory.topics.topic import parse_topic
from reverie.models.profiles import profile
from reverie.models.tokens.estimate import weigh_text
from reverie.models.tokens.rates import rates_for
from tests.requirements import requirement

NOW = datetime(2026, 3, 2, tzinfo=UTC)
MOST_TOKENS = {"dream": 850, "extraction": 800, "extraction_learn": 450, "select": 200}
"""Of the file as it stands, without what fills it; every turn with something to keep pays for one of them."""


def read(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def text_of(name: str) -> str:
    """A prompt as it is sent, placeholders left."""
    placeholders = re.findall(r"\{\{(\w+)\}\}", read(name))
    return fill_prompt(name, {each: f"{{{{{each}}}}}" for each in placeholders})


def prompts(tmp_path: Path) -> dict[str, str]:
    """Every prompt, filled by the code that sends it."""
    flow = ask_selector({}, Query("what?", NOW, tools=("Bash",)), embedded=())
    return {
        "dream": dream_fork(DreamSources(tmp_path), (), directory=tmp_path, today="2026-03-02").prompt,
        "extraction": extraction_fork(tmp_path, (), messages=3, written=("a.md",)).prompt,
        "extraction_learn": prompt_for([UserMessage("m1", "never push to main")], ""),
        "select": next(flow).prompt,
    }


@requirement("memory:prompts")
def test_every_prompt_is_listed_here() -> None:
    assert {path.stem for path in PROMPTS.glob("*.md")} == MOST_TOKENS.keys()


@requirement("memory:prompts")
@pytest.mark.parametrize("name", list(MOST_TOKENS))
def test_a_prompt_is_short(name: str) -> None:
    tokens = weigh_text(text_of(name), rates_for(profile("claude-sonnet-4-5")))
    assert tokens <= MOST_TOKENS[name]
    assert tokens > MOST_TOKENS[name] * 0.6, "lower the limit with the prompt"


@requirement("memory:prompts")
@pytest.mark.parametrize("name", list(MOST_TOKENS))
def test_every_placeholder_is_filled_and_named_on_top(name: str, tmp_path: Path) -> None:
    sent = prompts(tmp_path)[name]
    comment = re.match(r"<!--(.*?)-->", read(name), re.DOTALL)
    assert comment is not None
    listed = comment[1].partition("Placeholders:")[2]

    assert "{{" not in sent
    assert "<!--" not in sent
    assert set(re.findall(r"\w+", listed)) == set(re.findall(r"\{\{(\w+)\}\}", text_of(name)))


@requirement("memory:prompts")
def test_what_a_placeholder_holds_is_not_filled_again_and_none_may_be_missing(tmp_path: Path) -> None:
    sly = prompt_for([UserMessage("m1", "keep {{manifest}} as it is")], "a list")
    assert "keep {{manifest}} as it is" in sly
    with pytest.raises(KeyError):
        fill_prompt("select", {"limit": "5"})


@requirement("memory:prompts")
def test_every_field_of_a_reply_is_asked_for() -> None:
    learn: Any = LEARN_SCHEMA
    items = learn["properties"]["memories"]["items"]["properties"]
    told = set(re.findall(r"`(\w+)`", text_of("extraction_learn")))
    assert items.keys() == told - {"user", "feedback", "project", "reference"}
    schemas: dict[str, Any] = {"extraction_learn": learn, "select": SELECTOR_SCHEMA}
    for name, schema in schemas.items():
        (key,) = schema["required"]
        assert f'`{{"{key}": [' in text_of(name), "a model that is not held to the schema knows its form too"


@requirement("memory:prompts")
@pytest.mark.parametrize("name", ["dream", "extraction", "extraction_learn"])
def test_whoever_writes_memories_is_asked_when_they_matter(name: str) -> None:
    text = text_of(name)
    assert "`when`" in text or "`when:" in text
    assert "up to five" in text
    assert "other words than its own" in text
    assert "data" in text


@requirement("memory:prompts")
def test_the_example_of_extraction_is_a_topic_of_which_every_field_is_understood() -> None:
    example = re.search(r"```\n(---\n.*?)```", text_of("extraction"), re.DOTALL)
    assert example is not None
    topic = parse_topic("feedback_testing.md", example[1])
    assert (topic.type, topic.trust, topic.asks) == ("feedback", "said", ("write the monthly report",))
    assert topic.when is not None
    assert topic.sources[0].quote
    assert topic.extra == ()


@requirement("memory:prompts")
def test_a_dream_is_told_the_marks_that_the_check_reads(tmp_path: Path) -> None:
    sent = prompts(tmp_path)["dream"]
    for mark in (RETIRED, REPLACED_BY):
        assert f"`{mark}: " in sent
