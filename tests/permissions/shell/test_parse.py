from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.permissions.shell.parse import MAX_CHARS, parse
from reverie.permissions.shell.script import Script, Shape
from tests.requirements import requirement

_PIECES = (
    *("t", "t ", "a", "-x", " ", " ", ";", "\n", "'", '"', "\\", "#", " #", "{", "}", " { ", " }; ", "(", ")", " && "),
    *(" ! ", ">x", ">>y", "2>z", " 2>&1", " >&2", "<x", "\t", "=", "A=1 ", "~", "*", "[", "]", "\\\n", "é", ",", ".."),
    *(
        "<",
        "&",
        ">",
        "|",
        "t;t",
        "'t'",
        '"t"',
        "t\n",
        "1",
        "$(t a)",
        "`t b`",
        "$x",
        '"$(t c)"',
        "<<E\n",
        "\nE\n",
        "$'t'",
    ),
    *("<(t d)", "\\ #", "!", "<<<", "if t; then ", "; fi", "${x:-t}"),
)


def values(script: Script) -> list[tuple[str | None, ...]]:
    return [tuple(word.value for word in step.words) for step in script.steps]


@requirement("permissions:shell:values")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", [("ls", "-la")]),
        ("a && b || c; d | e", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("\"l\"s a'b'c\\ d", [("ls", "abc d")]),
        ('echo "a\\"b\\c\\$d"', [("echo", 'a"b\\c$d')]),
        ("echo $(rm x) `rm y`", [("echo", None, None), ("rm", "x"), ("rm", "y")]),
        ("cat <<'EOF' | rm x\nhi $(no)\nEOF", [("cat",), ("rm", "x")]),
        ("ls # rm x", [("ls",)]),
        ("git show HEAD@{1}", [("git", "show", "HEAD@{1}")]),
    ],
)
def test_words_are_what_the_program_would_get(command: str, expected: list[tuple[str | None, ...]]) -> None:
    script = parse(command)
    assert not script.problem
    assert values(script) == expected


def test_redirections_and_shapes_are_told() -> None:
    script = parse("FOO=1 ls > out 2>&1 < in &")
    assert [(redirect.target.value, redirect.writes) for redirect in script.redirects] == [("out", True), ("in", False)]
    assert script.shapes == {Shape.ASSIGNMENT, Shape.BACKGROUND}
    assert script.steps[0].assignments[0].name == "FOO"


def test_a_word_behind_a_redirection_is_not_lost() -> None:
    """The grammar takes `-delete` for a second target; it is an argument."""
    assert parse("find . > /dev/null -delete").problem


@pytest.mark.parametrize("command", ["", " ", "# only a comment", "\n\n"])
def test_nothing_is_no_command(command: str) -> None:
    assert parse(command).steps == ()


@pytest.mark.parametrize("command", ["echo a\\\nb", "echo $x a\\\nb", "r\\\nm x"])
def test_a_word_over_two_lines_is_not_relied_on(command: str) -> None:
    assert parse(command).problem


def test_very_long_commands_are_not_examined() -> None:
    assert "too long" in parse("ls " * MAX_CHARS).problem
    for deep in ("(" * 5000 + "ls" + ")" * 5000, "echo " + "$(echo " * 2000 + ")" * 2000, "{ " * 5000, "`" * 10_000):
        assert parse(deep).problem


def test_characters_that_no_encoding_has_are_a_problem() -> None:
    assert parse("ls \ud800").problem


@requirement("permissions:shell:values")
@pytest.mark.parametrize(
    "command",
    [
        "t $x\\ # | evil",
        "t !`t b`t",
        "t { }$x",
        "t <<E\n`evil`\nE\n",
        "t <<E\n$(evil)\nE\n",
        "t <<-E\nevil $x",
        "t $(echo `echo \\`evil\\``)",
        "t >&2\\'",
        "t > x y",
    ],
)
def test_where_the_grammar_and_the_shell_part_the_text_is_not_relied_on(command: str) -> None:
    """Each of these was read by the grammar without a complaint, and wrongly."""
    assert parse(command).problem


@given(st.text(max_size=60))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    script = parse(text)
    assert script.problem or all(step.words or step.assignments for step in script.steps)


@requirement("permissions:shell:values")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=9).map(lambda pieces: "t" + "".join(pieces)))
def test_the_shell_runs_nothing_that_was_not_found_in_the_text(
    tmp_path_factory: pytest.TempPathFactory, command: str
) -> None:
    script = parse(command)
    if script.problem or any(words[:1] not in ((), ("t",)) for words in values(script)):
        return
    folder = tmp_path_factory.mktemp("shell")
    (folder / "x").touch()
    calls = _calls(command, folder)
    assert all(any(_fits(call, words) for words in values(script)) for call in calls), calls
    assert len(calls) <= len(script.steps)
    written = {redirect.target.value for redirect in script.redirects if redirect.writes}
    assert None in written or {path.name for path in folder.iterdir()} <= written | {"x"}


def _fits(call: tuple[str, ...], words: tuple[str | None, ...]) -> bool:
    """Up to the first word that only the shell can tell."""
    known = words.index(None) if None in words else len(words) + 1
    told = [word.replace("~", "/home/me", 1) if word and word.startswith("~") else word for word in words[:known]]
    return list(call[:known]) == told or list(call[:known]) == list(words[:known])


def _calls(command: str, folder: Path) -> list[tuple[str, ...]]:
    """How the real shell would call a program named `t`, each time it does."""
    reading, writing = os.pipe()
    setup = f"exec 9>&{writing}; set -f; t() {{ {{ printf '%s\\0' t \"$@\"; printf '\\1'; }} >&9; }}\n"
    try:
        subprocess.run(
            ["/bin/bash", "--norc", "-c", setup + command],
            cwd=folder,
            env={"HOME": "/home/me", "LC_ALL": "C.UTF-8", "PATH": "/nonexistent"},
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    return [tuple(call.split("\0")[:-1]) for call in said.split("\1")[:-1]]
