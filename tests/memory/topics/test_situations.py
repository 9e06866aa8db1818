from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.situations import KINDS, Situation, When, derive_when, matches, parse_when
from reverie.memory.topics.topic import MemoryType
from tests.memory.topic_strategies import whens
from tests.requirements import requirement


@requirement("memory:when:matched")
@pytest.mark.parametrize(
    ("when", "situation", "reason"),
    [
        (When(always=True), Situation(), "it holds always"),
        (When(files=("*.py",)), Situation(files=("a.md", "src/b.py")), "src/b.py matches *.py"),
        (When(tools=("Bash",)), Situation(tools=("bash",)), "Bash is in use"),
        (When(tasks=("test",)), Situation(request="the importer tests fail"), "the request is about test (tests)"),
        (
            When(words=("release notes",)),
            Situation(request="Draft the Release Notes"),
            "the request says 'release notes'",
        ),
        (When(words=("发布说明",)), Situation(request="请写发布说明"), "the request says '发布说明'"),
    ],
)
def test_one_condition_that_holds_is_enough_and_says_why(when: When, situation: Situation, reason: str) -> None:
    assert [why for _, why in matches(when, situation)] == [reason]


@requirement("memory:when:matched")
@pytest.mark.parametrize(
    "when",
    [
        When(),
        When(files=("*.ts",)),
        When(tools=("docker",)),
        When(tasks=("deploy",)),
        When(words=("import", " ")),
    ],
)
def test_conditions_that_do_not_hold_give_no_reason(when: When) -> None:
    situation = Situation("fix the importer test", files=("src/a.py",), tools=("Bash", "git"))

    assert matches(when, situation) == ()


@requirement("memory:when:derived")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("Commit messages are in the imperative mood", When(tasks=("commit",))),
        ("Use pnpm, never npm", When(tools=("pnpm", "npm"))),
        ("In `*.tsx` use named exports only", When(files=("*.tsx",))),
        ("Everything under src/generated/** is off limits", When(files=("src/generated/**",))),
        ("When writing SQL, always use CTEs", When(files=("*.sql",), tasks=("database",))),
        ("Never mock in tests", When(tasks=("test",))),
        ("Use the `Edit` tool rather than sed", When(tools=("Edit", "sed"))),
        ("Keep answers short, no emojis", When(always=True)),
        ("Always ask before deleting files", When(always=True)),
        ("不要在测试中使用桩", When(tasks=("test",))),
        ("提交信息用英文", When(tasks=("commit",))),
        ("回答要简洁", When(always=True)),
        ("每次都先确认再删除", When(always=True)),
        ("The sky is blue", None),
    ],
)
def test_a_rule_says_when_it_holds(rule: str, expected: When | None) -> None:
    assert derive_when(rule, "", "", MemoryType.feedback) == expected


@requirement("memory:when:derived")
def test_the_reason_given_for_a_rule_is_not_a_situation() -> None:
    body = "Always ask first.\n\n**Why:** a deploy once broke the database migration."

    assert derive_when("Ask first", "", body, MemoryType.feedback) == When(always=True)


@requirement("memory:when:derived")
def test_only_rules_get_a_situation() -> None:
    assert derive_when("Tests", "always run tests", "", MemoryType.project) is None
    assert derive_when("Tests", "always run tests", "", None) is None
    assert derive_when("Role", "ten years of Go", "", MemoryType.user) is None
    assert derive_when("Style", "prefers short answers", "", MemoryType.user) == When(always=True)


@given(whens, st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3).map(tuple))
def test_a_rule_that_holds_always_applies_in_any_situation(when: When, request: str, names: tuple[str, ...]) -> None:
    found = matches(when, Situation(request, files=names, tools=names))

    assert bool(found) >= when.always
    if not (when.always or when.files or when.tools or when.tasks or when.words):
        assert found == ()


@given(st.text(max_size=200), st.sampled_from([*MemoryType, None]))
def test_anything_can_be_asked_for_its_situations(text: str, kind: MemoryType | None) -> None:
    when = derive_when(text, "", "", kind)

    assert when is None or when != When()


@requirement("memory:when:sorted")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("always", When(always=True)),
        ("Always", When(always=True)),
        ("*.sql", When(files=("*.sql",))),
        ("src/generated/**", When(files=("src/generated/**",))),
        ("My notes/*.md", When(files=("My notes/*.md",))),
        ("docs/", When(files=("docs/",))),
        ("pyproject.toml", When(files=("pyproject.toml",))),
        (".env", When(files=(".env",))),
        ("Makefile", When(files=("Makefile",))),
        ("git", When(tools=("git",))),
        ("make", When(tools=("make",))),
        ("WebFetch", When(tools=("WebFetch",))),
        ("mcp__tracker__list", When(tools=("mcp__tracker__list",))),
        ("commit", When(tasks=("commit",))),
        ("Deploying", When(tasks=("deploy",))),
        ("tests", When(tasks=("test",))),
        ("release notes", When(words=("release notes",))),
        ("git push", When(words=("git push",))),
        ("version 1.2", When(words=("version 1.2",))),
        ("https://kiwi.example/board", When(words=("https://kiwi.example/board",))),
        ("发布说明", When(words=("发布说明",))),
        ("tool:psql", When(tools=("psql",))),
        ("file:LICENSE", When(files=("LICENSE",))),
        ("task:deployment", When(tasks=("deploy",))),
        ("word:git", When(words=("git",))),
        ("note: this", When(words=("note: this",))),
        ("word:", When(words=("word:",))),
        ("  ", None),
    ],
)
def test_a_situation_is_sorted_by_what_it_looks_like(text: str, expected: When | None) -> None:
    assert parse_when([text]) == expected


@requirement("memory:when:sorted")
def test_situations_keep_their_order_and_stand_once() -> None:
    texts = ["release", "*.py", "git", "release", "test", "*.md", " release "]

    assert parse_when(texts) == When(files=("*.py", "*.md"), tools=("git",), tasks=("test",), words=("release",))
    assert parse_when(()) is None


@requirement("memory:when:sorted")
@given(st.lists(st.text(max_size=30)))
def test_no_situation_is_lost(texts: list[str]) -> None:
    when = parse_when(texts) or When()
    known = {*when.files, *when.tools, *when.tasks, *when.words}
    for text in texts:
        line = " ".join(text.split())
        name = line.partition(":")[2]
        is_task = any(kind.name in known for kind in KINDS)
        assert not line or line in known or name.strip() in known or is_task or when.always
