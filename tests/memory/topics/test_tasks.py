from __future__ import annotations

import pytest

from reverie.memory.topics.situations import KINDS, find_asked_tasks, tasks_spoken_of
from tests.requirements import requirement


@requirement("memory:when:matched")
@pytest.mark.parametrize(
    ("request_text", "kinds"),
    [
        ("fix the flaky importer test", {"debug", "test"}),
        ("please write a commit message", {"commit", "code"}),
        ("can you simplify this module?", {"refactor"}),
        ("it was simplified and renamed", {"refactor"}),
        ("deploying to prod", {"deploy"}),
        ("review my pull request", {"review"}),
        ("Optimising the query", {"performance", "database"}),
        ("重构这个函数", {"refactor", "code"}),
        ("我想部署到生产环境", {"deploy"}),
        ("テストを書いて", {"test"}),
        ("what is the weather like", set()),
        ("the latest contest results", set()),
    ],
)
def test_the_verbs_of_a_request_tell_the_kinds_of_task(request_text: str, kinds: set[str]) -> None:
    assert set(find_asked_tasks(request_text)) == kinds


def test_what_is_asked_is_found_before_and_after_a_long_paste() -> None:
    paste = "lorem ipsum " * 20_000

    assert (
        set(find_asked_tasks(f"review this: {paste}"))
        == set(find_asked_tasks(f"{paste} please review it"))
        == {"review"}
    )


def test_a_rule_is_about_fewer_kinds_than_its_words_would_ask_for() -> None:
    assert set(tasks_spoken_of("add no comments when you fix tests")) == {"document", "test"}


def test_every_kind_is_reached_by_a_word_of_its_own() -> None:
    for kind in KINDS:
        word = kind.asked.split()[0].replace("~", "").replace("-", " ")
        assert kind.name in find_asked_tasks(f"please {word} it"), kind.name
        assert all(kind.name in find_asked_tasks(word) for word in kind.unspaced.split())
