from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.memory.search.document import Query, SearchDocument
from reverie.memory.search.engine import SearchIndex
from reverie.memory.search.features import Candidate
from reverie.memory.search.rank import is_worth_whole
from tests.requirements import requirement

NOW = datetime(2026, 1, 1, tzinfo=UTC)

TOPICS = (
    SearchDocument(
        key="deploy.md", name="deploy-staging", description="How staging is deployed", body="Run make ship twice."
    ),
    SearchDocument(
        key="tests.md", name="testing", description="Integration tests", body="They use a real PostgreSQL, no mocks."
    ),
    SearchDocument(
        key="editor.md", name="editor", description="The user's editor", body="Anna prefers Helix with tabs."
    ),
    SearchDocument(
        key="parser.md", name="parser", description="Tokens", body="parseTokenStream lives in token_reader.py."
    ),
    SearchDocument(key="tokyo.md", name="旅行", description="出張の予定", body="来月は東京タワーの近くで会議がある。"),
    SearchDocument(
        key="beijing.md", name="服务器", description="部署说明", body="生产环境的数据库在北京机房，每晚备份。"
    ),
)


def opened(folder: Path, *documents: SearchDocument) -> SearchIndex:
    index = SearchIndex(folder / "index.sqlite")
    index.update(documents or TOPICS)
    return index


def keys(hits: list[Candidate]) -> list[str]:
    return [hit.key for hit in hits]


def ask(index: SearchIndex, text: str, *, abstains: bool = False, limit: int = 5) -> list[str]:
    return keys(index.search(Query(text, NOW, abstains=abstains, limit=limit)))


@requirement("search:query:bodies")
def test_a_word_that_only_the_body_has_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        assert ask(index, "do we mock postgresql?")[0] == "tests.md"


@requirement("search:asks")
def test_a_document_is_found_by_the_words_of_its_asks_and_says_so(tmp_path: Path) -> None:
    asked = replace(TOPICS[0], asks=("put the new build on the rehearsal machine", "ロールバックして"))
    with opened(tmp_path, asked, *TOPICS[1:]) as index:
        (hit,) = index.search(Query("is the build on the rehearsal machine?", NOW))
        assert hit.key == "deploy.md"
        assert hit.why.words["asks"] == ("build", "machin", "rehears")
        assert ask(index, "ロールバック", abstains=True) == ["deploy.md"]
        assert ask(index, "rehersal machine", abstains=True) == ["deploy.md"]

        index.update([TOPICS[0]])
        assert ask(index, "is the build on the rehearsal machine?", abstains=True) == []
        assert ask(index, "how is staging deployed")[0] == "deploy.md"


@requirement("search:query:fields-are-weighted")
def test_a_word_in_the_name_outweighs_the_same_word_in_a_body(tmp_path: Path) -> None:
    named = SearchDocument(key="z.md", name="billing", body="invoices are sent monthly")
    mentioned = SearchDocument(key="a.md", name="invoices", body="sent monthly by billing")
    with opened(tmp_path, mentioned, named) as index:
        assert ask(index, "billing")[0] == "z.md"


@requirement("search:query:cjk")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("東京", "tokyo.md"),
        ("会議はどこ", "tokyo.md"),
        ("数据库在哪里", "beijing.md"),
        ("备份", "beijing.md"),
        ("旅行", "tokyo.md"),
    ],
)
def test_chinese_and_japanese_are_found(tmp_path: Path, text: str, key: str) -> None:
    with opened(tmp_path) as index:
        assert ask(index, text, abstains=True)[:1] == [key]


@requirement("search:query:cjk")
@pytest.mark.parametrize("text", ["谁负责迁移", "李雷负责什么", "迁移是谁负责的呀", "迁移何时完成"])
def test_a_question_in_chinese_may_join_its_words_otherwise_than_the_memory(tmp_path: Path, text: str) -> None:
    body = "数据库迁移必须在周五之前完成。\n脚本在目录里，负责人是李雷。"
    with opened(tmp_path, *TOPICS, SearchDocument(key="move.md", name="迁移", body=body)) as index:
        assert ask(index, text, abstains=True)[:1] == ["move.md"]
        assert ask(index, "周末天气怎么样", abstains=True) == []
        assert ask(index, "帮我写一个函数反转链表", abstains=True) == []


@requirement("search:query:identifiers")
@pytest.mark.parametrize(
    "text", ["parseTokenStream", "token stream", "token_reader", "tokenReader", "parsetokenstream"]
)
def test_identifiers_are_found_whole_and_in_parts(tmp_path: Path, text: str) -> None:
    with opened(tmp_path) as index:
        assert ask(index, text)[0] == "parser.md"


@requirement("search:query:spelling")
@pytest.mark.parametrize("text", ["postgersql", "postgresq", "helixx"])
def test_a_misspelt_word_finds_what_it_meant_and_says_so(tmp_path: Path, text: str) -> None:
    with opened(tmp_path) as index:
        hit = index.search(Query(text, NOW, abstains=False))[0]
    assert hit.key in {"tests.md", "editor.md"}
    assert hit.why.corrected


@requirement("search:query:bodies")
def test_a_pasted_text_of_unknown_words_is_searched_by_those_that_are_known(tmp_path: Path) -> None:
    pasted = " ".join(f"w{number} {number}" for number in range(20_000))
    with opened(tmp_path) as index:
        assert ask(index, f"{pasted} postgresql mocks")[0] == "tests.md"


@requirement("search:query:exclude")
def test_what_was_shown_already_does_not_come_back(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        hits = index.search(Query("how is staging deployed", NOW, exclude=frozenset({"deploy.md"}), abstains=False))
    assert "deploy.md" not in keys(hits)


@requirement("search:query:common-words-pruned")
def test_a_word_that_most_documents_have_is_looked_for_in_the_newest_of_them(tmp_path: Path) -> None:
    index = opened(
        tmp_path, *(SearchDocument(key=f"{number:04}.md", body=f"meeting {number}") for number in range(3_000))
    )

    found = [measured.row.key for measured in index.measure_candidates(Query("meeting", NOW))[1]]

    assert len(found) > 20
    assert min(found) >= "1000.md"
    assert "0007.md" in ask(index, "meeting 7")


@requirement("search:query:deterministic")
def test_ties_go_by_key_whatever_the_order_of_indexing(tmp_path: Path) -> None:
    twins = [SearchDocument(key=name, body="the cache is warm") for name in ("c", "a", "b")]
    with opened(tmp_path, *twins) as index:
        assert ask(index, "warm cache") == ["a", "b", "c"]


@requirement("search:why:adds-up")
def test_the_reasons_name_words_and_fields_and_order_the_hits(tmp_path: Path) -> None:
    dated = replace(TOPICS[0], observed=date(2025, 12, 1), type="feedback")
    with opened(tmp_path, dated, *TOPICS[1:]) as index:
        hits = index.search(Query("deploy staging tests", NOW, abstains=False, uses={"deploy.md": 4}))
    sums = [sum(hit.why.parts.values()) for hit in hits]
    assert sums == sorted(sums, reverse=True)
    assert set(hits[0].why.words["title"]) == {"deploi", "stage"}
    assert {"recent", "use", "feedback"} <= hits[0].why.parts.keys()
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)


@requirement("search:abstain:unrelated")
@pytest.mark.parametrize(
    "text",
    [
        "Write a Python function that reverses a linked list.",
        "continue",
        "Center the div.",
        "为什么这个单元测试会失败？",
        "???",
        "",
    ],
)
def test_a_request_that_concerns_no_memory_gets_a_line_at_most(tmp_path: Path, text: str) -> None:
    with opened(tmp_path) as index:
        hits = index.search(Query(text, NOW))
        assert not any(is_worth_whole(hit.score, 1.0, has_vectors=False, has_asks=False) for hit in hits)
        assert all(hit.why.words for hit in hits)


@requirement("search:abstain:unrelated")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("how do we deploy to staging?", "deploy.md"),
        ("which editor does Anna use?", "editor.md"),
        ("mocks in integration tests", "tests.md"),
    ],
)
def test_a_request_that_concerns_a_memory_is_answered(tmp_path: Path, text: str, key: str) -> None:
    with opened(tmp_path) as index:
        assert ask(index, text, abstains=True)[:1] == [key]


@requirement("search:index:removal-removes")
def test_a_removed_document_is_gone_and_a_changed_one_has_only_its_new_words(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        index.update([replace(TOPICS[1], body="They use SQLite now.")], ["deploy.md"])
        assert "deploy.md" not in ask(index, "how is staging deployed")
        assert ask(index, "postgresql") == []
        assert ask(index, "sqlite")[0] == "tests.md"
        assert len(index) == len(TOPICS) - 1


WORDS = ("cache", "deploy", "parser", "北京", "getUser", "invoice", "kitten", "Ann")
documents = st.lists(
    st.builds(
        SearchDocument,
        key=st.sampled_from([f"{letter}.md" for letter in "abcdef"]),
        name=st.sampled_from(WORDS),
        body=st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
        asks=st.lists(st.sampled_from(WORDS), max_size=3).map(tuple),
    ),
    max_size=12,
)


@requirement("search:index:update-equals-rebuild", "search:index:order-is-irrelevant")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=documents, seed=st.integers(0, 99), query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_an_index_updated_in_steps_answers_as_one_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[SearchDocument], seed: int, query: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    final = {document.key: document for document in steps}
    removed = sorted(final)[::3]
    shuffled = [document for key, document in final.items() if key not in removed]
    random.Random(seed).shuffle(shuffled)
    with SearchIndex(folder / "steps") as stepwise, SearchIndex(folder / "once") as once:
        for document in steps:
            stepwise.update([document])
        stepwise.update([], removed)
        once.update(shuffled)
        question = Query(" ".join(query), NOW, abstains=False)
        assert [(hit.key, round(hit.score, 9)) for hit in stepwise.search(question)] == [
            (hit.key, round(hit.score, 9)) for hit in once.search(question)
        ]


@requirement("search:index:derived")
@pytest.mark.parametrize("damage", ["garbage", "truncated", "older"])
def test_a_damaged_or_older_file_is_replaced_and_filled_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "index.sqlite"
    opened(tmp_path).close()
    if damage == "garbage":
        path.write_bytes(b"this is no database" * 500)
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    with SearchIndex(path) as index:
        assert len(index) == 0
        index.update(TOPICS)
        assert ask(index, "how is staging deployed")[0] == "deploy.md"


_WRITER = """
import sys
from pathlib import Path
from reverie.memory.search.document import SearchDocument
from reverie.memory.search.engine import SearchIndex
with SearchIndex(Path(sys.argv[1])) as index:
    for number in range(20):
        index.update([SearchDocument(key=f"{sys.argv[2]}-{number}", body=f"entry {number} of writer {sys.argv[2]}")])
"""


@requirement("search:index:many-processes")
def test_processes_that_update_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(path), name]) for name in ("ann", "ben", "cid")]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with SearchIndex(path) as index:
        assert len(index) == 60


@requirement("search:query:light")
def test_a_lexical_query_loads_no_heavy_library(tmp_path: Path) -> None:
    opened(tmp_path).close()
    program = (
        "import sys; from datetime import datetime; from pathlib import Path\n"
        "from reverie.memory.search.document import Query\n"
        "from reverie.memory.search.engine import SearchIndex\n"
        "SearchIndex(Path(sys.argv[1])).search(Query('how is staging deployed', datetime(2026, 1, 1)))\n"
        "print([name for name in ('numpy', 'yaml', 'rich', 'msgspec', 'tokenizers') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "index.sqlite")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
