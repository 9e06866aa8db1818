from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.memory.memory import Memory
from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex
from reverie.memory.search.rank import THRESHOLDS
from tests.requirements import requirement


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    made = Memory(tmp_path)
    for kind, name, description in [
        ("feedback", "No database mocks", "Integration tests use a real database; a mock hid a broken migration"),
        ("project", "Tidewater dates", "Tidewater Credit Union writes the day first"),
        ("reference", "Where bank formats are", "Formats of all banks are described in the team wiki"),
    ]:
        made.save(name=name, type=kind, description=description, body=description)
    return made


@requirement("search:abstain:named")
def test_a_proper_name_that_a_memory_is_named_by_finds_it(memory: Memory) -> None:
    hit = memory.recall("Why did a Tidewater booking land in March?")[0]

    assert hit.topic.name == "Tidewater dates"


@requirement("search:abstain:named")
def test_a_proper_name_outranks_a_word_that_only_looks_like_one_of_the_query(memory: Memory) -> None:
    about_user = "Works mostly in notebooks, knows pandas well"
    memory.save(name="User is a data scientist", type="user", description=about_user, body=about_user)

    assert memory.recall("Why did a Tidewater booking land in March?")[0].topic.name == "Tidewater dates"


@requirement("search:abstain:unrelated")
@pytest.mark.parametrize(
    "request_text",
    ["Recommend a novel for the train ride.", "Please rename the variable", "thanks, that is all for now"],
)
def test_a_request_that_no_memory_is_about_finds_none(memory: Memory, request_text: str) -> None:
    assert [hit for hit in memory.recall(request_text) if hit.shown == "whole"] == []


@requirement("search:abstain:few")
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which server reboots at night?", "Otto"),
        ("Where do I live?", "Home"),
        ("When does the ferry leave?", "Ferry"),
    ],
)
def test_a_handful_of_memories_answers_by_most_of_the_words(memory: Memory, question: str, name: str) -> None:
    for kind, named, description in [
        ("reference", "Otto", "The staging server reboots at 03:00"),
        ("user", "Home", "The user lives in Utrecht and cycles to work"),
        ("reference", "Ferry", "The ferry leaves from pier 4 every hour"),
    ]:
        memory.save(name=named, type=kind, description=description, body=description)

    assert memory.recall(question)[0].topic.name == name


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    made = SearchIndex(tmp_path / "index.sqlite")
    made.update(
        SearchDocument(key=name, name=name, body=body)
        for name, body in [
            ("Tidewater dates", "Tidewater Credit Union writes the day first"),
            ("Tidewater charges", "Tidewater Credit Union takes a fee in March"),
            ("Calendar", "The team writes holidays of the first half year into the wiki"),
            ("Where bank formats are", "Formats of all banks are described in the team wiki"),
        ]
    )
    return made


def _found(index: SearchIndex, text: str, *, abstains: bool) -> dict[str, float]:
    return {
        hit.key: hit.score for hit in index.search(Query(text, datetime(2026, 1, 1, tzinfo=UTC), abstains=abstains))
    }


@requirement("search:abstain:runners-up")
def test_what_would_not_answer_by_itself_does_not_come_along_with_an_answer(index: SearchIndex) -> None:
    text = "How does Tidewater write its dates?"
    every = _found(index, text, abstains=False)

    assert every["Calendar"] < THRESHOLDS["words"]["plain"][0]
    assert _found(index, text, abstains=True) == {key: score for key, score in every.items() if key != "Calendar"}


@requirement("search:abstain:runners-up")
def test_a_second_memory_about_the_matter_comes_along(index: SearchIndex) -> None:
    found = _found(index, "How does Tidewater write its dates?", abstains=True)

    assert list(found) == ["Tidewater dates", "Tidewater charges"]


@requirement("search:abstain:context")
def test_words_of_the_reply_before_bring_in_nothing_by_themselves(index: SearchIndex) -> None:
    text = "How does Tidewater write its dates?"
    alone = _found(index, text, abstains=True)
    after_talk = index.search(
        Query(
            text, datetime(2026, 1, 1, tzinfo=UTC), context="The calendar of the office shows holidays.", abstains=True
        )
    )

    assert {hit.key for hit in after_talk} == set(alone)
    assert all("calendar" not in words for hit in after_talk for words in hit.why.words.values())
