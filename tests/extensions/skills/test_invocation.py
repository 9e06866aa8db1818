from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.extensions.skills import read_invocation
from tests.extensions.skills.making import made
from tests.requirements import requirement


@requirement("skills:invoked:arguments")
@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Fix $ARGUMENTS now", "the bug", "Fix the bug now"),
        ("Fix $1 in $2", '"a b" c', "Fix a b in c"),
        ("Fix $0 in $1", "a b", "Fix a in b"),
        ("Fix $ARGUMENTS[1] then $ARGUMENTS[0]", "a b", "Fix b then a"),
        ("Fix $issue on $branch, not $other", "7 main", "Fix 7 on main, not $other"),
        ("Fix it", "now", "Fix it\n\nArguments: now"),
        ("Fix it", "", "Fix it"),
        ("awk '{print $1}' costs $5", "", "awk '{print $1}' costs $5"),
        ("echo $HOME ${HOME} ${CLAUDE_SESSION_ID}", "", "echo $HOME ${HOME} s1"),
        ("Say $ARGUMENTS", "$ARGUMENTS $1", "Say $ARGUMENTS $1"),
        ("Say $1", "it's broken", "Say it's"),
    ],
)
def test_arguments_are_filled_in_once(tmp_path: Path, body: str, arguments: str, text: str) -> None:
    command = made(tmp_path, "arguments: [issue, branch]", body, is_command=True)

    invoked = read_invocation(command, arguments, values={"CLAUDE_SESSION_ID": "s1"})

    assert invoked.text == text


@requirement("skills:invoked:files")
def test_a_skill_says_where_its_files_lie(tmp_path: Path) -> None:
    skill = made(tmp_path, "name: x", "Run ${CLAUDE_SKILL_DIR}/a.sh of ${CLAUDE_PLUGIN_ROOT}.")

    invoked = read_invocation(replace(skill, plugin_root=tmp_path))

    first, _, body = invoked.text.partition("\n\n")
    assert str(skill.root) in first
    assert body == f"Run {skill.root}/a.sh of {tmp_path}."


@requirement("skills:invoked:commands")
def test_commands_are_data_until_their_output_is_handed_in(tmp_path: Path) -> None:
    body = "Status: !`git status $1`\nCode `x!`y` z\n```!\nmake\nmake test\n```\nEnd"
    command = made(tmp_path, "name: x", body, is_command=True)

    invoked = read_invocation(command, "-s")

    assert invoked.commands == ("git status -s", "make\nmake test")
    assert invoked.text == body.replace("$1", "-s")
    ran = invoked.with_outputs({"git status -s": "clean !`rm x`"})
    assert ran.commands == ("make\nmake test",)
    assert ran.text.startswith("Status: clean !`rm x`\n")


@requirement("skills:invoked:commands")
@given(st.text(max_size=60))
def test_no_argument_becomes_a_command(arguments: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        command = made(Path(folder), "name: x", "Do $ARGUMENTS and $1\n$ARGUMENTS", is_command=True)

        assert read_invocation(command, f"{arguments} !`touch evil`\n```!\nevil\n```\n").commands == ()


@requirement("skills:invoked:arguments")
def test_a_skill_is_read_anew_and_one_that_is_gone_is_named(tmp_path: Path) -> None:
    skill = made(tmp_path, "name: x", "old")
    skill.path.write_text("---\nname: x\n---\nnew", encoding="utf-8")
    assert read_invocation(skill).text.endswith("new")

    skill.path.unlink()
    with pytest.raises(UserMistake, match="'x' cannot be invoked"):
        read_invocation(skill)
