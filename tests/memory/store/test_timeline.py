from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import Refused, UserMistake
from reverie.files import append_lines
from reverie.memory.store.change import AUTHORS, Change, parse_message, render_message
from reverie.memory.store.git.rewrite import RewriteRules, move_references, write_rewritten
from reverie.memory.store.history import UNFINISHED
from reverie.memory.store.redact import write_redacted
from reverie.memory.store.timeline import diff, erase, import_bundle, log, revert, topics_at, undo, why, write_bundle
from reverie.memory.topics.topic import Source, Trust
from tests.memory.stores import files_of, git, open_store, read_topics, topic
from tests.requirements import requirement

_texts = st.text(max_size=60)
_maybe = st.none() | st.text(min_size=1, max_size=30)
_changes = st.builds(
    Change,
    st.sampled_from(AUTHORS),
    _texts.filter(lambda text: text.strip() != ""),
    _maybe,
    st.lists(st.builds(Source, _maybe, _maybe, _maybe), max_size=3).map(tuple),
    st.none() | st.just("0" * 40),
)


@requirement("store:commit:message-round-trip")
@settings(deadline=None)
@given(_changes)
def test_any_account_of_a_change_survives_its_commit_message(change: Change) -> None:
    message = render_message(change)
    assert parse_message(message) == change
    assert all(row.isprintable() for row in message.split("\n"))


@requirement("store:history:log")
def test_the_log_follows_a_topic_through_its_renames(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First", body="A long enough text to be recognised as the same file when it moves.\n" * 3))
    store.archive("First", reason="old")
    store.restore("feedback_first")
    store.save(topic("Unrelated"))
    (tmp_path / "feedback_first.md").rename(tmp_path / "renamed.md")
    store.sync()
    assert len(log(store, "renamed")) == 4
    assert len(log(store)) == 5
    store.forget("renamed")
    assert len(log(store, "renamed.md")) == 5
    assert len(log(store, limit=2)) == 2


def test_a_diff_shows_the_topics_and_not_the_index(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First", body="one"))
    saved = store.edit("First", lambda old: replace(old, body="two"))
    assert "-one" in diff(store)
    assert "+two" in diff(store, saved.commit[:10] if saved.commit else None)
    assert "MEMORY" not in diff(store)
    with pytest.raises(UserMistake, match="reverie log"):
        diff(store, "--output=x")
    with pytest.raises(UserMistake):
        diff(store, "0123456789")


@requirement("store:history:at")
def test_the_directory_of_any_past_moment_can_be_read(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First", body="one"))
    store.edit("First", lambda old: replace(old, body="two"))
    store.forget("First")
    third, second, first = log(store)
    assert topics_at(store, first.when - timedelta(seconds=1)) == ()
    assert [found.body for found in topics_at(store, first.when)] == ["one"]
    assert [found.body for found in topics_at(store, second.when + timedelta(seconds=1))] == ["two"]
    assert topics_at(store, third.when) == ()


@requirement("store:history:why")
def test_a_topic_tells_what_it_rests_on(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    said = Source("s-1", "m-1", "never mock the database")
    later = Source("s-2", "m-9", None)
    store.save(topic("No mocks", sources=(said,), trust=Trust("said")))
    store.edit(
        "No mocks",
        lambda old: replace(old, description="Never mock the database", body="Never mock the database."),
        author="extraction",
        sources=(later,),
    )
    found = why(store, "No mocks")
    assert found.sources == (said, later)
    assert found.trust == "said"
    assert [entry.change.author for entry in found.changes] == ["extraction", "user"]
    store.forget("No mocks")
    assert why(store, "No mocks").sources == (said, later)


@requirement("store:undo:exact")
def test_undo_of_a_change_of_many_files_restores_the_exact_bytes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save_many([topic(f"Topic {number}", body=f"Body {number}\r\n") for number in range(5)])
    (tmp_path / "by_hand.md").write_bytes(b"\xef\xbb\xbfno newline \xff at the end")
    store.sync()
    before = files_of(tmp_path)
    with store.writer.writing():
        dream = store.writer.commit(
            {
                "feedback_topic_0.md": None,
                "feedback_topic_1.md": b"merged",
                "by_hand.md": b"changed",
                "new.md": b"new",
                ".archive/feedback_topic_0.md.archived": before["feedback_topic_0.md"],
            },
            Change("dream", "consolidate"),
        )
    after = files_of(tmp_path)
    assert dream
    undone = undo(store, dream)
    assert files_of(tmp_path) == before
    assert undone.conflicts == ()
    assert undone.commit
    assert not list((tmp_path / ".archive").glob("*"))
    undo(store, undone.commit)
    assert files_of(tmp_path) == after


@requirement("store:undo:merges")
def test_undo_of_an_old_change_keeps_what_came_after(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("List", body="one\n\ntwo\n\nthree"))
    wrong = store.edit("List", lambda old: replace(old, body=old.body.replace("one", "WRONG"))).commit
    store.edit("List", lambda old: replace(old, body=old.body.replace("three", "THREE")))
    assert wrong
    assert undo(store, wrong).paths == ("feedback_list.md",)
    assert store.read("List").body == "one\n\ntwo\n\nTHREE"


@requirement("store:undo:merges")
def test_an_overlap_is_reported_and_writes_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("Other", body="other"))
    store.save(topic("List", body="one"))
    with store.writer.writing():
        both = store.writer.commit({"feedback_list.md": b"two\n", "feedback_other.md": b"two\n"}, Change("dream", "x"))
    (tmp_path / "feedback_list.md").write_bytes(b"three\n")
    store.sync()
    before, commits = files_of(tmp_path), len(log(store))
    assert both
    undone = undo(store, both)
    assert (undone.commit, undone.conflicts) == (None, ("feedback_list.md",))
    assert files_of(tmp_path) == before
    assert len(log(store)) == commits


_lines = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=6).map(lambda rows: "\n".join(rows).encode())
_contents = st.none() | _lines


@requirement("store:undo:exact")
@settings(deadline=None)
@given(_contents, _contents)
def test_undoing_at_once_gives_back_what_was(before: bytes | None, after: bytes | None) -> None:
    reverted = revert({"x.md": before}, {"x.md": after}, {"x.md": after})
    assert reverted.conflicts == ()
    assert reverted.files.get("x.md", after) == before


@requirement("store:undo:merges")
@settings(deadline=None)
@given(_contents, _contents, _contents)
def test_undo_reports_or_changes_but_never_both(before: bytes | None, after: bytes | None, now: bytes | None) -> None:
    reverted = revert({"x.md": before}, {"x.md": after}, {"x.md": now})
    assert not (reverted.conflicts and reverted.files)
    if now == before:
        assert not reverted.conflicts
        assert not reverted.files


_SENTENCE = "The deployment window is every second Thursday at noon."


def _everything_in(directory: Path) -> bytes:
    """All bytes that any tool could find in a history: every object, and every other file."""
    listing = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    objects = subprocess.run(listing, cwd=directory, capture_output=True, check=True).stdout
    others = (path.read_bytes() for path in directory.rglob("*") if path.is_file() and "objects" not in path.parts)
    return objects + b"".join(others)


@requirement("store:erase:nowhere")
def test_after_erase_the_text_is_nowhere(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    store = open_store(memory)
    first = store.save(topic("Keep", body="Something else that stays."))
    store.save(
        topic("Deployment window", body=_SENTENCE, description="When deployments happen here"),
        reason="the user named the deployment window",
        sources=(Source("s", "m", "deploy only on Thursdays at noon"),),
    )
    store.edit("Deployment window", lambda old: replace(old, body=f"{_SENTENCE}\n\nAsk the release captain first."))
    store.archive("Deployment window", reason="old")
    store.restore("feedback_deployment_window")
    last = store.save(topic("Later", body="Something later that stays too."))
    index = memory / "MEMORY.md"
    index.write_text("# Mine\n\n" + index.read_text(encoding="utf-8"), encoding="utf-8")
    (memory / ".index").mkdir(exist_ok=True)
    (memory / ".index" / "derived.db").write_text(_SENTENCE, encoding="utf-8")
    store.sync()
    before = _everything_in(memory)
    assert _SENTENCE.encode() in before
    erased = erase(store, "Deployment window")
    left = _everything_in(memory)
    for trace in (
        _SENTENCE,
        "release captain",
        "deploy only on",
        "deployment window",
        "When deployments",
        "eployment_w",
    ):
        assert trace.encode() not in left, trace
    assert erased.paths[0] == "feedback_deployment_window.md"
    assert [found.name for found in read_topics(store)] == ["Keep", "Later"]
    assert index.read_text(encoding="utf-8").startswith("# Mine\n")
    assert git(memory, "fsck", "--strict", "--full") == ""
    assert git(memory, "status", "--porcelain") == ""
    assert store.sync() == ()
    reasons = [entry.change.reason for entry in log(store)]
    assert reasons[-1] == "save Keep"
    assert log(store)[-1].commit == first.commit
    assert last.commit
    assert "Something later" in diff(store, last.commit)
    assert store.save(topic("After")).commit


@requirement("store:erase:nowhere")
def test_an_archived_topic_is_erased_with_its_copy_in_the_archive(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("Keep"))
    store.save(topic("Deployment window", body=_SENTENCE))
    store.archive("Deployment window", reason="old")

    erased = erase(store, "feedback_deployment_window.md")

    assert erased.kept_by == ()
    assert store.list_archived() == ()
    assert _SENTENCE.encode() not in _everything_in(tmp_path)


@requirement("store:erase:redacts")
def test_what_a_session_appends_while_its_transcript_is_redacted_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.memory.store.redact._APPENDING_SECONDS", 0.0)
    path = tmp_path / "s.jsonl"
    sentences = [f"Deployment number {number} is secret." for number in range(8)]
    append_lines(path, [json.dumps({"text": sentence}) for sentence in sentences], durable=False)
    appended: list[str] = []

    def append_until(done: threading.Event) -> None:
        while not done.is_set():
            appended.append(json.dumps({"line": len(appended)}))
            append_lines(path, appended[-1:], durable=False)

    done = threading.Event()
    session = threading.Thread(target=append_until, args=(done,))
    session.start()
    for sentence in sentences:
        write_redacted([path], [sentence])
    done.set()
    session.join()

    rows = path.read_text(encoding="utf-8").splitlines()
    assert sorted(row for row in rows if "line" in row) == sorted(appended)
    assert [row for row in rows if "text" in row] == ['{"text":"[erased]"}'] * len(sentences)
    assert list(tmp_path.iterdir()) == [path]


@requirement("store:erase:relearning", "store:git:absent")
def test_without_git_too_a_machine_does_not_learn_again_what_was_erased(tmp_path: Path) -> None:
    store = open_store(tmp_path, with_git=False)
    store.save(topic("Deployment window", body=_SENTENCE))
    erase(store, "Deployment window")

    with pytest.raises(Refused, match="erased"):
        open_store(tmp_path, with_git=False).save(topic("Again", body=_SENTENCE), author="extraction")
    assert store.save(topic("Again", body=_SENTENCE), author="user")


@requirement("store:erase:relearning")
def test_what_was_erased_is_not_learnt_again_by_a_machine(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("Deployment window", body=_SENTENCE))
    erase(store, "Deployment window")
    again = topic("Release time", body=_SENTENCE.upper().replace(" ", "\n"), description=_SENTENCE)
    for author in ("extraction", "agent", "dream", "sync", "import"):
        with pytest.raises(Refused, match="erased"):
            store.save(again, author=author)
    assert store.save(topic("Lunch", body="Lunch is at noon on every day."), author="extraction").commit
    assert store.save(again, author="user").commit


@requirement("store:erase:redacts")
def test_transcripts_and_spills_that_quote_the_topic_are_redacted(tmp_path: Path) -> None:
    transcript, spill, other = tmp_path / "s.jsonl", tmp_path / "spill.txt", tmp_path / "other.jsonl"
    rows = [
        {
            "type": "user",
            "uuid": "1",
            "message": {"content": [{"type": "text", "text": f"Remember: {_SENTENCE} Yes."}]},
        },
        {"type": "assistant", "uuid": "2", "message": {"content": "Noted."}},
    ]
    transcript.write_text("".join(json.dumps(row) + "\n" for row in rows) + "not json\n", encoding="utf-8")
    spill.write_text("x\n" + _SENTENCE.replace(" is ", "\n  is ") + "\ny", encoding="utf-8")
    other.write_text('{"a": "nothing  here"}\n', encoding="utf-8")
    untouched = other.read_bytes(), transcript.stat().st_mtime_ns
    store = open_store(tmp_path / "memory")
    store.save(topic("Deployment window", body=_SENTENCE))
    erased = erase(store, "Deployment window", redact=(transcript, spill, other))
    assert erased.redacted == (transcript, spill)
    first, second, third = transcript.read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["message"]["content"][0]["text"] == "Remember: [erased] Yes."
    assert json.loads(second) == rows[1]
    assert third == "not json"
    assert spill.read_text(encoding="utf-8") == "x\n[erased]\ny"
    assert (other.read_bytes(), transcript.stat().st_mtime_ns) == untouched


@requirement("store:erase:crash")
def test_an_erasing_that_stopped_after_the_switch_is_finished_by_the_next_command(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("Keep"))
    store.save(topic("Deployment window", body=_SENTENCE))
    rules = RewriteRules(
        is_erased=lambda path: "deployment" in path,
        is_rewritten=lambda path: path == "MEMORY.md",
        content=lambda _: b"",
        message=lambda _: "erased",
    )
    write_rewritten(store.history.git, rules)
    assert store.read("Deployment window")
    assert len(log(open_store(tmp_path))) == 2
    store.forget("Deployment window")
    write_rewritten(store.history.git, rules)
    (store.history.private / UNFINISHED).write_text("", encoding="ascii")
    move_references(store.history.git)
    again = open_store(tmp_path)
    again.sync()
    assert _SENTENCE.encode() not in _everything_in(tmp_path)
    assert [found.name for found in read_topics(again)] == ["Keep"]
    assert git(tmp_path, "fsck", "--strict", "--full") == ""


@requirement("store:erase:crash")
def test_a_pack_that_a_killed_git_marked_to_be_kept_does_not_keep_what_is_erased(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("Deployment window", body=_SENTENCE))
    for pack in list((tmp_path / ".git" / "objects" / "pack").glob("*.pack")):
        pack.with_suffix(".keep").write_text("fast-import", encoding="ascii")
    erase(store, "Deployment window")
    assert _SENTENCE.encode() not in _everything_in(tmp_path)


def test_erase_names_the_copies_it_cannot_reach(tmp_path: Path) -> None:
    store = open_store(tmp_path / "memory")
    store.save(topic("Deployment window", body=_SENTENCE))
    git(tmp_path / "memory", "remote", "add", "origin", "https://example.org/memory.git")
    write_bundle(store, tmp_path / "copy.zip")
    write_bundle(store, tmp_path / "copy.zip")
    erased = erase(store, "Deployment window")
    assert erased.elsewhere == ("https://example.org/memory.git", str(tmp_path / "copy.zip"))
    with pytest.raises(Refused, match="erased"):
        import_bundle(store, tmp_path / "copy.zip")
    assert _SENTENCE.encode() not in _everything_in(tmp_path / "memory")


@requirement("store:bundle:round-trip")
def test_a_bundle_carries_a_memory_with_its_history(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a")
    store.save(topic("First", body="one"))
    store.edit("First", lambda old: replace(old, body="two"))
    store.save(topic("Second"))
    bundle = write_bundle(store, tmp_path / "memory.zip")
    empty = open_store(tmp_path / "b")
    imported = import_bundle(empty, bundle)
    assert files_of(tmp_path / "b") == files_of(tmp_path / "a")
    assert [entry.commit for entry in log(empty)] == [entry.commit for entry in log(store)]
    assert imported.commit == log(store)[0].commit
    assert git(tmp_path / "b", "status", "--porcelain") == ""
    assert empty.sync() == ()


@requirement("store:bundle:round-trip")
def test_a_bundle_is_merged_into_an_existing_memory(tmp_path: Path) -> None:
    ours = open_store(tmp_path / "a")
    ours.save(topic("Shared", body="one\n\ntwo\n\nthree"))
    theirs = open_store(tmp_path / "b")
    import_bundle(theirs, write_bundle(ours, tmp_path / "start.zip"))
    theirs.edit("Shared", lambda old: replace(old, body=old.body.replace("three", "THREE")))
    theirs.save(topic("Theirs"))
    theirs.save(topic("Clash", body="theirs"))
    ours.edit("Shared", lambda old: replace(old, body=old.body.replace("one", "ONE")))
    ours.save(topic("Clash", body="ours"))
    imported = import_bundle(ours, write_bundle(theirs, tmp_path / "back.zip"))
    assert ours.read("Shared").body == "ONE\n\ntwo\n\nTHREE"
    assert {found.name for found in read_topics(ours)} == {"Shared", "Theirs", "Clash"}
    assert ours.read("Clash").body == "ours"
    assert imported.conflicts == ("feedback_clash.md",)
    assert "feedback_theirs.md" in (tmp_path / "a" / "MEMORY.md").read_text(encoding="utf-8")
    assert len(log(ours)) == 1 + 2 + 3 + 1
    assert import_bundle(ours, tmp_path / "back.zip").paths == ()
    assert git(tmp_path / "a", "status", "--porcelain") == ""


@requirement("store:bundle:round-trip", "memory:index:prose-stays")
def test_prose_of_both_indexes_is_merged_and_items_are_generated(tmp_path: Path) -> None:
    ours, theirs = open_store(tmp_path / "ours"), open_store(tmp_path / "theirs")
    ours.save(topic("Common"))
    index, other = (tmp_path / each / "MEMORY.md" for each in ("ours", "theirs"))
    index.write_text(f"# Start\n\n{index.read_text(encoding='utf-8')}\n## Notes\n\nA line.\n", encoding="utf-8")
    import_bundle(theirs, write_bundle(ours, tmp_path / "start.zip"))
    other.write_text(other.read_text(encoding="utf-8") + "Added there.\n", encoding="utf-8")
    theirs.save(topic("Theirs", body="Their body."))
    index.write_text(index.read_text(encoding="utf-8").replace("# Start", "# Renamed here"), encoding="utf-8")
    ours.save(topic("Ours", body="Our body."))

    assert import_bundle(ours, write_bundle(theirs, tmp_path / "back.zip")).paths == ("feedback_theirs.md",)

    text = index.read_text(encoding="utf-8")
    assert text.startswith("# Renamed here\n\n- [Common]")
    assert text.endswith("\n## Notes\n\nA line.\nAdded there.\n")
    assert text.count("\n- [") == 3
    assert git(tmp_path / "ours", "status", "--porcelain") == ""


@requirement("store:bundle:round-trip", "memory:index:prose-stays")
def test_prose_of_a_memory_with_another_past_is_added(tmp_path: Path) -> None:
    ours, theirs = open_store(tmp_path / "ours"), open_store(tmp_path / "theirs")
    for store, name in ((ours, "ours"), (theirs, "theirs")):
        store.save(topic(name.title(), body=f"Body of {name}."))
        with (tmp_path / name / "MEMORY.md").open("a", encoding="utf-8") as index:
            index.write(f"\nProse of {name}.\n\nMore of {name}.\n")

    import_bundle(ours, write_bundle(theirs, tmp_path / "other.zip"))

    text = (tmp_path / "ours" / "MEMORY.md").read_text(encoding="utf-8")
    assert all(text.count(f"Prose of {name}.\n\nMore of {name}.\n") == 1 for name in ("ours", "theirs"))
    assert text.count("- [") == 2


@requirement("store:disk:clear-error")
def test_a_bundle_that_finds_no_room_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk, as the zip is the largest of them."""
    script = """
import resource, signal, sys
from pathlib import Path
from reverie.errors import Unavailable
from reverie.memory.store.timeline import write_bundle
from tests.memory.stores import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store, target = open_store(Path(sys.argv[1])), Path(sys.argv[2])
room = target.with_name("room")
room.write_bytes(b"")
size = write_bundle(store, room).stat().st_size
room.unlink()
resource.setrlimit(resource.RLIMIT_FSIZE, (size - 100, size - 100))
try:
    write_bundle(store, target)
except Unavailable as error:
    print(error)
"""
    store = open_store(tmp_path / "memory")
    store.save(topic("Home", body="".join(chr(97 + (i * i * 7919) % 26) for i in range(4000))))
    target = tmp_path / "out" / "memory.zip"
    target.parent.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "memory"), str(target)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"cannot write {target}" in done.stdout
    assert list(target.parent.iterdir()) == []


@requirement("store:bundle:round-trip")
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a")
    for content in (b"", b"PK not a zip", b"{}"):
        (tmp_path / "x.zip").write_bytes(content)
        with pytest.raises(UserMistake, match=r"x\.zip"):
            import_bundle(store, tmp_path / "x.zip")
    with pytest.raises(UserMistake, match="does not exist"):
        import_bundle(store, tmp_path / "missing.zip")


@requirement("store:undo:exact")
def test_the_very_first_save_of_a_directory_can_be_undone(tmp_path: Path) -> None:
    from reverie.memory.memory import Memory

    memory = Memory(tmp_path)
    memory.save(name="First", type="project", description="the first memory", body="It is here.")

    memory.undo(memory.log()[0].commit)

    assert list(memory.topics()) == []


@requirement("store:erase:tombstone")
def test_what_was_erased_is_dropped_by_a_copy_that_imports_from_there(tmp_path: Path) -> None:
    here, copy = open_store(tmp_path / "here"), open_store(tmp_path / "copy")
    here.save(topic("Home", body="The key of the house lies under the third flower pot."))
    here.save(topic("Work", body="The office opens at nine in the morning."))
    import_bundle(copy, write_bundle(here, tmp_path / "first.zip"))
    copy.save(topic("Mine", body="Something that only the copy knows about."))
    erased = erase(here, "Home")
    assert erased.elsewhere == (str(tmp_path / "first.zip"),)
    bundle = write_bundle(here, tmp_path / "second.zip")
    assert b"flower pot" not in bundle.read_bytes()
    imported = import_bundle(copy, bundle)
    assert imported.erased == ("feedback_home.md",)
    assert sorted(found.name for found in read_topics(copy)) == ["Mine", "Work"]
    assert "home" not in (tmp_path / "copy" / "MEMORY.md").read_text(encoding="utf-8")
    with pytest.raises(Refused, match="erased"):
        copy.save(topic("Home", body="The key of the house lies under the third flower pot."), author="agent")
    assert import_bundle(copy, bundle).erased == ()
    third = open_store(tmp_path / "third")
    third.save(topic("Home", body="The key of the house lies under the third flower pot."))
    erase(copy, "feedback_home.md")
    assert import_bundle(third, write_bundle(copy, tmp_path / "third.zip")).erased == ("feedback_home.md",)
