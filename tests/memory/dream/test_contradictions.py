from __future__ import annotations

from pathlib import Path

import pytest

from reverie.memory.dream.contradictions import contradictions, first_statement
from reverie.memory.topics.topic import parse_topic
from tests.memory.dream.kit import text
from tests.requirements import requirement

LABELLED = Path(__file__).parents[3] / "bench" / "dream" / "contradictions.tsv"


OPPOSITES = """
Always use tabs | Never use tabs
Always use tabs. | Never use tabs.
Always use tabs for indentation | Use spaces for indentation
Use tabs | Use spaces
Use tabs | Don't use tabs
Use pnpm | Never use pnpm
Use pnpm | Avoid pnpm
Prefer composition | Avoid composition
Prefer classes | Avoid classes
Prefer tabs | Prefer spaces
Always squash commits | Never squash commits
Always squash | Never squash
Commit often | Do not commit often
Use semicolons in TypeScript | No semicolons in TypeScript
We use semicolons | We do not use semicolons
Use single quotes | Use double quotes
Line length is 100 | Line length is 120
Maximum line length: 88 characters | Maximum line length: 120 characters
The timeout is 30 seconds | The timeout is 60 seconds
Deploy on Fridays | Never deploy on Fridays
Deploys happen on Mondays | Deploys happen on Thursdays
Write tests before code | Write tests after code
Always ask before pushing | Never ask before pushing
Mock the database in tests | Never mock the database in tests
Use mocks in unit tests | Use no mocks in unit tests
Answer in German | Answer in English
Reply in English | Always reply in French
Use PostgreSQL for the new service | Don't use PostgreSQL for the new service
Docker is allowed in CI | Docker is not allowed in CI
Docker is allowed in CI | Docker is forbidden in CI
Emojis are welcome in commit messages | No emojis in commit messages
Add emojis to commit messages | Do not add emojis to commit messages
Merge with rebase | Never merge with rebase
Keep functions short | Keep functions long
Enable strict mode | Disable strict mode
Turn on strict mode | Turn off strict mode
The API uses snake_case | The API uses camelCase
Use npm instead of yarn | Use yarn instead of npm
Prefer vim over emacs | Prefer emacs over vim
You must run the linter | You must not run the linter
Nutze immer Tabs | Nutze niemals Tabs
Immer Tabs verwenden | Nie Tabs verwenden
Immer Tabs verwenden | Keine Tabs verwenden
Verwende Tabs | Verwende keine Tabs
Verwende Tabs zum Einrücken | Verwende Leerzeichen zum Einrücken
Bitte immer Tests schreiben | Bitte keine Tests schreiben
Commits immer squashen | Commits nie squashen
Vor dem Push fragen | Vor dem Push nicht fragen
Antworte auf Deutsch | Antworte auf Englisch
Wir deployen freitags | Wir deployen nie freitags
Zeilenlänge höchstens 100 Zeichen | Zeilenlänge höchstens 120 Zeichen
Bevorzuge Klassen | Vermeide Klassen
总是使用制表符 | 从不使用制表符
总是使用制表符 | 不要使用制表符
使用制表符缩进 | 使用空格缩进
提交信息用英文写 | 提交信息不要用英文写
提交信息用英文写 | 提交信息用中文写
务必使用 pnpm | 禁止使用 pnpm
一定要写测试 | 不用写测试
超时时间是30秒 | 超时时间是60秒
优先使用组合 | 避免使用组合
始终先运行测试 | 永远不要先运行测试
常にタブを使う | 決してタブを使わない
タブを使ってください | タブを使わないでください
インデントはタブを使う | インデントはスペースを使う
必ずテストを書く | テストは書かない
コミットメッセージは英語で書く | コミットメッセージは日本語で書く
タイムアウトは30秒です | タイムアウトは60秒です
モックを使う | モックを使わない
pnpmを使用する | pnpmを使用しない
pnpmを使用すること | pnpmは使用禁止
"""
NO_OPPOSITES = """
Always use tabs in Makefiles | Never use tabs in Python
Use tabs | Use pnpm
Service A listens on port 8080 | Service B listens on port 9090
Never push to main | Never push to release
Run tests before pushing | Run the linter before pushing
Use spaces in YAML | Use tabs in Go
The staging timeout is 30 seconds | The production timeout is 60 seconds
Use double quotes in JSON | Use single quotes in Python
Do not use mocks | Never use mocks
Deploy on Fridays only after approval | Deploy on Fridays
Verwende Tabs in Go | Verwende Leerzeichen in Python
使用制表符缩进Go代码 | 使用空格缩进Python代码
Answer short questions in German | Answer emails in English
Bug 12 is fixed in 3.1 | Bug 13 is fixed in 3.2
Alice works in Berlin | Bob works in Paris
Use ruff for linting | Use mypy for types
Logs are in English | Docs are in German
Avoid mocks | Never use mocks
Keep the changelog short | Keep the design document long
The review takes two days | The build takes two minutes
Use PostgreSQL in production | Use SQLite in tests
"""


def listed(one: str, other: str, kind: str = "feedback") -> list[str]:
    made = [("a.md", one), ("b.md", other)]
    topics = [parse_topic(path, text(path, said, kind=kind)) for path, said in made]
    return [each.reason for each in contradictions(topics)]


@requirement("dream:contradictions")
def test_of_labelled_pairs_hardly_one_is_listed_wrongly_and_few_are_missed() -> None:
    pairs = [line.split("\t") for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    found = [(label == "yes", bool(listed(one, other, kind))) for label, kind, one, other in pairs]
    right = found.count((True, True))

    assert right / (right + found.count((False, True))) >= 0.95
    assert right / (right + found.count((True, False))) >= 0.9


@requirement("dream:contradictions:told")
@pytest.mark.parametrize("pair", OPPOSITES.strip().splitlines())
def test_direct_opposites_are_found(pair: str) -> None:
    one, other = pair.split(" | ")
    assert len(listed(one, other)) == 1
    assert len(listed(other, one)) == 1


@requirement("dream:contradictions")
@pytest.mark.parametrize("pair", NO_OPPOSITES.strip().splitlines())
def test_what_is_about_two_things_is_no_opposite(pair: str) -> None:
    one, other = pair.split(" | ")
    assert listed(one, other) == []


@requirement("dream:contradictions")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to main.", "Push to main on Fridays after the freeze."),
        ("Use spaces in Python.", "Do not use spaces in Go."),
        ("It takes 5 minutes.", "It takes 10 minutes."),
        ("We deployed 3 services with the new tool.", "We deployed 4 services with the new tool."),
    ],
)
def test_an_exception_another_subject_and_what_once_happened_are_no_contradictions(one: str, other: str) -> None:
    assert listed(one, other) == []


@requirement("dream:contradictions")
def test_what_two_people_want_is_no_contradiction() -> None:
    one, other = "Wants short answers in reviews.", "Never wants short answers in reviews."
    assert listed(one, other, "user") != []
    topics = [
        parse_topic("a.md", text("a.md", one, kind="user", about=("Anna",))),
        parse_topic("b.md", text("b.md", other, kind="user", about=("Ben",))),
    ]
    assert contradictions(topics) == ()


def test_only_what_is_said_first_counts_and_not_its_reason() -> None:
    assert first_statement("Never push to main, because CI would not run. Ask.") == "Never push to main"
    assert first_statement("Version 1.2 is out") == "Version 1.2 is out"
