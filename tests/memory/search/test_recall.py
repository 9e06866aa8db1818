from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from reverie.files.places.paths import MemoryFolder
from reverie.memory.search.document import Query
from reverie.memory.search.model_selection import ask_selector, name_hits
from reverie.memory.search.recall import SearchedDirectory, is_worth_recalling, rank_memories, recall
from reverie.memory.search.render import Hit
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.topics.anchors import AnchorCheck, AnchorState, FileAnchor
from reverie.memory.topics.situations import When
from reverie.memory.topics.topic import MemoryType, Topic, Trust, render_topic
from reverie.testing.build import reply
from tests.requirements import requirement

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def memory(directory: Path, *topics: Topic, scope: str = "project") -> SearchedDirectory:
    directory.mkdir(parents=True, exist_ok=True)
    for topic in topics:
        (directory / topic.path).write_text(render_topic(topic), encoding="utf-8")
    indexed = IndexedFolder(MemoryFolder(directory, directory))
    indexed.sweep()
    return SearchedDirectory(scope=scope, folder=indexed)


def topic(path: str, name: str, description: str, body: str = "", kind: str | None = None, **more: object) -> Topic:
    observed = date(2026, 4, 30)
    return Topic(path, name, description, MemoryType(kind) if kind else None, body, observed=observed, **more)  # type: ignore[arg-type]


KIWI = topic("kiwi.md", "Kiwi server", "Where the kiwi server runs", "It listens on port 8099 in Frankfurt.", "project")
MANGO = topic("mango.md", "Mango queue", "How the mango queue is drained", "Nightly, by a cron job.", "project")


def found(searched: SearchedDirectory, query: str, **more: object) -> list[Hit]:
    return list(recall([searched], Query(query, NOW, **more)).hits)  # type: ignore[arg-type]


def paths(hits: list[Hit]) -> list[str]:
    return [hit.topic.path for hit in hits]


@requirement("recall:finds:whole-text")
@pytest.mark.parametrize(
    "query", ["where does the kiwi server run", "what is in Frankfurt and listens on port 8099", "kiwi"]
)
def test_a_memory_is_found_by_its_name_its_description_and_its_text(tmp_path: Path, query: str) -> None:
    assert paths(found(memory(tmp_path, KIWI, MANGO), query))[:1] == ["kiwi.md"]


@requirement("recall:says-nothing")
def test_a_query_about_something_else_finds_nothing(tmp_path: Path) -> None:
    assert found(memory(tmp_path, KIWI, MANGO), "please translate this poem into Latin") == []


@requirement("recall:explains")
def test_a_hit_says_which_words_stand_where(tmp_path: Path) -> None:
    hit = found(memory(tmp_path, KIWI, MANGO), "where is the kiwi server running")[0]

    assert "kiwi" in hit.reasons.words["name"]
    assert '"kiwi"' in hit.why
    assert "name" in hit.why
    assert hit.reasons.parts
    assert 0 < hit.score <= 1


@requirement("recall:explains")
@pytest.mark.parametrize(
    ("query", "context"),
    [
        ("where do the kiwi servers run", ""),
        ("which kiwi servers were running", "The mango queue is drained at night."),
        ("where is the kiwi srever", ""),
    ],
)
def test_every_word_of_a_reason_stands_where_it_is_said_to(tmp_path: Path, query: str, context: str) -> None:
    searched = memory(tmp_path, KIWI, MANGO)
    for hit in recall([searched], Query(query, NOW, context=context)).hits:
        texts = {"name": hit.topic.name, "description": hit.topic.description, "text": hit.topic.body}
        assert hit.reasons.words
        for place, words in hit.reasons.words.items():
            assert all(word.lower() in texts[place].lower() for word in words), (place, words)


@requirement("recall:limits")
def test_a_memory_of_one_huge_line_is_shown_within_the_limits(tmp_path: Path) -> None:
    huge = topic("huge.md", "Kiwi log", "What the kiwi server said", "kiwi says nothing new; " * 60_000)
    hit = found(memory(tmp_path, huge, MANGO), "what is in the kiwi log")[0]

    assert hit.size_bytes <= 4_096
    assert len(hit.why) < 1_000


@requirement("recall:scripts-without-spaces")
def test_chinese_and_japanese_queries_find_their_memories(tmp_path: Path) -> None:
    searched = memory(
        tmp_path,
        topic("release.md", "发布流程", "发布前先在预发环境验证数据库迁移", "发布窗口在周四下午。"),
        topic("kaigi.md", "定例会議", "毎週月曜日の午前十時に会議室で行う", "議事録は共有フォルダに置く。"),
        KIWI,
    )

    assert paths(found(searched, "数据库迁移怎么验证"))[:1] == ["release.md"]
    assert paths(found(searched, "定例会議は月曜日の午前ですか"))[:1] == ["kaigi.md"]
    assert "数据库迁移" in found(searched, "数据库迁移怎么验证")[0].why


@requirement("recall:standing-instructions")
def test_a_rule_is_found_by_its_situation_though_it_shares_no_word(tmp_path: Path) -> None:
    rule = topic(
        "rule.md", "Upper case keywords", "SELECT and FROM in capitals", kind="feedback", when=When(files=("*.sql",))
    )
    searched = memory(tmp_path, rule, KIWI)

    assert found(searched, "please tidy the report") == []
    hit = found(searched, "please tidy the report", files=("reports/monthly.sql",))[0]
    assert hit.topic.path == "rule.md"
    assert "reports/monthly.sql matches *.sql" in hit.why


@requirement("recall:standing-instructions")
def test_what_holds_always_is_left_to_the_index(tmp_path: Path) -> None:
    rule = topic("rule.md", "Terse", "Answer in short sentences", kind="feedback", when=When(always=True))

    assert found(memory(tmp_path, rule), "fix the flaky importer") == []


@requirement("recall:standing-instructions")
def test_broad_rules_leave_room_for_what_the_request_is_about(tmp_path: Path) -> None:
    rules = [
        topic(f"rule{number}.md", f"Rule {number}", f"Custom {number}", kind="feedback", when=When(files=("*.py",)))
        for number in range(9)
    ]
    about = [topic(f"kiwi{number}.md", f"Kiwi {number}", "The kiwi importer", f"Fact {number}") for number in range(4)]

    hits = paths(found(memory(tmp_path, *rules, *about), "the kiwi importer", files=("a.py",)))

    assert len(hits) == 5
    assert sum(path.startswith("rule") for path in hits) <= 3
    assert sum(path.startswith("kiwi") for path in hits) >= 2


@requirement("recall:others-asks")
@pytest.mark.parametrize(
    ("path", "trust", "shown"), [("a.md", "said", "whole"), ("a.md", "seen", "line"), ("team/a.md", "said", "line")]
)
def test_when_and_asks_that_others_wrote_make_nothing_certain(
    tmp_path: Path, path: str, trust: str, shown: str
) -> None:
    (tmp_path / "team").mkdir()
    asked = topic(
        path, "Depots", "Where goods lie", "In Bremen.", trust=Trust(trust), asks=("renew the kiwi certificate",)
    )
    searched = memory(tmp_path, asked, MANGO)

    hit = found(searched, "please renew the kiwi certificate")[0]

    assert (hit.topic.path, hit.shown) == (path, shown)


@requirement("recall:excludes")
def test_what_was_shown_does_not_come_back(tmp_path: Path) -> None:
    searched = memory(tmp_path, KIWI, topic("kiwi2.md", "Kiwi keys", "Who holds the kiwi server keys", "Ask Ada."))

    assert set(paths(found(searched, "kiwi server"))) == {"kiwi.md", "kiwi2.md"}
    assert paths(found(searched, "kiwi server", exclude=frozenset({f"{tmp_path}/kiwi.md"}))) == ["kiwi2.md"]


@requirement("recall:excludes")
def test_the_same_text_in_two_scopes_is_shown_once(tmp_path: Path) -> None:
    mine, theirs = memory(tmp_path / "a", KIWI), memory(tmp_path / "b", KIWI, scope="user")

    hits = recall([mine, theirs], Query("where does the kiwi server run", NOW)).hits

    assert [(hit.scope, hit.path) for hit in hits] == [("project", f"{tmp_path}/a/kiwi.md")]


@requirement("recall:recent-tools")
def test_usage_of_a_tool_in_use_is_left_out_and_a_warning_is_not(tmp_path: Path) -> None:
    usage = topic("usage.md", "Terraform usage", "How to use terraform plan and apply", "terraform plan", "reference")
    trap = topic("trap.md", "Terraform trap", "How terraform apply fails on Mondays", "Never apply then.", "reference")
    searched = memory(tmp_path, usage, trap)

    assert set(paths(found(searched, "how terraform apply fails"))) == {"usage.md", "trap.md"}
    assert paths(found(searched, "how terraform apply fails", tools=("terraform",))) == ["trap.md"]


@requirement("recall:skip-rule")
@pytest.mark.parametrize(
    ("message", "is_worth"),
    [
        ("ok", False),
        ("", False),
        ("fix it", True),
        ("好", False),
        ("数据库", False),
        ("数据库迁移", True),
        ("テスト結果", True),
    ],
)
def test_a_message_must_say_enough(message: str, is_worth: bool) -> None:
    assert is_worth_recalling(message) is is_worth


@requirement("recall:limits")
def test_at_most_the_limit_comes_back(tmp_path: Path) -> None:
    many = [topic(f"k{number}.md", f"Kiwi {number}", "kiwi server", f"Fact {number}.") for number in range(12)]
    searched = memory(tmp_path, *many)

    assert len(found(searched, "kiwi server")) == 5
    assert len(found(searched, "kiwi server", limit=2)) == 2


@requirement("recall:header-once")
def test_a_hit_carries_its_header_with_age_and_path(tmp_path: Path) -> None:
    old = topic("old.md", "Kiwi server", "Where the kiwi server runs", trust=Trust.inferred)
    searched = memory(tmp_path, old)

    hit = recall([searched], Query("kiwi server", datetime(2026, 6, 1, tzinfo=UTC))).hits[0]

    assert hit.age_days == 32
    assert "32 days old" in hit.header
    assert "the user has not said it" in hit.header
    assert hit.header.endswith(f"Memory: {tmp_path}/old.md:")


@requirement("recall:anchors")
def test_a_hit_says_when_what_it_names_is_gone(tmp_path: Path) -> None:
    anchored = topic("a.md", "Kiwi server", "Where the kiwi server runs", anchors=(FileAnchor("src/kiwi.py"),))
    broken = AnchorCheck(FileAnchor("src/kiwi.py"), AnchorState.broken)

    hit = recall([memory(tmp_path, anchored)], Query("kiwi server", NOW), check=lambda _scope, _topic: (broken,)).hits[
        0
    ]

    assert hit.anchors == (broken,)
    assert "No longer there: src/kiwi.py" in hit.header


@requirement("recall:deterministic")
def test_the_same_question_gives_the_same_answer_in_the_same_order(tmp_path: Path) -> None:
    same = [topic(f"k{number}.md", f"Kiwi {number}", "kiwi server", f"Fact {number}.") for number in range(8)]
    searched = memory(tmp_path, *same)
    again = memory(tmp_path / "copy", *reversed(same))

    first = found(searched, "kiwi server")

    assert found(searched, "kiwi server") == first
    assert paths(found(again, "kiwi server")) == paths(first)


@requirement("recall:selector")
def test_the_selector_is_asked_about_the_candidates_and_its_choice_counts(tmp_path: Path) -> None:
    searched = memory(tmp_path, KIWI, MANGO)
    query = Query("kiwi server and mango queue", NOW, tools=("terraform",), abstains=False)
    hits = name_hits(rank_memories([searched], query))

    flow = ask_selector(hits, query, embedded=["kiwi.md"])
    ask = next(flow)

    assert ask.purpose == "recall"
    assert ask.max_tokens == 256
    assert "kiwi server and mango queue" in ask.prompt
    assert "- [project] mango.md (" in ask.prompt
    assert "How the mango queue is drained" in ask.prompt
    assert "terraform" in ask.prompt
    assert json.loads(ask.embedded()) == {"selected_memories": ["kiwi.md"]}
    with pytest.raises(StopIteration) as done:
        flow.send(reply('```json\n{"selected_memories": ["mango.md", "no-such.md", "mango.md", 7]}\n```'))
    assert done.value.value == ("mango.md",)
    assert hits["mango.md"].topic.path == "mango.md"


@requirement("recall:selector")
@pytest.mark.parametrize("answer", ["", "I would pick kiwi.md", "{}", '{"selected_memories": "kiwi.md"}', "[1]"])
def test_an_answer_that_is_not_what_was_asked_for_is_an_error(tmp_path: Path, answer: str) -> None:
    query = Query("kiwi server", NOW, abstains=False)
    flow = ask_selector(name_hits(rank_memories([memory(tmp_path, KIWI)], query)), query, embedded=[])
    next(flow)

    with pytest.raises(ValueError):
        flow.send(reply(answer))
