"""Glob and the walk behind it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reverie.files.globs import glob_pattern
from reverie.tools.desk import Desk
from reverie.tools.glob import MAX_FILES, Glob, list_matching
from reverie.tools.tool import ToolMistake
from reverie.tools.walk import list_files
from tests.requirements import requirement
from tests.tools.kit import call, told
from tests.tools.trees import trees, write_tree

PATTERNS = st.lists(
    st.sampled_from(["*", "**", "a", "src", "*.py", "?.py", "[xy].py", "[!x].py", ".*", "x*"]), min_size=1
)


@requirement("tools:glob:finds")
@given(trees(), PATTERNS)
def test_it_finds_the_files_that_pathlib_finds(tree: dict[str, str], parts: list[str]) -> None:
    tree = {path: text for path, text in tree.items() if not path.endswith(".gitignore")}
    pattern = "/".join([*parts, "*"] if parts[-1] == "**" else parts)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_tree(root, tree)

        found = list_matching(root, glob_pattern(pattern))

        assert sorted(found) == sorted({path for path in root.glob(pattern) if path.is_file()})


@requirement("tools:glob:finds")
@settings(max_examples=25)
@given(trees())
@example({"a": "", ".gitignore": "**/b\n!src/", "src/b/c": ""})
@example({".gitignore": "src\n!src/**", "src/b/c": ""})
@example({".gitignore": "src/\n!src/", "src/b/c": "", "src/a": ""})
def test_what_git_ignores_is_left_out(tree: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write_tree(root, tree)
        git = ["git", "-c", "core.excludesFile=/dev/null", "-C", folder]
        subprocess.run([*git, "init", "-q"], check=True)
        listed = subprocess.run(
            [*git, "ls-files", "--others", "--exclude-standard", "-z"], check=True, capture_output=True, text=True
        )

        found = [str(Path(entry.path).relative_to(root)) for entry in list_files(root)]

        assert sorted(found) == sorted(filter(None, listed.stdout.split("\0")))


@requirement("tools:glob:finds")
async def test_files_come_newest_first_and_not_too_many(desk: Desk) -> None:
    for number in range(MAX_FILES + 5):
        path = desk.project / f"{number:03}.txt"
        path.touch()
        os.utime(path, (number, number))

    answer = await call(Glob(), desk, pattern="*.txt")

    lines = told(answer).split("\n")
    assert lines[:2] == [str(desk.project / f"{MAX_FILES + 4}.txt"), str(desk.project / f"{MAX_FILES + 3}.txt")]
    assert lines[MAX_FILES] == "(5 more files match; narrow the pattern or the path)"
    assert answer.details["truncated"] is True


@requirement("tools:glob:finds")
async def test_braces_folders_and_absolute_patterns(desk: Desk) -> None:
    write_tree(desk.project, {"src/a.ts": "", "src/deep/b.tsx": "", "src/c.py": "", "lib/d.ts": ""})

    both = told(await call(Glob(), desk, pattern="src/**/*.{ts,tsx}")).split("\n")
    inside = told(await call(Glob(), desk, pattern="*.ts", path="lib"))
    whole = told(await call(Glob(), desk, pattern=f"{desk.project}/src/*.py"))
    nothing = told(await call(Glob(), desk, pattern="**/*.rs"))

    assert sorted(both) == [str(desk.project / "src/a.ts"), str(desk.project / "src/deep/b.tsx")]
    assert inside == str(desk.project / "lib/d.ts")
    assert whole == str(desk.project / "src/c.py")
    assert nothing.startswith("No file in")


@requirement("tools:glob:finds")
async def test_an_ignored_folder_is_searched_when_it_is_asked_for(desk: Desk) -> None:
    write_tree(desk.project, {".gitignore": "node_modules/\n", "node_modules/p/i.js": "", "m.js": ""})

    assert told(await call(Glob(), desk, pattern="**/*.js")) == str(desk.project / "m.js")
    assert told(await call(Glob(), desk, pattern="node_modules/p/*.js")) == str(desk.project / "node_modules/p/i.js")


@requirement("tools:glob:finds")
async def test_what_a_search_would_touch_is_told(desk: Desk) -> None:
    assert Glob().need({"pattern": "src/**/*.py"}, desk).paths == (desk.project / "src",)
    assert Glob().need({"pattern": "/etc/*.conf"}, desk).paths == (Path("/etc"),)
    assert Glob().need({"pattern": "*", "path": "~"}, desk).paths == (Path.home(),)
    with pytest.raises(ToolMistake, match=r"\.\."):
        Glob().need({"pattern": "../*"}, desk)
    with pytest.raises(ToolMistake, match="no folder"):
        await call(Glob(), desk, pattern="*", path="nowhere")
