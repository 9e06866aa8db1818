from __future__ import annotations

import base64
import json
import random
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.memory.search.passages import PastHit, PastQuery
from reverie.memory.search.passages.past_search import find_matched_words
from tests.memory.search.passages.sessions import NOW, Sessions, call, result
from tests.requirements import requirement


def fill(sessions: Sessions) -> None:
    """Talk of other things, so that words differ in how telling they are."""
    for number in range(60):
        sessions.say(f"other{number % 5}", f"please look at module {number} and tell me what the tests of it cover")
        sessions.say(f"other{number % 5}", f"The tests of module {number} cover parsing and rendering.", "assistant")


@requirement("past:finds")
@pytest.mark.parametrize(
    ("query", "content", "role"),
    [
        ("why is the database locked", "the database was locked by a second writer", "user"),
        ("busy_timeout", "We set busy_timeout to ten seconds.", "assistant"),
        ("busyTimeout", "We set busyTimeout to ten seconds.", "assistant"),
        ("OperationalError", result("sqlite3.OperationalError: database is locked"), "user"),
        ("sqlite3 shell vacuum", call("Bash", command="sqlite3 app.db 'VACUUM'"), "assistant"),
        ("数据库 迁移", "数据库迁移昨天失败了", "user"),
        ("データベース", "データベースの移行は失敗した", "user"),
        ("cafe", "Wir treffen uns im Café", "user"),
        ("databse", "the database was locked", "user"),
    ],
)
def test_what_was_said_is_found(sessions: Sessions, query: str, content: str, role: str) -> None:
    fill(sessions)
    message = sessions.say("wanted", content, role)

    assert sessions.find(query)[0].message == message


@requirement("past:finds")
def test_the_clients_copy_of_a_result_is_not_searched(sessions: Sessions) -> None:
    sessions.say("a", result("short"), toolUseResult={"stdout": "short and papaya"})

    assert sessions.find("papaya") == []


@requirement("past:place")
def test_a_hit_says_where_it_stands_and_what_stands_around_it(sessions: Sessions) -> None:
    sessions.say("a", "What does the importer do with slashes?")
    message = sessions.say("a", "It swaps day and month for Tidewater.", "assistant")
    sessions.say("a", "Then mend it.")

    hit = sessions.find("day and month swaps Tidewater")[0]

    assert (hit.session, hit.message, hit.role) == ("a", message, "assistant")
    assert hit.when == "2026-04-01T08:02:00.000Z"
    assert hit.path == sessions.path("a")
    assert hit.before == "What does the importer do with slashes?"
    assert hit.after == "Then mend it."
    assert set(hit.why.words["body"]) >= {"tidewat", "swap"}
    assert 0 < hit.score <= 1


@requirement("past:neighbours")
def test_an_answer_is_found_by_the_words_of_its_question(sessions: Sessions) -> None:
    fill(sessions)
    sessions.say("a", "On which port does the kiwi server listen?")
    answer = sessions.say("a", "8099, since the move.", "assistant")
    sessions.say("b", "The kiwi was tasty.")

    assert answer in [hit.message for hit in sessions.find("port kiwi server 8099")[:2]]


@requirement("past:neighbours")
def test_of_two_equal_passages_the_one_in_fitting_company_comes_first(sessions: Sessions) -> None:
    fill(sessions)
    sessions.say("a", "We spoke of breakfast and the weather.")
    sessions.say("a", "In the end it was the timeout, we raised it first.", "assistant")
    sessions.say("b", "The deployment to Frankfurt hangs.")
    wanted = sessions.say("b", "In the end it was the timeout, we raised it then.", "assistant")

    found = [hit.message for hit in sessions.find("timeout of the Frankfurt deployment", roles=("assistant",))]
    assert found[0] == wanted


@requirement("past:neighbours")
def test_the_passage_that_has_all_words_precedes_those_that_repeat_one(sessions: Sessions) -> None:
    fill(sessions)
    for number in range(80):
        sessions.say("noise", f"timeout timeout timeout {number}")
    wanted = sessions.say("a", "The importer ran into a timeout on Frankfurt.")

    assert sessions.find("importer timeout Frankfurt")[0].message == wanted


@requirement("past:says-nothing")
@pytest.mark.parametrize("query", ["xylophone marmalade", "", "   ", "the of and", "???", '" OR zz* AND NEAR('])
def test_words_that_nobody_said_find_nothing(sessions: Sessions, query: str) -> None:
    fill(sessions)

    assert sessions.find(query) == []


@requirement("past:says-nothing")
def test_a_word_of_every_request_does_not_bring_up_a_passage(sessions: Sessions) -> None:
    fill(sessions)

    assert sessions.find("please tell me about the xylophone") == []


def test_searching_before_anything_was_said_finds_nothing(sessions: Sessions) -> None:
    assert sessions.find("anything") == []


@requirement("past:place")
def test_hits_can_be_limited_to_a_session_a_time_and_a_speaker(sessions: Sessions) -> None:
    first = sessions.say("aa1", "the kiwi is green")
    second = sessions.say("aa2", "the kiwi is brown", "assistant")
    third = sessions.say("bb", result("kiwi: 3 pieces"))

    def found(**more: object) -> list[str]:
        return sorted(hit.message for hit in sessions.find("kiwi", **more))

    assert found() == sorted([first, second, third])
    assert found(session="aa") == sorted([first, second])
    assert found(session="bb") == [third]
    assert found(roles=("assistant",)) == [second]
    assert found(since=datetime(2026, 4, 1, 8, 2, tzinfo=UTC)) == sorted([second, third])
    assert found(session="aa", roles=("tool",)) == []
    assert len(found(limit=1)) == 1


@requirement("past:secrets")
def test_secrets_are_not_shown(sessions: Sessions) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    token = token[:40]
    sessions.say("a", f"before that I set TOKEN={token}")
    sessions.say("a", f"the kiwi deploy uses {token} for pushing", "assistant")
    sessions.say("a", f"after that I revoked {token}")

    hit = sessions.find("kiwi deploy pushing")[0]

    assert "kiwi deploy" in hit.text
    assert token not in hit.text + hit.before + hit.after
    assert hit.text.count("[secret: ") == 1


@requirement("past:secrets")
def test_half_a_secret_at_the_end_of_a_passage_is_not_shown(sessions: Sessions) -> None:
    secret = base64.b64encode(random.Random(5).randbytes(1_200)).decode()
    lines = "\n".join(secret[at : at + 64] for at in range(0, len(secret), 64))
    kind = "RSA PRIVATE" + " KEY"
    key = f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----"
    text = "padding of the kiwi\n" * 60 + key + "\nand mango after it\n" * 100
    sessions.say("a", text)

    for word in ("kiwi padding", "mango after"):
        for hit in sessions.find(word):
            shown = hit.text + hit.before + hit.after
            assert not [line for line in lines.split("\n") if line[:30] in shown]


@requirement("past:once")
def test_a_message_in_a_fork_is_shown_once(sessions: Sessions) -> None:
    sessions.say("a", "the kiwi server listens in Frankfurt")
    sessions.path("fork").write_bytes(sessions.path("a").read_bytes())

    assert len(sessions.find("kiwi server")) == 1


def test_a_long_result_is_found_by_the_passage_that_matters(sessions: Sessions) -> None:
    lines = [f"{number:6}\tdef function_{number}(): return {number}" for number in range(2_000)]
    lines[1_500] = "  1500\tdef mend_tidewater_dates(): return swap"
    sessions.say("a", result("\n".join(lines)))

    hit = sessions.find("mend_tidewater_dates")[0]

    assert "mend_tidewater_dates" in hit.text
    assert len(hit.text) < 4_000
    assert "function_1400" not in hit.text
    assert len(hit.before) <= 402
    assert hit.before.startswith("…")


def test_newer_talk_comes_first_where_all_else_is_equal(sessions: Sessions) -> None:
    old = json.loads(sessions.line("a", "the kiwi is ripe yet"))
    old["timestamp"] = "2024-01-01T08:00:00.000Z"
    sessions.path("a").write_bytes(json.dumps(old).encode() + b"\n")
    new = sessions.say("b", "the kiwi is  ripe now")
    sessions.say("c", "padding")

    assert sessions.find("kiwi ripe")[0].message == new


def test_a_transcript_rewritten_after_the_sweep_shows_nothing_wrong(sessions: Sessions) -> None:
    sessions.say("a", "the kiwi server listens in Frankfurt")
    past = sessions.past()
    past.sweep()
    sessions.path("a").write_bytes(b"something else entirely\n" * 20)

    assert past.search(PastQuery("kiwi"), now=NOW).hits == ()


def test_threads_may_search_and_sweep_at_once(sessions: Sessions) -> None:
    fill(sessions)
    past = sessions.past()
    past.sweep()
    wrong: list[object] = []

    def work() -> None:
        try:
            for _ in range(5):
                past.sweep()
                hits: tuple[PastHit, ...] = past.search(PastQuery("module 7 tests"), now=NOW).hits
                if not hits:
                    wrong.append("nothing")
        except Exception as error:  # noqa: BLE001 - shown by the assertion
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_matched_words_are_those_of_the_text() -> None:
    assert find_matched_words("Locking the locks, unlocked; LOCK", ["lock"]) == {"Locking", "locks", "LOCK"}


def test_real_sessions_can_be_searched(shared_data: Path, tmp_path: Path) -> None:
    sessions = Sessions(shared_data / "transcripts" / "claude-reliability", tmp_path / "index.db")

    found = sessions.find("port the python to rust", limit=3)

    assert len(found) == 3
    assert "rust" in " ".join(hit.text + hit.before + hit.after for hit in found).lower()
    sessions.opened[0].close()


def test_a_name_written_as_asked_for_precedes_its_parts(sessions: Sessions) -> None:
    fill(sessions)
    for number in range(6):
        sessions.say(f"parts{number}", f"The busy waiter had a timeout, a busy timeout timeout number {number}, busy.")
    wanted = sessions.say("a", "We set busy_timeout once.", "assistant")

    assert sessions.find("busy_timeout")[0].message == wanted


def test_scores_fall_from_hit_to_hit(sessions: Sessions) -> None:
    fill(sessions)

    scores = [hit.score for hit in sessions.find("module 7 rendering cover")]

    assert len(scores) == 10
    assert scores == sorted(scores, reverse=True)


def test_words_side_by_side_are_found_among_many_passages_that_have_them_apart(sessions: Sessions) -> None:
    fill(sessions)
    for number in range(60):
        sessions.say(f"old{number}", f"The disk {number} is new, its quota {number} fine, nothing was exceeded.")
    wanted = sessions.say("a", "It said: disk quota exceeded. " + "Other words of no weight here. " * 30)
    for number in range(60):
        sessions.say(f"new{number}", f"Nothing was exceeded: the quota {number} holds, the disk {number} is new.")

    assert sessions.find("disk quota exceeded")[0].message == wanted


@requirement("past:once")
def test_many_forks_do_not_crowd_out_other_hits(sessions: Sessions) -> None:
    for number in range(12):
        sessions.say("a", f"the kiwi server kiwi server kiwi number {number}")
    for fork in range(30):
        sessions.path(f"fork{fork}").write_bytes(sessions.path("a").read_bytes())
    sessions.say("other", "the kiwi of the server was eaten long ago by somebody else in the office")

    assert len({hit.message for hit in sessions.find("kiwi server", limit=13)}) == 13


@requirement("past:place")
def test_a_filter_does_not_cost_hits(sessions: Sessions) -> None:
    for number in range(30):
        sessions.say("a", f"what about kiwi {number}?")
        sessions.say("a", f"kiwi {number} is fine, kiwi and kiwi", "assistant")

    assert len(sessions.find("kiwi", roles=("user",), limit=30)) == 30
    assert len(sessions.find("kiwi", limit=60)) == 60
