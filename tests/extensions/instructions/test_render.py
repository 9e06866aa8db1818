from __future__ import annotations

from pathlib import Path

from reverie.extensions.instructions import compact_instructions, load, load_nested, render, render_nested
from tests.extensions.instructions.trees import load_tree, somewhere, write_tree
from tests.requirements import requirement


@requirement("instructions:render")
def test_each_file_stands_under_its_path_and_whose_it_is(tmp_path: Path) -> None:
    files = {
        "home/.claude/CLAUDE.md": "Be kind.\n",
        "project/CLAUDE.md": "@AGENTS.md",
        "project/AGENTS.md": "Run make.",
    }
    loaded = load_tree(tmp_path, files)
    ours = [file for file in loaded.files if file.path.is_relative_to(tmp_path.resolve())]

    assert render(ours) == (
        f"From {tmp_path}/home/.claude/CLAUDE.md (the user's own, for every project):\n\nBe kind.\n\n"
        f"From {tmp_path.resolve()}/project/AGENTS.md (the project's, shared with everybody who works on it):\n\n"
        "Run make."
    )
    assert render(()) == ""


@requirement("instructions:render", "instructions:nested")
def test_what_a_touched_file_brings_says_why(tmp_path: Path) -> None:
    files = {"project/sub/CLAUDE.md": "Below.", "project/.claude/rules/r.md": "---\npaths: '*.py'\n---\nRule."}
    loaded = load_tree(tmp_path, files)

    below = render_nested(load_nested(loaded, tmp_path / "project/sub/x.txt").files)
    rule = render_nested(load_nested(loaded, tmp_path / "project/x.py").files)

    assert below.startswith("Instructions that hold in this part of the project, read because ")
    assert below.endswith("Below.")
    assert rule.startswith("Rules for such files")
    assert render_nested(()) == ""


def test_a_section_about_compaction_is_found_up_to_the_next_heading(tmp_path: Path) -> None:
    wanted = "Keep errors.\n\n### Also\n\nPaths."
    text = f"# A\n\n## Compact instructions\n\n{wanted}\n\n## B\n\n```\n# Compact Instructions\nno\n```\n"
    write_tree(tmp_path, {"project/CLAUDE.md": text, "project/AGENTS.md": "nothing"})

    assert compact_instructions(load(somewhere(tmp_path)).files) == wanted
