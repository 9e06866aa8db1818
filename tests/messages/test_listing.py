from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reverie.messages.listing import END_BYTES, list_glances, read_glance, read_working_directory
from tests.requirements import requirement


def line(kind: str, **fields: object) -> bytes:
    return json.dumps({"type": kind, **fields}).encode() + b"\n"


def spoken(number: int, text: str = "hello", **more: object) -> bytes:
    stamp = f"2026-11-01T10:00:{number % 60:02d}.000Z"
    message = {"role": "user", "content": text}
    return line("user", uuid=f"u{number}", parentUuid=None, timestamp=stamp, cwd="/p", message=message, **more)


def replied(number: int, tokens: int) -> bytes:
    usage = {"input_tokens": 10, "cache_read_input_tokens": tokens - 10, "output_tokens": 5}
    message = {"role": "assistant", "id": f"m{number}", "model": "claude-x", "content": [], "usage": usage}
    return line(
        "assistant", uuid=f"a{number}", parentUuid=f"u{number}", timestamp="2026-11-01T11:00:00.000Z", message=message
    )


@requirement("messages:listing:ends-only")
def test_the_middle_of_a_long_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    middle = b"\x00" * (3 * END_BYTES) + b"\n"
    path.write_bytes(spoken(1, "first words") + middle + spoken(2) + replied(3, 5000))

    glance = read_glance(path)

    assert glance is not None
    assert glance.title == "first words"
    assert (glance.tokens, glance.model, glance.updated) == (5000, "claude-x", "2026-11-01T11:00:00.000Z")
    assert glance.is_estimate


@requirement("messages:listing:ends-only")
def test_sub_agents_and_empty_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "main.jsonl").write_bytes(spoken(1))
    (tmp_path / "agent-1234.jsonl").write_bytes(spoken(1))
    (tmp_path / "side.jsonl").write_bytes(spoken(1, isSidechain=True))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "bad.jsonl").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.jsonl").mkdir()

    assert [glance.id for glance in list_glances([tmp_path, tmp_path / "none"])] == ["main"]


@pytest.mark.parametrize(
    ("records", "title"),
    [
        ([line("custom-title", customTitle="Mine"), line("ai-title", aiTitle="Its")], "Mine"),
        ([line("custom-title", customTitle="Old"), line("custom-title", customTitle="New")], "New"),
        ([line("ai-title", aiTitle="Its"), line("last-prompt", lastPrompt="ask")], "Its"),
        ([line("last-prompt", lastPrompt="ask"), line("summary", summary="sum", leafUuid="x")], "ask"),
        ([line("summary", summary="sum", leafUuid="x")], "sum"),
        ([], "the first real question"),
    ],
)
@requirement("messages:listing:title")
def test_the_title_comes_from_the_best_source(tmp_path: Path, records: list[bytes], title: str) -> None:
    path = tmp_path / "s.jsonl"
    opening = spoken(1, "<command-name>clear</command-name>") + spoken(2, "note", isMeta=True)
    path.write_bytes(opening + spoken(3, "the first\nreal question") + b"".join(records))

    glance = read_glance(path)

    assert glance is not None
    assert glance.title == title
    assert (glance.messages, glance.is_estimate) == (3, False)


@requirement("messages:listing:title")
def test_a_long_prompt_is_cut_to_one_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(spoken(1, "word " * 100))

    glance = read_glance(path)

    assert glance is not None
    assert len(glance.title) <= 200
    assert glance.title.endswith("…")


def other(kind: str, size: int) -> bytes:
    """A record of the chain that is no message, at least this long."""
    words = "line of a log\\n" * (size // 14 + 1)
    return line("attachment", uuid=kind, timestamp="2026-11-01T12:00:00.000Z", attachment={"type": kind, "text": words})


@requirement("messages:listing:any-size")
@pytest.mark.parametrize("before", [0, 100, END_BYTES - 300, END_BYTES, 5 * END_BYTES, 3_000_000])
@pytest.mark.parametrize("after", [0, END_BYTES, 3_000_000])
def test_a_session_is_found_however_long_the_records_at_its_ends_are(tmp_path: Path, before: int, after: int) -> None:
    path = tmp_path / "s.jsonl"
    first = other("environment", before) if before else b""
    last = other("prompt_snapshot", after) if after else b""
    middle = b"\x00" * (3 * END_BYTES) + b"\n"
    titled = line("custom-title", customTitle="Named")
    path.write_bytes(first + spoken(1, "the question " * 10_000) + middle + replied(2, 7000) + titled + last)

    (glance,) = list_glances([tmp_path])

    assert (glance.title, glance.cwd, glance.created) == ("Named", "/p", "2026-11-01T10:00:01.000Z")
    assert (glance.tokens, glance.model) == (7000, "claude-x")
    assert glance.updated == ("2026-11-01T12:00:00.000Z" if after else "2026-11-01T11:00:00.000Z")


@requirement("messages:listing:any-size")
def test_the_first_question_is_the_title_wherever_it_stands(tmp_path: Path) -> None:
    piped = spoken(1, "<system-reminder>" + "x" * 200_000)
    (tmp_path / "s.jsonl").write_bytes(other("a", 90_000) + piped + spoken(2, "what went wrong?") + other("b", 90_000))

    (glance,) = list_glances([tmp_path])

    assert (glance.title, glance.messages, glance.is_estimate) == ("what went wrong?", 2, False)


@requirement("messages:listing:any-size")
def test_what_is_no_file_is_passed_over_without_waiting_for_it(tmp_path: Path) -> None:
    (tmp_path / "main.jsonl").write_bytes(spoken(1))
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "endless.jsonl").symlink_to("/dev/zero")
    (tmp_path / "lost.jsonl").symlink_to(tmp_path / "nowhere")

    assert [glance.id for glance in list_glances([tmp_path])] == ["main"]


@requirement("messages:listing:ends-only")
def test_all_real_main_sessions_are_listed(shared_data: Path) -> None:
    folder = shared_data / "transcripts" / "episodic-memory"

    ids = {glance.id for glance in list_glances([folder])}

    assert ids == {"large-conversation", "long-conversation", "short-conversation", "tiny-conversation"}


@requirement("places:transcripts:whole-repository")
def test_a_session_from_elsewhere_does_not_speak_for_the_folder_it_was_put_in(tmp_path: Path) -> None:
    folder = tmp_path / "-srv-app"
    folder.mkdir()
    for age, (name, cwd) in enumerate([("brought", "/tmp"), ("held", "/srv/app"), ("old", "/srv/app")]):
        said = {"type": "user", "uuid": "u", "cwd": cwd, "message": {"role": "user", "content": "Hi"}}
        (folder / f"{name}.jsonl").write_text(json.dumps(said) + "\n", encoding="utf-8")
        os.utime(folder / f"{name}.jsonl", (1_000 - age, 1_000 - age))

    assert read_working_directory(folder) == "/srv/app"
    (folder / "held.jsonl").unlink()
    (folder / "old.jsonl").unlink()
    assert read_working_directory(folder) == "/tmp"
    assert read_working_directory(tmp_path) is None
