from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.policy import Policy
from reverie.permissions.shell.parse import parse
from reverie.permissions.shell.read_only import is_read_only, reads_of
from tests.permissions.table import make_policy, make_project, rows, run
from tests.requirements import requirement

_HARMLESS = [row.command for row in rows() if row.reads and row.verdict == "allow"]
_UNKNOWN = [row.command for row in rows() if row.verdict != "allow"]
_JOINTS = ["; ", " && ", " || ", " | ", " & ", "\n", " |& ", ";\n"]
_TAILS = [
    *("; evil", " && evil", " | evil", "\nevil", " & evil", " || evil", " |& evil", ";evil #", " $(evil)", " `evil`"),
    *('"$(evil)"', " > evil", " >> evil", " >| evil", " &> evil", " 2> evil", " <(evil)", " >(evil)"),
    " <<EOF\n$(evil)\nEOF",
]
_INSTALLED = (
    "ls",
    "cat",
    "git",
    "grep",
    "find",
    "sed",
    "awk",
    "sort",
    "head",
    "tail",
    "wc",
    "echo",
    "printf",
    "cd",
    "stat",
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("reading"))


@requirement("permissions:shell:changes-nothing")
def test_harmless_commands_change_no_file_when_run(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    _make_repository(project)
    before = _state(tmp_path)
    environment = {"PATH": os.defpath, "HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0"}
    ran = 0
    for command in _HARMLESS:
        if "sleep" in command or "\0" in command:
            continue
        assert is_read_only(command, project), command
        done = subprocess.run(
            ["/bin/bash", "--norc", "-c", command],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        ran += done.returncode == 0
        assert _state(tmp_path) == before, command
    assert ran >= 150, "the commands must really run, or nothing is shown"


@requirement("permissions:rules:compound")
@settings(max_examples=200)
@given(
    known=st.sampled_from(_HARMLESS),
    joint=st.sampled_from(_JOINTS),
    unknown=st.sampled_from(_UNKNOWN),
    turned=st.booleans(),
)
def test_joining_never_turns_a_question_into_a_yes(
    project: Path, known: str, joint: str, unknown: str, *, turned: bool
) -> None:
    if "#" in known or "#" in unknown:  # a comment swallows what follows
        return
    if unknown.rstrip().endswith(("&&", "||", "|", "\\")):  # a line break completes it, or a backslash quotes the joint
        return
    joined = f"{unknown}{joint}{known}" if turned else f"{known}{joint}{unknown}"
    assert decide(run(joined, project), make_policy(project)).verdict is not PermissionVerdict.ALLOW


@requirement("permissions:shell:hostile")
@settings(max_examples=200)
@given(
    known=st.sampled_from(_HARMLESS),
    tail=st.sampled_from(_TAILS),
)
def test_nothing_appended_to_a_harmless_command_goes_unseen(project: Path, known: str, tail: str) -> None:
    if "#" in known:
        return
    assert not is_read_only(known + tail, project)
    assert decide(run(known + tail, project), make_policy(project)).verdict is not PermissionVerdict.ALLOW


@requirement("permissions:shell:hostile")
@given(
    program=st.sampled_from(_INSTALLED), option=st.from_regex(r"--?[a-zA-Z][a-z-]{0,12}(=[a-z]{1,4})?", fullmatch=True)
)
def test_an_unheard_of_option_is_never_harmless_where_options_do_harm(program: str, option: str) -> None:
    """For every program: what passes does so because the option is on a list, with the same answer each time."""
    command = f"{program} {option}"
    if program not in ("echo", "printf") and is_read_only(command, Path("/")):
        assert not any(word in option for word in ("output", "exec", "pre", "in-place", "delete", "ext-diff", "file="))


@requirement("permissions:shell:hostile")
def test_no_character_ends_the_process() -> None:
    """The grammar's scanner crashed on characters of the higher planes, in most processes but not in each."""
    code = (
        "from pathlib import Path\n"
        "from reverie.permissions.shell.read_only import is_read_only\n"
        "for number in (0x8FFFE, 0xCDC46, 0xFACBF, 0x10FFFF):\n"
        "    is_read_only('{' + chr(number), Path('/'))\n"
    )
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["é=1 rm x", "cat <<é\nö\ncat <<'X'\né\nrm x\nX", "echo 中文; rm 文"])
def test_a_foreign_letter_hides_no_command(command: str) -> None:
    assert not is_read_only(command, Path("/"))


def test_foreign_words_are_words() -> None:
    assert is_read_only("grep -n 'größe' src/größe.py && ls 中文", Path("/"))
    assert [word.text for word in parse("ls 中文 'é' x").steps[0].words] == ["ls", "中文", "'é'", "x"]


@given(st.text(max_size=40))
def test_any_text_gets_an_answer(text: str) -> None:
    assert is_read_only(text, Path("/")) in (True, False)


def test_paths_count_from_where_the_command_stands_and_wherever_it_goes(tmp_path: Path) -> None:
    found = reads_of(parse("cd src && cat app.py ~/x"), tmp_path, home=Path("/home/me"))
    assert found is not None
    assert set(found.paths) == {
        *(tmp_path, tmp_path / "src", tmp_path / "app.py", tmp_path / "src/app.py", Path("/home/me/x")),
    }


def test_git_is_not_asked_in_a_folder_that_pretends_to_be_a_repository(tmp_path: Path) -> None:
    assert is_read_only("git status", tmp_path)
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert not is_read_only("git status", tmp_path)
    (tmp_path / "below").mkdir()
    assert not is_read_only("git status", tmp_path / "below")
    assert is_read_only("ls", tmp_path)


def test_a_policy_without_roots_lets_nothing_be_read(tmp_path: Path) -> None:
    assert decide(run("cat x", tmp_path), Policy(tmp_path, tmp_path)).verdict is PermissionVerdict.ASK
    assert decide(run("ls", tmp_path), Policy(tmp_path, tmp_path)).verdict is PermissionVerdict.ASK


def test_a_command_that_names_nothing_reads_where_it_stands(project: Path) -> None:
    policy = make_policy(project)
    outside = project.parent / "other"
    for command in ("ls", "find -name x", "rg main", "git log", "pytest && ls"):
        assert decide(run(command, project), policy).verdict is PermissionVerdict.ALLOW
        assert decide(run(command, project, outside), policy).verdict is PermissionVerdict.ASK


def _make_repository(project: Path) -> None:
    environment = {"PATH": os.defpath, "HOME": str(project.parent / "home"), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "src"),
        ("commit", "-q", "-m", "one"),
        ("commit", "-q", "--allow-empty", "-m", "two"),
    ):
        subprocess.run(["git", *identity, *words], cwd=project, env=environment, check=True, capture_output=True)


def _state(folder: Path) -> dict[str, str]:
    """Every file and its content; git's own index is refreshed by asking, and says nothing new."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
        if path.name != "index"
    }
