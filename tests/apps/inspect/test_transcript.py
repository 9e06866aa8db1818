from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie.apps.inspect import transcript
from reverie.apps.inspect.transcript import open_records, read_around, read_block, read_part
from reverie.errors import UserMistake
from tests.requirements import requirement

MESSAGES = 300


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    lines = []
    for number in range(MESSAGES):
        text = f"message {number} {'naïve café' if number == 250 else 'plain'} " + "x" * (5_000 if number == 7 else 10)
        record: dict[str, Any] = {
            "type": "user",
            "uuid": f"id-{number}",
            "parentUuid": None,
            "sessionId": "s",
            "cwd": "/p",
        }
        record |= {"timestamp": "2026-04-01T10:00:00Z", "message": {"role": "user", "content": text}}
        lines.append(json.dumps(record))
    path.write_text("\n".join([*lines[:3], "", "{broken", *lines[3:]]) + "\n", encoding="utf-8")
    return path


@requirement("inspect:transcript")
def test_parts_follow_one_another_and_lose_nothing(file: Path) -> None:
    records = open_records(file)
    seen: list[str] = []
    start: int | None = 0
    while start is not None:
        part = read_part(records, start)
        assert len(part.messages) <= transcript.PART_SIZE
        seen += [message["uuid"] for message in part.messages]
        start = part.following
    assert seen == [f"id-{number}" for number in range(MESSAGES)]


@requirement("inspect:transcript")
def test_a_search_reads_a_bounded_part_and_goes_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "SEARCHED_BYTES", 8_000)
    records = open_records(file)

    def search(wanted: str) -> tuple[list[str], int]:
        found: list[str] = []
        parts, start = 0, 0
        while True:
            part = read_part(records, start, wanted)
            found += [message["uuid"] for message in part.messages]
            parts += 1
            if part.following is None:
                return found, parts
            assert part.following > start
            start = part.following

    assert search("message 123 ") == (["id-123"], search("nowhere")[1])
    assert search("naïve café")[0] == ["id-250"]
    assert search("nowhere")[1] > 5


@requirement("inspect:transcript")
def test_a_long_text_is_sent_when_it_is_unfolded(file: Path) -> None:
    records = open_records(file)
    message = next(one for one in read_part(records, 0).messages if one["uuid"] == "id-7")

    assert message["parts"][0]["text"] is None
    assert len(read_block(records, message["number"], 0)) > 5_000
    with pytest.raises(UserMistake, match="load the page again"):
        read_block(records, message["number"], 3)


@requirement("inspect:transcript")
def test_a_message_is_shown_in_its_place(file: Path) -> None:
    records = open_records(file)
    part = read_part(records, read_around(records, "id-200"))

    assert [message["uuid"] for message in part.messages[:4]] == ["id-197", "id-198", "id-199", "id-200"]
    assert read_around(records, "unknown") == 0
