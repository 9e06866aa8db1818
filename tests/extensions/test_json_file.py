from __future__ import annotations

import os
from pathlib import Path

import pytest

from reverie.extensions.json_file import Unread, read_object
from tests.requirements import requirement


@requirement("plugins:parts:broken")
def test_an_object_is_read_and_no_file_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert read_object(path) is None

    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_object(path) == {"a": 1}


@requirement("plugins:parts:broken")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{\n,", ":2: not valid JSON"),
        (b"[]", "expected an object"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * 200, "at most 100 bytes"),
    ],
)
def test_anything_else_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)

    found = read_object(path, limit_bytes=100 if said.startswith("at most") else 1_000_000)

    assert isinstance(found, Unread)
    assert said in found.sentence
    assert str(path) in found.sentence


@requirement("plugins:parts:broken")
def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")

    assert isinstance(read_object(tmp_path / "a.json"), Unread)
