from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from reverie.errors import Refused
from reverie.memory.search.topic_index import IndexedFolder
from reverie.memory.store.change import Change
from reverie.memory.store.timeline import log
from reverie.memory.store.writer import FoundEdit
from tests.memory.stores import files_of, git, open_store, read_topics, topic
from tests.requirements import requirement


@requirement("store:foreign:noticed")
def test_an_edit_by_an_editor_is_committed_by_unknown_and_never_overwritten(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    saved = store.save(topic("First"))
    path = tmp_path / saved.topic.path
    edited = path.read_text(encoding="utf-8").replace("A body.", "Another body.")
    path.write_text(edited, encoding="utf-8")
    (tmp_path / "new.md").write_text("New.", encoding="utf-8")
    store.save(topic("Second"))
    assert path.read_text(encoding="utf-8") == edited
    assert [(entry.change.author, entry.paths) for entry in log(store)] == [
        ("user", ("feedback_second.md",)),
        ("unknown", ("feedback_first.md", "new.md")),
        ("user", ("feedback_first.md",)),
    ]
    path.unlink()
    store.sync()
    assert log(store)[0].paths == ("feedback_first.md",)
    assert "feedback_first" not in (tmp_path / "MEMORY.md").read_text(encoding="utf-8")


@requirement("store:foreign:noticed")
def test_an_edit_is_attributed_to_whom_the_caller_knows(tmp_path: Path) -> None:
    agent = Change("agent", "written by the host", "session-9")

    def attribute(edit: FoundEdit) -> Change | None:
        return agent if edit.path == "by_agent.md" else None

    store = open_store(tmp_path, attribute=attribute)
    store.save(topic("First"))
    for name in ("by_agent.md", "by_nobody.md"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert len(store.sync()) == 2
    changes = {entry.paths: entry.change for entry in log(store)[:2]}
    assert changes[("by_agent.md",)] == agent
    assert changes[("by_nobody.md",)].author == "unknown"


@requirement("store:foreign:noticed")
def test_an_edit_that_leaves_size_and_time_alone_is_noticed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    path = tmp_path / store.save(topic("First", body="aaaa")).topic.path
    looks = path.stat()
    for letter in b"bcdef":
        path.write_bytes(path.read_bytes().replace(path.read_bytes()[-5:-1], bytes([letter]) * 4))
        os.utime(path, ns=(looks.st_atime_ns, looks.st_mtime_ns))
        assert len(store.sync()) == 1


def test_a_touched_file_is_no_change(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    path = tmp_path / store.save(topic("First")).topic.path
    path.touch()
    path.chmod(0o644)
    assert store.sync() == ()
    assert git(tmp_path, "status", "--porcelain") == ""
    store.edit("First", lambda old: replace(old, body="New."))
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_link_is_neither_followed_nor_committed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("secret", encoding="utf-8")
    store = open_store(tmp_path / "memory")
    (tmp_path / "memory" / "link.md").symlink_to(outside)
    (tmp_path / "memory" / "folder").symlink_to(tmp_path)
    store.save(topic("First"))
    assert [found.name for found in read_topics(store)] == ["First"]
    assert set(git(tmp_path / "memory", "ls-files").split()) == {"MEMORY.md", "feedback_first.md"}


class _Editor:
    """Edits a file at the moment when the store asks how useful topics were: it has looked, and not yet written."""

    def __init__(self) -> None:
        self._edit: Callable[[], object] | None = None

    def __call__(self) -> Mapping[str, float]:
        edit, self._edit = self._edit, None
        if edit is not None:
            edit()
        return {}

    def will_write(self, path: Path, content: bytes) -> None:
        self._edit = partial(path.write_bytes, content)

    def will_replace(self, path: Path, content: bytes) -> None:
        draft = path.with_suffix(".swp")
        draft.write_bytes(content)
        self._edit = partial(draft.replace, path)


@requirement("store:foreign:same-moment")
def test_an_edit_at_the_same_moment_is_merged(tmp_path: Path) -> None:
    editor = _Editor()
    store = open_store(tmp_path, use=editor)
    path = tmp_path / store.save(topic("List", body="one\n\ntwo\n\nthree")).topic.path
    for edit, word in ((editor.will_write, "ONE"), (editor.will_replace, "Uno")):
        text = path.read_text(encoding="utf-8")
        first = text.split("---\n")[-1].split("\n")[0]
        edit(path, text.replace(first, word, 1).encode())
        body = store.read("List").body.replace("three", f"three, {word}")
        store.edit("List", lambda old, body=body: replace(old, body=body))  # type: ignore[misc] # bound per round
        assert f"{word}\n\ntwo\n\nthree" in store.read("List").body
        assert f"three, {word}" in store.read("List").body
    assert [entry.change.author for entry in log(store)] == ["unknown", "user", "unknown", "user", "user"]
    assert store.sync() == ()


@requirement("store:foreign:same-moment")
def test_an_edit_at_the_same_moment_and_place_is_kept_beside(tmp_path: Path) -> None:
    editor = _Editor()
    store = open_store(tmp_path, use=editor)
    path = tmp_path / store.save(topic("List", body="one")).topic.path
    theirs = path.read_bytes().replace(b"\none\n", b"\ntheirs\n")
    editor.will_write(path, theirs)
    store.edit("List", lambda old: replace(old, body="ours"))
    assert store.read("List").body == "ours"
    assert [copy.read_bytes() for copy in (tmp_path / ".conflicts").iterdir()] == [theirs]
    assert git(tmp_path, "status", "--porcelain") == ""


@requirement("store:kill:readable", "store:foreign:same-moment")
@pytest.mark.parametrize(("theirs", "body"), [("ONE", "ONE\n\ntwo\n\nTHREE"), ("rewritten", "rewritten")])
def test_an_edit_after_a_kill_is_merged_with_what_the_killed_writer_wanted(
    tmp_path: Path, theirs: str, body: str
) -> None:
    store = open_store(tmp_path)
    path = tmp_path / store.save(topic("List", body="one\n\ntwo\n\nthree")).topic.path
    text = path.read_bytes()
    history = store.history
    wanted = {path.name: text.replace(b"three", b"THREE")}
    assert history.write_commit(wanted, Change("agent", "shout"), store.now())
    edited = text.replace(b"one", b"ONE") if theirs == "ONE" else text.replace(b"one\n\ntwo\n\nthree", b"rewritten")
    path.write_bytes(edited)
    again = open_store(tmp_path)
    again.sync()
    assert again.read("List").body == body
    assert [entry.change.author for entry in log(again)][-2:] == ["agent", "user"]
    assert (tmp_path / ".conflicts").exists() == (theirs == "rewritten")
    assert again.sync() == ()
    assert git(tmp_path, "status", "--porcelain") == ""


@requirement("store:foreign:same-moment")
def test_a_topic_edited_while_it_is_forgotten_stays(tmp_path: Path) -> None:
    editor = _Editor()
    store = open_store(tmp_path, use=editor)
    path = tmp_path / store.save(topic("List", body="one")).topic.path
    theirs = path.read_bytes().replace(b"\none\n", b"\ntheirs\n")
    editor.will_write(path, theirs)
    store.forget("List")
    assert path.read_bytes() == theirs
    assert store.sync() == ()


@requirement("store:foreign:same-moment")
def test_a_file_that_appears_where_a_new_one_is_written_is_kept(tmp_path: Path) -> None:
    editor = _Editor()
    store = open_store(tmp_path, use=editor)
    editor.will_write(tmp_path / "new.md", b"Somebody else's new file.\n")
    store.save(topic("New", path="new.md"))
    kept = {path.read_bytes() for path in (tmp_path / ".conflicts").iterdir()}
    assert store.read("new.md").name == "New"
    assert kept == {b"Somebody else's new file.\n"}
    assert not [path for path in files_of(tmp_path) if path.startswith(".reverie")]


def _objects(directory: Path) -> bytes:
    """Every object of the history, reachable or not."""
    names = git(directory, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    done = subprocess.run(
        ["git", "cat-file", "--batch"], cwd=directory, input="\n".join(names).encode(), capture_output=True, check=True
    )
    return done.stdout


@requirement("store:foreign:secrets")
def test_a_secret_written_by_hand_stays_in_its_file_and_goes_nowhere_else(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    store = open_store(tmp_path)
    store.save(topic("First"))
    path = tmp_path / "key.md"
    path.write_text(f"---\nname: Key\ndescription: use {token}\n---\nText.\n", encoding="utf-8")
    before = path.read_bytes()
    assert store.sync() == ()
    assert dict(store.held) == {"key.md": "github-token in line 3"}
    store.save(topic("Second"))
    assert path.read_bytes() == before
    assert "key.md" not in (tmp_path / "MEMORY.md").read_text(encoding="utf-8")
    assert token.encode() not in _objects(tmp_path)
    indexed = IndexedFolder(store.folder)
    indexed.sweep()
    assert set(indexed.names()) == {"feedback_first.md", "feedback_second.md"}
    indexed.close()
    assert not [left for left in (tmp_path / ".index").iterdir() if token.encode() in left.read_bytes()]
    path.write_text("---\nname: Key\n---\nIn the safe.\n", encoding="utf-8")
    store.sync()
    assert store.held == {}
    assert "key.md" in (tmp_path / "MEMORY.md").read_text(encoding="utf-8")


@requirement("store:foreign:secrets")
def test_a_topic_into_which_a_secret_was_written_leaves_the_index_until_it_is_clean_again(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    store = open_store(tmp_path)
    path = tmp_path / store.save(topic("List")).path
    clean = path.read_bytes()
    path.write_bytes(clean + token.encode())
    index = tmp_path / "MEMORY.md"
    store.sync()
    assert path.name not in index.read_text(encoding="utf-8")
    with pytest.raises(Refused, match="github-token in line"):
        store.save(topic("List", body="Another"))
    other = open_store(tmp_path)
    other.save(topic("Other"))
    assert path.read_bytes() == clean + token.encode()
    assert path.name not in index.read_text(encoding="utf-8")
    path.write_bytes(clean)
    other.sync()
    other.save(topic("Third"))
    assert path.name in index.read_text(encoding="utf-8")
    assert token.encode() not in _objects(tmp_path)


@requirement("store:foreign:secrets")
def test_a_file_with_a_secret_can_be_forgotten(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    store = open_store(tmp_path)
    known = tmp_path / store.save(topic("List")).path
    known.write_bytes(known.read_bytes() + token.encode())
    new = tmp_path / "new.md"
    new.write_text(token, encoding="utf-8")
    for path in (known, new):
        store.forget(path.name)
        assert not path.exists()
    assert store.held == {}
    assert not list(tmp_path.rglob(".reverie-*"))
    assert token.encode() not in _objects(tmp_path)


@requirement("store:foreign:secrets")
def test_an_index_with_a_secret_is_kept_up_to_date_and_never_committed(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    store = open_store(tmp_path)
    store.save(topic("First"))
    index = tmp_path / "MEMORY.md"
    index.write_text(f"{index.read_text(encoding='utf-8')}\nMy key is {token}\n", encoding="utf-8")
    second = store.save(topic("Second")).path
    assert second in index.read_text(encoding="utf-8")
    assert token in index.read_text(encoding="utf-8")
    assert list(store.held) == ["MEMORY.md"]
    assert token.encode() not in _objects(tmp_path)
    index.write_text(index.read_text(encoding="utf-8").replace(token, "in the safe"), encoding="utf-8")
    store.sync()
    assert store.held == {}
    assert "in the safe" in git(tmp_path, "show", "HEAD:MEMORY.md")


@requirement("store:foreign:secrets")
def test_a_secret_written_at_the_same_moment_stays_and_is_not_committed(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    editor = _Editor()
    store = open_store(tmp_path, use=editor)
    path = tmp_path / store.save(topic("List", body="one")).path
    theirs = path.read_bytes() + token.encode()
    editor.will_write(path, theirs)
    store.save(topic("List", body="two"))
    assert path.read_bytes() == theirs
    assert list(store.held) == [path.name]
    store.sync()
    assert path.read_bytes() == theirs
    assert path.name not in (tmp_path / "MEMORY.md").read_text(encoding="utf-8")
    assert token.encode() not in _objects(tmp_path)


@requirement("store:foreign:secrets")
def test_a_directory_that_is_taken_over_leaves_its_secrets_out(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    (tmp_path / "key.md").write_text(token, encoding="utf-8")
    (tmp_path / f"{token}.md").write_text("A secret for a name.\n", encoding="utf-8")
    (tmp_path / "fine.md").write_text("Nothing.\n", encoding="utf-8")
    store = open_store(tmp_path)
    store.sync()
    assert set(store.held) == {"key.md", f"{token}.md"}
    assert git(tmp_path, "ls-files").split() == ["fine.md"]
    assert token.encode() not in _objects(tmp_path)


@requirement("store:kill:readable")
@pytest.mark.parametrize("has_drafts", [False, True])
def test_a_change_killed_before_its_files_were_in_place_is_taken_up(tmp_path: Path, has_drafts: bool) -> None:
    store = open_store(tmp_path)
    store.save(topic("First"))
    wanted: dict[str, bytes | None] = {"feedback_first.md": b"New text.\n", "below/new.md": b"Another.\n"}
    killed = store.history.write_commit(wanted, Change("agent", "killed"), store.now())
    if has_drafts:
        store.writer.tree.write_drafts(wanted)
    again = open_store(tmp_path)
    again.sync()
    assert killed in [commit.commit for commit in log(again)]
    assert wanted.items() <= files_of(tmp_path).items()
    assert not [left for left in tmp_path.rglob(".reverie-*") if ".git" not in left.parts]
    assert git(tmp_path, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    again.save(topic("Second"))
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "fsck", "--no-dangling") == ""


@requirement("store:kill:readable")
def test_a_pending_commit_of_an_older_state_is_dropped(tmp_path: Path) -> None:
    """The git of a killed writer may go on for a moment, while the next writer is at work."""
    store = open_store(tmp_path)
    store.save(topic("First"))
    late = store.history.write_commit({"late.md": b"Late.\n"}, Change("agent", "late"), store.now())
    assert late
    git(tmp_path, "update-ref", "-d", "refs/reverie/pending")
    store.save(topic("Second"))
    git(tmp_path, "update-ref", "refs/reverie/pending", late)
    before = files_of(tmp_path)
    again = open_store(tmp_path)
    assert again.sync() == ()
    assert files_of(tmp_path) == before
    assert git(tmp_path, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


@requirement("store:git:ordinary")
def test_paths_that_need_quotes_are_committed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    names = ['"quoted".md', "back\\slash.md", "two\nlines.md", " leading space.md", "a folder/in it.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Text.\n", encoding="utf-8")
    store.sync()
    assert set(git(tmp_path, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")) - {""} == set(names)
    for name in names:
        (tmp_path / name).unlink()
    store.sync()
    assert git(tmp_path, "ls-tree", "-r", "HEAD") == ""
    assert git(tmp_path, "status", "--porcelain") == ""
