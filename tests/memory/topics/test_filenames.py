from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.filenames import MAX_STEM_BYTES, file_name, path_key
from tests.requirements import requirement


@requirement("memory:filenames:portable")
@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("feedback", "No database mocks", "feedback_no_database_mocks.md"),
        ("feedback", "Feedback: tests", "feedback_tests.md"),
        ("user", "Müller's Rôle!", "user_muller_s_role.md"),
        ("project", "数据库 迁移", "project_数据库_迁移.md"),
        ("reference", "ガイド", "reference_ガイド.md"),
        (None, "Plain name", "plain_name.md"),
        (None, "MEMORY", "memory_topic.md"),
        (None, "CON", "con_topic.md"),
        ("user", "../../etc/passwd", "user_etc_passwd.md"),
    ],
)
def test_a_name_becomes_a_readable_file_name(kind: str | None, name: str, expected: str) -> None:
    assert file_name(kind, name) == expected


def test_a_name_without_letters_gets_a_stable_one() -> None:
    assert re.fullmatch(r"user_topic_[0-9a-f]{8}\.md", file_name("user", "🎉!"))
    assert file_name("user", "🎉!") == file_name("user", "🎉!") != file_name("user", "🎊!")


@requirement("memory:filenames:portable")
def test_a_name_that_is_taken_on_any_file_system_gets_a_number() -> None:
    taken = {path_key("FEEDBACK_Tests.md"), path_key("feedback_tests_2.md")}

    assert file_name("feedback", "tests", taken) == "feedback_tests_3.md"


@requirement("memory:filenames:portable")
@given(st.text(max_size=300), st.sampled_from(["user", "feedback", None]))
def test_every_name_gives_a_legal_file_name(name: str, kind: str | None) -> None:
    found = file_name(kind, name)

    stem = found.removesuffix(".md")
    assert found.endswith(".md")
    assert 0 < len(stem.encode()) <= MAX_STEM_BYTES + len("_topic")
    assert found == unicodedata.normalize("NFC", found)
    assert not re.search(r'[\s/\\:*?"<>|\x00-\x1f.]', stem)
    assert not stem.startswith(("_", "-"))
    assert path_key(found) != path_key("MEMORY.md")


@requirement("memory:filenames:portable")
@given(st.lists(st.text(max_size=20), max_size=8))
def test_no_two_files_are_one_on_any_file_system(names: list[str]) -> None:
    taken: set[str] = set()
    for name in names:
        found = file_name("user", name, taken)
        assert path_key(found) not in taken
        taken |= {path_key(form) for form in (found, found.upper(), unicodedata.normalize("NFD", found))}
        assert len({path_key(found), path_key(found.upper()), path_key(unicodedata.normalize("NFD", found))}) == 1


@given(st.text())
def test_the_key_of_a_path_is_its_own_key(path: str) -> None:
    key = path_key(path)

    assert path_key(key) == key
    assert path_key(unicodedata.normalize("NFD", path)) == path_key(unicodedata.normalize("NFC", path)) == key
