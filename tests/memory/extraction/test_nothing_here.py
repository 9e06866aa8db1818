from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.extraction.find import find_candidates
from reverie.memory.extraction.nothing_here import holds_nothing
from tests.memory.extraction.kit import said
from tests.memory.extraction.test_find import WORDS
from tests.requirements import requirement


@requirement("extraction:nothing-here")
@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "ok, great. continue",
        "好的，谢谢",
        "続けてください",
        "run the tests again",
        "<system-reminder>always do this</system-reminder>",
        "```\nnever\n```",
        "[Request interrupted by user]",
        "what does foo() return",
        "fix the login bug",
        "merci beaucoup",
        "спасибо",
        "감사합니다",
        "跑一下测试",
    ],
)
def test_turns_that_hold_nothing_cost_nothing(text: str) -> None:
    assert holds_nothing([said(text)])


@requirement("extraction:nothing-here")
def test_one_message_that_may_hold_something_is_enough() -> None:
    assert not holds_nothing([said("thanks!"), said("the launch moved to June"), said("ok")])


@requirement("extraction:nothing-here")
@given(st.lists(WORDS, max_size=20).map(" ".join))
def test_what_the_rules_would_find_is_never_filtered_away(text: str) -> None:
    if find_candidates(said(text)):
        assert not holds_nothing([said(text)])


@requirement("extraction:nothing-here")
@pytest.mark.parametrize(
    "text",
    [
        "utilise des espaces",
        "Используй пробелы",
        "Usa tabulaciones",
        "탭 대신 스페이스를 써",
        "Prefiro respostas curtas",
        "κάθε commit μικρό",
        "استخدم المسافات",
        "Nutze Leerzeichen",
        "テストは小さく",
        "the launch moved to June",
        "나는 백엔드 개발자야",
        "हमेशा टेस्ट पहले लिखो",
        "Nie używaj emoji w commitach",
        "ใช้ภาษาไทยในการตอบ",
        "Luôn viết test trước",
        "Testleri önce çalıştır",
        "add tests siempre primero",
        "run pehle lint phir test",
        "debug zonder print statements",
        "please push nunca a main",
    ],
)
def test_what_is_not_understood_goes_to_the_model(text: str) -> None:
    assert not holds_nothing([said(text)])


@requirement("extraction:nothing-here")
@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "yes",
        "perfect, exactly like that",
        "genau so",
        "oui, parfait",
        "对，就是这样",
        "thanks, perfect",
        "no",
        "sure, go on",
    ],
)
@pytest.mark.parametrize(
    "reply",
    [
        "I put all of it into one pull request instead of splitting it.",
        "Should the rest go into the same branch?",
        "Habe alles in einen PR gepackt und nicht geteilt.",
        "Fixed by deleting the cache layer.",
        "Updated the config and removed the retries entirely.",
    ],
)
def test_approval_of_an_unusual_step_goes_to_the_model(text: str, reply: str) -> None:
    assert not holds_nothing([replace(said(text), reply_to=reply)])
    assert holds_nothing([replace(said(text), reply_to="Done. All tests pass.")])
