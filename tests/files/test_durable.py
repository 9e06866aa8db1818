from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import Unavailable, UserMistake
from reverie.files import append_lines, flush, remove_file, remove_temporaries, write_atomic, write_many
from tests.requirements import requirement


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1)


def kill_after(process: subprocess.Popen[str], seconds: float) -> int:
    """Let the process write for a moment, kill it, and return the last number it reported as done."""
    assert process.stdout is not None
    last = int(process.stdout.readline())
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    reported = process.stdout.read().split("\n")
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return max([last, *(int(number) for number in reported[:-1])])


@requirement("files:write:old-or-new", "files:write:no-leftovers")
def test_a_killed_writer_leaves_the_old_content_or_the_new(tmp_path: Path, thorough: bool) -> None:
    writer = """
        import itertools, sys
        from pathlib import Path
        from reverie.files import write_atomic
        path, start = Path(sys.argv[1]), int(sys.argv[2])
        for number in itertools.count(start):
            write_atomic(path, f"{number} " * 50_000, durable=number % 8 == 0)
            print(number, flush=True)
    """
    topic = tmp_path / "topic.md"
    chance = random.Random(7)
    done = 0
    for _ in range(100 if thorough else 8):
        done = kill_after(start(writer, topic, done + 1), chance.uniform(0, 0.02))
        numbers = topic.read_text(encoding="utf-8").split()
        assert len(numbers) == 50_000
        assert len(set(numbers)) == 1
        assert int(numbers[0]) in {done, done + 1}
        assert list(tmp_path.rglob("*.md")) == [topic]
        done += 1

    tomorrow = datetime.now(UTC) + timedelta(days=1)
    remove_temporaries(tmp_path, now=tomorrow)
    assert list(tmp_path.iterdir()) == [topic]


@requirement("files:append:survives-kill")
def test_an_append_that_returned_survives_kills(tmp_path: Path, thorough: bool) -> None:
    writer = """
        import itertools, json, sys
        from pathlib import Path
        from reverie.files import append_lines
        path, start = Path(sys.argv[1]), int(sys.argv[2])
        for number in itertools.count(start):
            # Such long lines that the kernel is found in the middle of a write when the process is killed.
            size = 1_000_000 if number % 2 else 10
            append_lines(path, [json.dumps([number, "x" * size, number])], durable=number % 8 == 0)
            print(number, flush=True)
    """
    log = tmp_path / "session.jsonl"
    chance = random.Random(11)
    next_number, acknowledged, kills = 1, set(), 100 if thorough else 8
    for _ in range(kills):
        last = kill_after(start(writer, log, next_number), chance.uniform(0, 0.03))
        acknowledged |= set(range(next_number, last + 1))
        next_number = last + 2

    whole, torn = [], 0
    for line in log.read_bytes().split(b"\n"):
        try:
            first, _, last = json.loads(line)
        except ValueError:
            torn += bool(line)
        else:
            assert first == last
            whole.append(first)
    assert whole == sorted(set(whole))
    assert acknowledged <= set(whole)
    assert torn <= kills


def test_a_torn_last_line_is_closed_off_before_the_next(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'{"a":1}\n{"b":')

    append_lines(log, ['{"c":3}', b'{"d":4}'])

    assert log.read_bytes() == b'{"a":1}\n{"b":\n{"c":3}\n{"d":4}\n'


def test_a_line_that_holds_a_line_break_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line break"):
        append_lines(tmp_path / "log.jsonl", ["fine", "two\nlines"])

    assert list(tmp_path.iterdir()) == []


@requirement("files:append:many-writers")
def test_processes_appending_to_one_file_never_mix_lines(tmp_path: Path) -> None:
    writer = """
        import sys
        from pathlib import Path
        from reverie.files import append_lines
        for number in range(100):
            append_lines(Path(sys.argv[1]), [f"{sys.argv[2]} {number} " + sys.argv[2] * 20_000], durable=False)
    """
    log = tmp_path / "mailbox.jsonl"
    writers = [start(writer, log, name) for name in "abcd"]
    for process in writers:
        process.communicate()
        assert process.returncode == 0

    found: dict[str, list[int]] = {name: [] for name in "abcd"}
    for line in log.read_text(encoding="utf-8").splitlines():
        name, number, filling = line.split(" ")
        assert filling == name * 20_000
        found[name].append(int(number))
    assert found == {name: list(range(100)) for name in "abcd"}


@requirement("files:write:full-disk")
def test_a_full_disk_leaves_the_old_state(tmp_path: Path) -> None:
    # A limit on the size of files fails in the middle of a write, as a full disk does, after a part was written.
    script = """
        import resource, sys
        from pathlib import Path
        from reverie.errors import Unavailable
        from reverie.files import append_lines, write_many
        folder = Path(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        for path, attempt in (
            (folder / "b.md", lambda: write_many([(folder / "a.md", "new"), (folder / "b.md", "x" * 20_000)])),
            (folder / "log.jsonl", lambda: append_lines(folder / "log.jsonl", ["y" * 20_000])),
        ):
            try:
                attempt()
            except Unavailable as error:
                assert str(path) in str(error) and "free disk space" in str(error), error
                print("refused", flush=True)
    """
    before = {"a.md": "old a", "b.md": "old b", "log.jsonl": "one\ntorn"}
    for name, content in before.items():
        (tmp_path / name).write_text(content, encoding="utf-8")

    output, _ = start(script, tmp_path).communicate()

    assert output == "refused\nrefused\n"
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == before


@requirement("files:write:read-only")
def test_a_read_only_folder_leaves_the_old_state(tmp_path: Path) -> None:
    # Root may write anywhere, so the child becomes nobody once it stands in the folder.
    script = """
        import os
        from pathlib import Path
        from reverie.errors import Unavailable
        from reverie.files import append_lines, write_atomic
        if os.geteuid() == 0:
            os.setuid(65534)
        for name, attempt in (
            ("topic.md", lambda: write_atomic(Path("topic.md"), "new")),
            ("other.jsonl", lambda: append_lines(Path("other.jsonl"), ["line"])),
        ):
            try:
                attempt()
            except Unavailable as error:
                assert name in str(error) and "permissions" in str(error), error
                print("refused", flush=True)
    """
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "topic.md").write_text("old", encoding="utf-8")
    folder.chmod(0o555)
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=folder, capture_output=True, text=True, check=False
    )

    assert (process.stdout, process.stderr) == ("refused\nrefused\n", "")
    assert [path.name for path in folder.iterdir()] == ["topic.md"]
    assert (folder / "topic.md").read_text(encoding="utf-8") == "old"
    folder.chmod(0o755)


@requirement("files:write:mode")
def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    old, new = tmp_path / "old.md", tmp_path / "deep" / "er" / "new.md"
    old.write_text("x", encoding="utf-8")
    old.chmod(0o640)

    write_many([(old, "y"), (new, "z")])
    append_lines(tmp_path / "log.jsonl", ["line"])
    write_atomic(tmp_path / "shared.md", "x", mode=0o644)

    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode & 0o777 == 0o600
    assert new.parent.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "log.jsonl").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "shared.md").stat().st_mode & 0o777 == 0o644


@requirement("files:write:links-not-followed")
def test_a_link_at_the_path_is_replaced_by_a_write_and_refused_by_an_append(tmp_path: Path) -> None:
    secret, link = tmp_path / "secret", tmp_path / "topic.md"
    secret.write_text("keep me", encoding="utf-8")
    link.symlink_to(secret)

    with pytest.raises(UserMistake, match=r"topic\.md"):
        append_lines(link, ["line"])
    write_atomic(link, "mine")

    assert secret.read_text(encoding="utf-8") == "keep me"
    assert not link.is_symlink()


@requirement("files:write:no-leftovers")
def test_a_write_that_cannot_end_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "x").write_text("", encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")

    for path in (tmp_path / "taken", tmp_path / "file" / "below.md", tmp_path / ("n" * 300)):
        with pytest.raises(UserMistake, match="cannot write"):
            write_atomic(path, "new")

    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "taken", "x"]


def test_only_old_temporaries_are_removed(tmp_path: Path) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    for name, age_seconds in ((".reverie-old.tmp", 7200), (".reverie-young.tmp", 60), ("mine.tmp", 7200)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, times=(now.timestamp() - age_seconds,) * 2)

    assert remove_temporaries(tmp_path, now=now) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".reverie-young.tmp", "mine.tmp"]


def test_removing_a_file_says_whether_it_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    assert remove_file(tmp_path / "a") is True
    assert remove_file(tmp_path / "a") is False


def test_a_hundred_files_are_written_at_once(tmp_path: Path) -> None:
    write_many([(tmp_path / f"{number}.md", str(number)) for number in range(100)])

    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        f"{number}.md": str(number) for number in range(100)
    }


@settings(deadline=None)
@given(data=st.one_of(st.binary(max_size=2000), st.text(max_size=2000)))
def test_what_is_written_is_what_is_read(data: bytes | str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip"

    write_atomic(path, data, durable=False)

    assert path.read_bytes() == (data.encode("utf-8") if isinstance(data, str) else data)


def test_an_unwritable_place_is_reported_as_such() -> None:
    with pytest.raises(Unavailable, match="/proc/nowhere"):
        write_atomic(Path("/proc/nowhere/topic.md"), "x")


def test_a_flush_that_fails_is_told_and_what_is_gone_needs_none(tmp_path: Path) -> None:
    there = [tmp_path, tmp_path / "a", tmp_path / "gone"]
    write_atomic(tmp_path / "a", "text", durable=False)
    flush(there)
    read_end, write_end = os.pipe()
    try:
        with pytest.raises(OSError):
            flush([*there, Path(f"/dev/fd/{read_end}")])
    finally:
        os.close(read_end)
        os.close(write_end)
