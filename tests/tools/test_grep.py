"""Grep: the same answers from ripgrep and from the built-in search."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.messages.blocks import Json
from reverie.tools.desk import Desk
from reverie.tools.grep import Grep
from reverie.tools.line_search import FileQuery, compile_query, find_rows
from reverie.tools.ripgrep import search
from reverie.tools.tool import ToolMistake
from tests.requirements import requirement
from tests.tools.kit import call, desk_at, told
from tests.tools.trees import trees, write_tree

RIPGREP = shutil.which("rg")
PROGRAMS = [
    pytest.param(None, id="built-in"),
    pytest.param(RIPGREP, id="ripgrep", marks=pytest.mark.skipif(RIPGREP is None, reason="no rg on PATH")),
]
QUERIES = st.fixed_dictionaries(
    {
        "pattern": st.sampled_from(
            ["foo", "^foo$", "bar|baz", "\\bfoo\\b", "[[:upper:]]+", "a.b", "foo\\s+bar", "x*", "^$", "o$", "naïve"]
        )
    },
    optional={
        "-i": st.booleans(),
        "-A": st.integers(0, 2),
        "-B": st.integers(0, 2),
        "-C": st.integers(0, 2),
        "-n": st.booleans(),
        "multiline": st.booleans(),
        "glob": st.sampled_from(["*.py", "!*.py", "src/**", "*.{py,md}", "a/*"]),
        "type": st.sampled_from(["py", "md", "txt"]),
        "output_mode": st.sampled_from(["content", "count", "files_with_matches"]),
        "head_limit": st.integers(1, 5),
    },
)


@requirement("tools:grep:same-answers")
@pytest.mark.skipif(RIPGREP is None, reason="no rg on PATH")
@settings(max_examples=15)
@given(trees(), QUERIES)
def test_both_programs_answer_the_same(tree: dict[str, str], query: dict[str, Json]) -> None:
    async def answer(desk: Desk, program: str | None) -> str:
        return told(await call(Grep(program), desk, **query))

    with tempfile.TemporaryDirectory() as folder:
        desk = desk_at(Path(folder))
        write_tree(desk.project, tree)
        assert asyncio.run(answer(desk, RIPGREP)) == asyncio.run(answer(desk, None))


@requirement("tools:grep:same-answers")
@given(st.lists(st.sampled_from(["foo", "bar", "", "foo bar"])), st.booleans(), st.integers(0, 2), st.integers(0, 2))
def test_rows_are_the_matching_lines_and_those_around(
    lines: list[str], multiline: bool, before: int, after: int
) -> None:
    query = FileQuery(Path("/"), "foo", is_multiline=multiline, before=before, after=after)

    rows = list(find_rows("".join(f"{line}\n" for line in lines), compile_query(query), query))

    assert {row.number - 1 for row in rows if row.is_match} == {n for n, line in enumerate(lines) if "foo" in line}
    near = {
        place
        for n, line in enumerate(lines)
        if "foo" in line
        for place in range(max(0, n - before), min(len(lines), n + after + 1))
    }
    assert [row.number - 1 for row in rows] == sorted(near)
    assert all(row.text == lines[row.number - 1] for row in rows)


@pytest.fixture
def project(desk: Desk) -> Path:
    write_tree(
        desk.project,
        {
            "a.py": "import os\n\ndef run():\n    return os\n",
            "src/b.py": "def Run(): ...\r\n",
            "src/c.txt": "nothing\nrun run\n",
            "ignored.log": "run\n",
            ".gitignore": "*.log\n",
        },
    )
    (desk.project / "data.bin").write_bytes(b"run\0run\n")
    (desk.project / "link.py").symlink_to("a.py")
    for number, name in enumerate(["a.py", "src/c.txt", "src/b.py"]):
        os.utime(desk.project / name, (number, number))
    return desk.project


@requirement("tools:grep:modes")
@pytest.mark.parametrize("program", PROGRAMS)
async def test_files_lines_and_counts(desk: Desk, project: Path, program: str | None) -> None:
    async def grep(**given: Json) -> list[str]:
        return told(await call(Grep(program), desk, **given)).split("\n")

    assert await grep(pattern="run") == [str(project / "src/c.txt"), str(project / "a.py")]
    assert await grep(pattern="run", **{"-i": True}) == [
        str(project / name) for name in ("src/b.py", "src/c.txt", "a.py")
    ]
    assert await grep(pattern=r"run\b", output_mode="count") == [
        f"{project}/a.py:1",
        f"{project}/src/c.txt:1",
        "(2 matching lines in 2 files)",
    ]
    assert await grep(pattern="run", output_mode="content", glob="*.py", **{"-C": 1}) == [
        f"{project}/a.py-2-",
        f"{project}/a.py:3:def run():",
        f"{project}/a.py-4-    return os",
    ]
    assert await grep(pattern="os", output_mode="content", path="a.py", **{"-A": 1}) == [
        f"{project}/a.py:1:import os",
        f"{project}/a.py-2-",
        "--",
        f"{project}/a.py:4:    return os",
    ]
    assert await grep(pattern="o", output_mode="content", head_limit=1, type="txt", **{"-n": False}) == [
        f"{project}/src/c.txt:nothing"
    ]
    assert await grep(pattern="e", output_mode="content", head_limit=1, type="py", **{"-n": False}) == [
        f"{project}/a.py:def run():",
        "(2 more lines of this answer are not shown; `head_limit` is 1)",
    ]
    assert await grep(pattern="os.*def", output_mode="content", multiline=True) == [
        f"{project}/a.py:1:import os",
        f"{project}/a.py:2:",
        f"{project}/a.py:3:def run():",
    ]
    assert await grep(pattern=r"\.\.\.$", output_mode="content") == [f"{project}/src/b.py:1:def Run(): ..."]
    assert await grep(pattern="not there") == ["Nothing matches."]


@requirement("tools:grep:modes")
@pytest.mark.parametrize("program", PROGRAMS)
async def test_expressions_that_one_program_lacks_still_work(desk: Desk, program: str | None) -> None:
    (desk.project / "a.go").write_text("var x interface{}\nfoobar\n", encoding="utf-8")

    assert "interface{}" in told(await call(Grep(program), desk, pattern="interface{}", output_mode="content"))
    assert "foobar" in told(await call(Grep(program), desk, pattern="foo(?=bar)", output_mode="content"))
    with pytest.raises(ToolMistake, match="not a valid regular expression"):
        await call(Grep(program), desk, pattern="(")
    with pytest.raises(ToolMistake, match=r"'type'.*nosuch"):
        await call(Grep(program), desk, pattern="x", type="nosuch")
    with pytest.raises(ToolMistake, match="no file or folder"):
        await call(Grep(program), desk, pattern="x", path="nowhere")


@requirement("tools:grep:modes")
@pytest.mark.parametrize("program", PROGRAMS)
async def test_an_ignored_file_is_searched_when_it_is_asked_for(desk: Desk, project: Path, program: str | None) -> None:
    assert told(await call(Grep(program), desk, pattern="run", path="ignored.log")) == str(project / "ignored.log")


@requirement("tools:grep:bounded")
async def test_an_endless_expression_is_ended_and_does_not_stop_the_loop(desk: Desk) -> None:
    (desk.project / "a.txt").write_text("a" * 60 + "b\n", encoding="utf-8")
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.01)

    other = asyncio.create_task(turn())
    with pytest.raises(ToolMistake, match="took more than"):
        await call(Grep(None, timeout_seconds=1.0), desk, pattern="(a+)+$")
    other.cancel()

    assert turns > 2


def children() -> set[str]:
    """The processes below this one; other tests of the same worker may have left some."""
    tasks = Path("/proc/self/task")
    if tasks.exists():
        return {pid for task in tasks.iterdir() for pid in (task / "children").read_text(encoding="ascii").split()}
    listed = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False)
    return set(listed.stdout.split())


@requirement("tools:grep:bounded")
async def test_a_cancelled_search_leaves_no_process(desk: Desk) -> None:
    (desk.project / "a.txt").write_text("a" * 60 + "b\n", encoding="utf-8")
    query = FileQuery(desk.project, "(a+)+$")
    before = children()
    searching = asyncio.create_task(search(query, ripgrep=None, environment=desk.environment, timeout_seconds=30))
    await asyncio.sleep(0.3)
    assert children() > before

    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching

    assert children() <= before
