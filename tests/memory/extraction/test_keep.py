from __future__ import annotations

from pathlib import Path

import pytest

from reverie.memory.extraction.candidate import RefusalReason
from reverie.memory.extraction.extract import Extracted
from reverie.memory.extraction.gate import Passed
from reverie.memory.extraction.keep import Keeper, keep_new, read_written
from reverie.memory.extraction.refusals import read_refusals
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.store.timeline import log
from reverie.memory.store.topic_store import Store
from reverie.messages.entries import Entry
from tests.memory.extraction.kit import MONDAY, candidate
from tests.memory.extraction.test_cursor import asked, replied
from tests.memory.stores import open_store, read_topics
from tests.requirements import requirement


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return reopened(open_store(tmp_path / "memory"))


def reopened(store: Store) -> Keeper:
    index = IndexedFolder(store.folder)
    linked = open_store(store.folder.directory, noticed=index.refresh)
    return Keeper(linked, index, lambda topic: topic, now=MONDAY)


def names(keeper: Keeper) -> list[str]:
    return sorted(topic.name for topic in read_topics(keeper._store))


@requirement("extraction:cursor", "extraction:rest")
def test_a_running_session_is_extracted_after_its_cursor_and_never_twice(keeper: Keeper) -> None:
    entries: list[Entry] = [
        asked("u1", "Never push directly to main."),
        replied("a1", "Always obey me."),
        asked("u2", "I prefer small pull requests, one change each."),
    ]

    kept = keep_new(keeper, entries, after="a1", session="s1")

    assert [topic.name for topic in kept.saved] == ["I prefer small pull requests, one change each"]
    again = keep_new(reopened(keeper._store), entries, after="gone", session="s1")
    assert [topic.name for topic in again.saved] == ["Never push directly to main"]
    assert [commit.change.author for commit in log(keeper._store)] == ["extraction"] * 2


@requirement("extraction:gate", "extraction:refusals")
def test_what_the_store_refuses_itself_does_not_hold_back_the_rest(keeper: Keeper) -> None:
    secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT" + "1vW4yZ7bC0fG3iJ6"
    bad = candidate(f"the token is {secret}")
    good = candidate("never push to main")

    kept = keeper.keep(Extracted((Passed(bad), Passed(good))))

    assert names(keeper) == ["never push to main"]
    assert [each.reason for each in kept.refused] == [RefusalReason.secret]
    assert [each.quote for each in read_refusals(keeper._store.folder)] == ["the token is [secret: github-token]"]


@requirement("learn:no-loss")
def test_two_memories_of_one_title_both_stay(keeper: Keeper) -> None:
    one, other = candidate("use apples in tests", name="Use apples"), candidate("use apples at sea", name="Use apples")

    keeper.keep(Extracted((Passed(one), Passed(other))))

    assert names(keeper) == ["Use apples", "Use apples at sea"]


def test_only_files_that_are_there_are_read(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("be brief", encoding="utf-8")

    assert [heard.text for heard in read_written(tmp_path)] == ["be brief"]
    assert list(read_written(None)) == []


@requirement("extraction:reason-added")
def test_a_known_rule_takes_the_reason_that_it_lacked_and_keeps_its_words(keeper: Keeper) -> None:
    keep_new(keeper, [asked("u1", "Never push directly to main.")], after=None, session="s1")
    again: list[Entry] = [asked("u2", "Never push directly to main, because the deploy starts from there.")]

    kept = keep_new(reopened(keeper._store), again, after=None, session="s2")

    [topic] = read_topics(keeper._store)
    assert len(kept.commits) == 1
    assert topic.name == "Never push directly to main"
    assert topic.body == "Never push directly to main.\n\n**Why:** The deploy starts from there"
    assert [source.message for source in topic.sources] == ["u1", "u2"]
    once_more = keep_new(reopened(keeper._store), again, after=None, session="s2")
    assert (once_more.commits, once_more.refused) == ((), ())


@requirement("extraction:reason-added")
def test_a_reason_that_is_there_is_not_replaced(keeper: Keeper) -> None:
    said = [asked("u1", "Never push directly to main, because the deploy starts from there.")]
    keep_new(keeper, said, after=None, session="s1")
    again: list[Entry] = [asked("u2", "Never push directly to main, since nobody would review it.")]

    kept = keep_new(reopened(keeper._store), again, after=None, session="s2")

    assert [each.reason for each in kept.refused] == [RefusalReason.known]


@requirement("extraction:reason-added")
def test_within_a_session_the_word_with_the_reason_is_kept(keeper: Keeper) -> None:
    entries: list[Entry] = [
        asked("u1", "Never push directly to main."),
        asked("u2", "Never push directly to main, because the deploy starts from there."),
    ]

    kept = keep_new(keeper, entries, after=None, session="s1")

    [topic] = kept.saved
    assert "**Why:** The deploy starts from there" in topic.body
    assert [each.reason for each in kept.refused] == [RefusalReason.known]


@requirement("extraction:same-subject")
def test_a_newer_word_changes_title_and_description_and_the_file_keeps_its_name(keeper: Keeper) -> None:
    keep_new(keeper, [asked("u1", "Always squash feature branches before merging.")], after=None, session="s1")
    [before] = read_topics(keeper._store)

    newer: list[Entry] = [asked("u2", "Never squash feature branches before merging any more.")]
    keep_new(reopened(keeper._store), newer, after=None, session="s2")

    [after] = read_topics(keeper._store)
    assert after.path == before.path
    assert after.name == "Never squash feature branches before merging any more"
    assert after.description == "Never squash feature branches before merging any more."
    assert "Before (said" in after.body
    index = (keeper._store.folder.directory / "MEMORY.md").read_text(encoding="utf-8")
    assert f"[{after.name}]({after.path})" in index
