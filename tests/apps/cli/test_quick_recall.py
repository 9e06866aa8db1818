from __future__ import annotations

from dataclasses import asdict

import click
from hypothesis import example, given
from hypothesis import strategies as st

from reverie.apps.cli.quick_recall import parsed
from reverie.apps.cli.recall import command
from tests.apps.cli.conftest import Terminal
from tests.requirements import requirement

FLAGS = [
    *("--limit", "--exclude", "--file", "--tool", "--context", "--project", "--memory-dir"),
    *("--fresh", "--words", "--full", "--json", "--user", "--help", "-h", "--lim", "--unheard-of", "--", "-", "-x"),
]
ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(FLAGS),
        st.sampled_from(["word", "3", "0", "-3", "", "two words", "--limit=3", "--file=a.py", "٣", "1_0"]),
        st.text(max_size=4),
    ),
    max_size=7,
)


def said_to_click(arguments: list[str]) -> dict[str, object] | None:
    try:
        return command.make_context("recall", list(arguments)).params
    except (click.ClickException, click.exceptions.Exit):
        return None


@requirement("cli:recall:quick")
@given(ARGUMENTS)
@example(["how", "--limit", "3", "do", "--file", "a", "--file", "b", "--json", "--user", "--project", "p"])
@example(["word", "--limit", "٣"])
def test_what_is_understood_without_click_is_what_click_understands(arguments: list[str]) -> None:
    understood = parsed(arguments)
    if understood is None:
        return
    which, said = understood
    mine = asdict(said) | {"project": which.project, "memory_dir": which.directory, "is_user": which.is_user}

    assert mine == said_to_click(arguments)


@requirement("cli:recall:quick")
def test_a_plain_line_is_understood_without_click() -> None:
    assert parsed(["how", "do", "we", "test", "--limit", "3", "--json", "--words"]) is not None
    assert parsed(["--help"]) is None
    assert parsed(["word", "--limit", "none"]) is None
    assert parsed([]) is None


@requirement("cli:recall:quick")
def test_help_and_mistakes_are_those_of_every_command(terminal: Terminal) -> None:
    assert "Examples:" in terminal.run("recall", "--help").out
    wrong = terminal.run("recall", "word", "--limit", "many")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--limit" in wrong.err
    lost = terminal.run("recall", "word", "--project", "nowhere")
    assert lost.code == 2
    assert "nowhere" in lost.err
