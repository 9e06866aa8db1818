from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reverie.files.places.git_config import read_git_config
from tests.files.places.conftest import Git

WRITTEN = """\
# a comment
[core]
\tbare = false
\tworktree = "C:\\\\work tree" ; trailing
[Remote "Or\\"igin"]
    URL = https://host/a#b
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote.old] url = first
\turl = second
\tlong = one \\
two
no equals sign
= nothing
[broken
"""


def test_a_configuration_is_read_as_git_writes_it(tmp_path: Path) -> None:
    (tmp_path / "config").write_text(WRITTEN, encoding="utf-8")

    assert read_git_config(tmp_path / "config") == {
        "core.bare": "false",
        "core.worktree": "C:\\work tree",
        'remote.Or"igin.url': "https://host/a",
        'remote.Or"igin.fetch': "+refs/heads/*:refs/remotes/origin/*",
        "remote.old.url": "first",
        "remote.old.long": "one two",
    }


def test_a_configuration_that_is_missing_or_no_text_is_empty(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"\xff\xfe\x00[core]\x00")

    assert read_git_config(tmp_path / "config") == {}
    assert read_git_config(tmp_path / "missing") == {}


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
@example(value=" blanks at both ends\t")
@example(value="line\nbreak\u2028and\r\nmore\x0b")
@example(value='"#;\\')
@example(value="\\")
def test_what_git_writes_we_read(value: str, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "config", "--file", "config", "remote.o.url", value)

    understood = git(tmp_path, "config", "--file", "config", "remote.o.url")
    assert read_git_config(tmp_path / "config") == {"remote.o.url": understood}
