from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reverie.errors import Conflict
from reverie.memory.store.change import Change
from reverie.memory.store.history import PACKS_AT_MOST, pack, pack_when_due, packing_stopped
from reverie.memory.store.timeline import import_bundle, log, write_bundle
from tests.memory.stores import files_of, git, open_store, topic
from tests.requirements import requirement


def _existing(directory: Path) -> None:
    (directory / "logs" / "2026" / "01").mkdir(parents=True)
    (directory / "team").mkdir()
    files = {
        "MEMORY.md": b"# Mine\r\n\r\n- [Role](user_role.md) \xe2\x80\x94 my own hook\r\n",
        "user_role.md": b"\xef\xbb\xbf---\r\nname: Role\r\ntype: user\r\n---\r\nTen years of Go\r\n",
        "no_front_matter.md": b"Just text without a newline at its end",
        "broken.md": b"---\nname: [\n---\n\xff\xfe",
        "team/shared.md": b"---\nname: Shared\n---\nteam text\n",
        "logs/2026/01/2026-01-02.md": b"a log\n",
        "picture.png": b"\x89PNG\r\n\x1a\n",
        ".consolidate-lock": b"1234\n",
        ".gitattributes": b"* text eol=lf filter=evil\n",
    }
    for name, content in files.items():
        (directory / name).write_bytes(content)


@requirement("store:takeover:no-byte-changed")
def test_an_existing_directory_is_taken_over_by_one_commit_and_no_byte_changes(tmp_path: Path) -> None:
    _existing(tmp_path)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    store = open_store(tmp_path)
    (commit,) = store.sync()
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    assert [(entry.commit, entry.change.author) for entry in log(store)] == [(commit, "import")]
    assert store.sync() == ()
    assert git(tmp_path, "status", "--porcelain") == ""
    tracked = set(git(tmp_path, "ls-files").splitlines())
    assert tracked == {"MEMORY.md", "user_role.md", "no_front_matter.md", "broken.md", "team/shared.md"}
    assert git(tmp_path, "show", "HEAD:user_role.md", environment={"GIT_PAGER": "cat"}).startswith("\ufeff---\n")


@requirement("store:takeover:no-byte-changed")
def test_hooks_that_another_program_wrote_stay_until_their_topic_changes(tmp_path: Path) -> None:
    _existing(tmp_path)
    store = open_store(tmp_path)
    store.save(topic("New"))
    index = (tmp_path / "MEMORY.md").read_bytes()
    assert index.startswith(b"# Mine\r\n")
    assert b"my own hook" in index


@requirement("store:git:ordinary")
def test_ordinary_git_reads_and_continues_the_history(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First"), reason="because of this")
    store.save(topic("Ünïcode", path="unterordner/ünïcode.md", body="Grüße\n\u4f60\u597d"))
    assert git(tmp_path, "fsck", "--strict", "--full") == ""
    assert git(tmp_path, "status", "--porcelain") == ""
    assert "because of this" in git(tmp_path, "log", "--oneline")
    assert git(tmp_path, "log", "-1", "--format=%an %(trailers:key=Reverie-Author,valueonly)").split() == ["user"] * 2
    (tmp_path / "by_hand.md").write_text("By hand.", encoding="utf-8")
    git(tmp_path, "add", "by_hand.md")
    git(tmp_path, "-c", "user.name=U", "-c", "user.email=u@x", "commit", "-q", "-m", "by hand")
    git(tmp_path, "gc", "-q")
    assert store.save(topic("Second")).commit
    assert [entry.change.author for entry in log(store)] == ["user", "import", "unknown", "user", "user"]
    assert git(tmp_path, "status", "--porcelain") == ""
    assert git(tmp_path, "fsck", "--strict", "--full") == ""


@requirement("memory:index:cannot-conflict")
def test_merging_two_histories_with_ordinary_git_leaves_no_conflict_in_the_index(tmp_path: Path) -> None:
    one, two = open_store(tmp_path / "one"), open_store(tmp_path / "two")
    one.save(topic("Common"))
    import_bundle(two, write_bundle(one, tmp_path / "memory.zip"))
    one.save(topic("First"))
    two.save(topic("Second", body="Another."))

    identity = ("-c", "user.name=U", "-c", "user.email=u@x")
    git(tmp_path / "one", *identity, "pull", "-q", "--no-rebase", "--no-edit", str(tmp_path / "two"), "main")
    one.save(topic("Third", body="A third."))

    index = (tmp_path / "one" / "MEMORY.md").read_text(encoding="utf-8")
    assert index.count("\n") == 4
    assert all(index.count(f"[{name}]") == 1 for name in ("Common", "First", "Second", "Third"))


@requirement("store:git:isolated")
def test_nothing_of_the_users_git_reaches_the_history(tmp_path: Path) -> None:
    """Everything a user or a hostile directory can set is set, and must have no effect."""
    home, memory, trap = tmp_path / "home", tmp_path / "memory", tmp_path / "trap"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    evil = hooks / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {trap}\nexit 1\n", encoding="utf-8")
    evil.chmod(evil.stat().st_mode | stat.S_IXUSR)
    for name in (
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "commit-msg",
        "pre-auto-gc",
    ):
        (hooks / name).symlink_to(evil)
    (home / "attributes").write_text("* filter=evil diff=evil text eol=crlf\n", encoding="utf-8")
    configuration = f"""
[core]
    hooksPath = {hooks}
    attributesFile = {home}/attributes
    autocrlf = true
    fsmonitor = {evil}
    editor = {evil}
    pager = {evil}
[commit]
    gpgSign = true
[gpg]
    program = {evil}
[filter "evil"]
    clean = {evil}
    smudge = {evil}
    required = true
[diff "evil"]
    textconv = {evil}
    command = {evil}
[diff]
    external = {evil}
[init]
    defaultObjectFormat = sha256
    templateDir = {home}
[user]
    name = Nobody
"""
    (home / ".gitconfig").write_text(configuration, encoding="utf-8")
    memory.mkdir()
    (memory / ".gitattributes").write_text("* filter=evil diff=evil text\n", encoding="utf-8")
    script = """
import sys
import threading
from pathlib import Path
from tests.memory.stores import open_store, topic
from reverie.memory.store.timeline import diff, log, undo, erase
from reverie.memory.store.history import pack
store = open_store(Path(sys.argv[1]))
saved = store.save(topic("First", body="one\\r\\ntwo"))
(Path(sys.argv[1]) / "crlf.md").write_bytes(b"a\\r\\nb\\n")
store.sync()
diff(store, saved.commit)
second = store.save(topic("Second, which goes away", body="A sentence that goes away."))
undo(store, second.commit)
pack(store.history)
erase(store, "Second, which goes away")
assert len(log(store)) == 4, log(store)
assert (Path(sys.argv[1]) / "crlf.md").read_bytes() == b"a\\r\\nb\\n"
"""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_AUTHOR_NAME": "Somebody Else",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(hooks),
        "GIT_EXTERNAL_DIFF": str(evil),
        "GIT_EDITOR": str(evil),
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    done = subprocess.run(
        [sys.executable, "-c", script, str(memory)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not trap.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "memory"]
    clean = {key: value for key, value in environment.items() if not key.startswith("GIT_")} | {"HOME": str(tmp_path)}
    shown = subprocess.run(
        ["git", "cat-file", "blob", "HEAD:crlf.md"], cwd=memory, env=clean, capture_output=True, check=True
    )
    assert shown.stdout == b"a\r\nb\n"
    names = subprocess.run(
        ["git", "log", "--format=%an %cn"], cwd=memory, env=clean, capture_output=True, text=True, check=True
    )
    assert "Somebody" not in names.stdout


@requirement("store:git:aside")
def test_a_directory_inside_a_work_tree_keeps_its_history_aside(tmp_path: Path) -> None:
    project, aside = tmp_path / "project", tmp_path / "home" / "aside"
    project.mkdir()
    git(project, "init", "-q")
    directory = project / ".claude" / "agent-memory" / "reviewer"
    store = open_store(directory, aside=aside)
    store.save(topic("First"))
    store.archive("First", reason="old")
    store.save(topic("Second"))
    assert not (directory / ".git").exists()
    assert sorted(path.name for path in directory.iterdir()) == ["MEMORY.md", "feedback_second.md"]
    assert len(log(store)) == 3
    assert store.list_archived() == ("feedback_first.md",)
    assert open_store(directory, aside=aside).sync() == ()
    assert git(project, "log", "--all", "--format=%H") == ""


@requirement("store:git:aside")
def test_a_repository_that_somebody_else_made_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.md").write_text("a", encoding="utf-8")
    store = open_store(tmp_path)
    store.save(topic("First"))
    assert git(tmp_path, "log", "--all", "--format=%H") == ""
    assert [entry.change.author for entry in log(store)] == ["user", "import"]


@requirement("store:git:packs-itself")
def test_the_repository_packs_itself_in_the_background(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    packs = tmp_path / ".git" / "objects" / "pack"
    saves = 0
    while len(list(packs.glob("*.pack"))) < PACKS_AT_MOST:
        store.save(topic("Topic", body=f"Version {saves}"))
        saves += 1
    store.save(topic("Topic", body="The last version"))
    with packing_stopped(store.history):
        assert len(list(packs.glob("*.pack"))) < PACKS_AT_MOST // 2
    pack_when_due(store.history)
    assert len(log(store)) == saves + 1
    pack(store.history)
    assert git(tmp_path, "fsck", "--strict") == ""


@requirement("store:git:packs-itself")
def test_a_packing_beside_does_not_disturb_a_save(tmp_path: Path) -> None:
    """A packing removes the folders that it has emptied, at any moment."""
    store = open_store(tmp_path)
    stop = threading.Event()

    def tidy() -> None:
        while not stop.is_set():
            for folder in (tmp_path / ".git" / "objects").glob("??"):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    store.save(topic("First"))
    thread = threading.Thread(target=tidy)
    thread.start()
    try:
        for number in range(15):
            assert store.save(topic(f"Topic {number}")).commit
    finally:
        stop.set()
        thread.join()
    assert git(tmp_path, "fsck", "--strict") == ""


def test_locks_that_a_killed_git_left_are_removed(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First"))
    for name in ("index.lock", "refs/heads/main.lock"):
        lock = tmp_path / ".git" / name
        lock.write_text("", encoding="ascii")
        os.utime(lock, (1_000_000_000, 1_000_000_000))
    assert store.save(topic("Second")).commit
    assert git(tmp_path, "status", "--porcelain") == ""


@pytest.mark.parametrize("damage", [b"", b"DIRC\0\0\0\4garbage", b"DIRC\0\0\0\2\0\0\xff\xff" + b"\0" * 40])
def test_a_damaged_index_file_costs_only_a_reading(tmp_path: Path, damage: bytes) -> None:
    open_store(tmp_path).save(topic("First"))
    before = files_of(tmp_path)
    (tmp_path / ".git" / "index").write_bytes(damage)
    store = open_store(tmp_path)
    assert store.sync() == ()
    assert store.save(topic("Second")).commit
    assert before.items() <= (files_of(tmp_path) | {"MEMORY.md": before["MEMORY.md"]}).items()
    assert git(tmp_path, "status", "--porcelain") == ""


def test_a_stat_cache_of_an_earlier_version_costs_only_a_reading(tmp_path: Path) -> None:
    open_store(tmp_path).save(topic("First"))
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    (tmp_path / ".git" / "reverie" / "state").write_text(f"{head} {'0' * 40}".ljust(96), encoding="ascii")
    store = open_store(tmp_path)
    assert store.sync() == ()
    assert store.history.recovered == ""
    assert len(log(store)) == 1


@pytest.mark.parametrize("torn", [0, 30, 200])
def test_a_stat_cache_that_lost_its_end_or_all_of_it_costs_only_a_reading(tmp_path: Path, torn: int) -> None:
    store = open_store(tmp_path)
    store.save_many([topic(f"Topic {number}") for number in range(20)])
    store.save(topic("Topic 3", body="New."))
    state = tmp_path / ".git" / "reverie" / "state"
    if torn:
        state.write_bytes(state.read_bytes()[:-torn])
    else:
        state.unlink()
    commits = len(log(store))
    store.save(topic("Topic 4", body="New too."))
    assert open_store(tmp_path).sync() == ()
    assert len(log(store)) == commits + 1
    assert git(tmp_path, "status", "--porcelain") == ""


@requirement("store:git:ordinary")
def test_a_save_on_a_detached_head_moves_that_head_alone(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first = store.save(topic("First")).commit
    git(tmp_path, "checkout", "-q", "--detach")
    second = store.save(topic("Second")).commit
    assert git(tmp_path, "rev-parse", "main", "HEAD").split() == [first, second]
    assert git(tmp_path, "status", "--porcelain") == ""
    assert store.sync() == ()


@requirement("store:writers:no-lost-update")
def test_a_branch_that_another_git_moved_meanwhile_is_not_moved_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(topic("First"))
    ours = store.history.write_commit({"ours.md": b"Ours.\n"}, Change("agent", "ours"), store.now())
    identity = ("-c", "user.name=U", "-c", "user.email=u@x")
    git(tmp_path, *identity, "commit", "-q", "--allow-empty", "-m", "theirs")
    theirs = git(tmp_path, "rev-parse", "HEAD").strip()
    with pytest.raises(Conflict, match="changed concurrently"):
        store.history.move(ours, {}, is_done=True)
    assert git(tmp_path, "rev-parse", "HEAD").strip() == theirs
    assert open_store(tmp_path).sync() == ()
    assert git(tmp_path, "rev-parse", "HEAD").strip() == theirs
