from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.extensions.instructions import InstructionKind, LoadReason, Outside, load, load_nested, mark_as_read
from tests.extensions.instructions.trees import load_tree, names, somewhere, texts, write_tree
from tests.requirements import requirement

FAMILY = {
    "etc/claude-code/CLAUDE.md": "host managed",
    "etc/reverie/AGENTS.md": "our managed",
    "home/.claude/CLAUDE.md": "user",
    "home/.claude/rules/style.md": "user rule",
    "CLAUDE.md": "above",
    "project/CLAUDE.md": "root",
    "project/.claude/CLAUDE.md": "root, hidden",
    "project/AGENTS.md": "root, agents",
    "project/.claude/rules/b.md": "rule b",
    "project/.claude/rules/a/a.md": "rule a",
    "project/CLAUDE.local.md": "root, local",
    "project/sub/CLAUDE.md": "sub",
    "project/sub/CLAUDE.local.md": "sub, local",
    "project/sub/below/CLAUDE.md": "below",
    "project/other/CLAUDE.md": "beside",
}


@requirement("instructions:order", "instructions:labels")
def test_broad_comes_before_specific_and_local_last_in_its_folder(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, FAMILY, "project/sub")

    assert texts(loaded.files, tmp_path) == [
        "host managed", "our managed", "user", "user rule", "above", "root", "root, hidden", "root, agents",
        "rule a", "rule b", "root, local", "sub", "sub, local",
    ]  # fmt: skip
    kinds = [file.kind for file in loaded.files if file.text in set(FAMILY.values())]
    assert kinds == [InstructionKind.MANAGED] * 2 + [InstructionKind.USER] * 2 + [InstructionKind.PROJECT] * 6 + [
        InstructionKind.LOCAL,
        InstructionKind.PROJECT,
        InstructionKind.LOCAL,
    ]
    assert {file.reason for file in loaded.files} == {LoadReason.SESSION_START}
    assert loaded.warnings == ()


@requirement("instructions:order")
def test_nothing_is_loaded_when_instructions_are_off(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, FAMILY, "project/sub", enabled=False)

    assert loaded.files == ()
    assert load_nested(loaded, tmp_path / "project/sub/below/x.py").files == ()


@requirement("instructions:once")
def test_the_users_files_are_not_those_of_the_home_folder_again(tmp_path: Path) -> None:
    files = {"home/.claude/CLAUDE.md": "user", "home/.claude/rules/r.md": "---\npaths: '*.py'\n---\nrule"}

    loaded = load_tree(tmp_path, files, "home/work")

    assert [(file.text, file.kind) for file in loaded.files if file.text == "user"] == [("user", InstructionKind.USER)]
    assert len(loaded.rules) == 1


@requirement("instructions:agents-md")
@pytest.mark.parametrize(
    "files",
    [
        {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "shared"},
        {"CLAUDE.md": "shared", "AGENTS.md": "@CLAUDE.md"},
        {"CLAUDE.md": "AGENTS.md", "AGENTS.md": "shared"},
        {"CLAUDE.md": "shared", "AGENTS.md": "shared"},
        {"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "shared\n\n@CLAUDE.md", ".claude/CLAUDE.md": "@../AGENTS.md"},
    ],
)
def test_agents_md_is_not_said_twice(tmp_path: Path, files: dict[str, str]) -> None:
    loaded = load_tree(tmp_path, {f"project/{name}": text for name, text in files.items()})

    assert [text.splitlines()[0] for text in texts(loaded.files, tmp_path)] == ["shared"]


@requirement("instructions:agents-md", "instructions:once")
def test_a_link_to_agents_md_is_the_same_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"project/AGENTS.md": "shared"})
    (tmp_path / "project/CLAUDE.md").symlink_to("AGENTS.md")
    os.link(tmp_path / "project/AGENTS.md", tmp_path / "project/CLAUDE.local.md")

    assert texts(load(somewhere(tmp_path)).files, tmp_path) == ["shared"]


@requirement("instructions:agents-md")
def test_agents_md_can_be_left_out(tmp_path: Path) -> None:
    files = {"project/CLAUDE.md": "ours", "project/AGENTS.md": "theirs"}

    assert texts(load_tree(tmp_path, files, agents_md=False).files, tmp_path) == ["ours"]
    assert texts(load_tree(tmp_path, files).files, tmp_path) == ["ours", "theirs"]


@requirement("instructions:nested", "instructions:labels")
def test_a_touched_file_brings_the_instructions_on_its_way(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, {**FAMILY, "project/sub/below/deep/AGENTS.md": "deep"}, "project/sub")
    touched = tmp_path / "project/sub/below/deep/x.py"

    more = load_nested(loaded, touched)

    assert texts(more.files, tmp_path) == ["below", "deep"]
    assert more.files[0].hook_fields == {
        "file_path": str((tmp_path / "project/sub/below/CLAUDE.md").resolve()),
        "memory_type": "Project",
        "load_reason": "nested_traversal",
        "trigger_file_path": str(touched.resolve()),
    }
    again = loaded.with_more(more)
    assert load_nested(again, touched).files == ()
    assert again.files == loaded.files + more.files


@requirement("instructions:nested")
def test_a_file_outside_brings_nothing_and_one_in_the_same_checkout_its_folder(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, {**FAMILY, "elsewhere/CLAUDE.md": "foreign"}, "project/sub")
    assert load_nested(loaded, tmp_path / "elsewhere/x.py").files == ()
    assert load_nested(loaded, tmp_path / "project/other/x.py").files == ()

    write_tree(tmp_path, {"project/.git/HEAD": "ref: refs/heads/main\n"})
    assert texts(load_nested(load(loaded.where), tmp_path / "project/other/x.py").files, tmp_path) == ["beside"]


@requirement("instructions:nested")
def test_a_relative_path_is_taken_from_where_the_agent_stands(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, FAMILY, "project/sub")

    assert texts(load_nested(loaded, Path("below/x.py")).files, tmp_path) == ["below"]


RULES = {
    "project/.claude/rules/always.md": "always",
    "project/.claude/rules/py.md": '---\npaths:\n  - "**/*.py"\n---\npython @more.md',
    "project/.claude/rules/more.md": "---\npaths: nothing\n---\nmore",
    "home/.claude/rules/docs.md": "---\npaths: docs/*.md\n---\ndocs",
    "project/sub/.claude/rules/api.md": "---\npaths: api/**\n---\napi",
}


@requirement("instructions:rules:paths", "instructions:labels")
def test_a_rule_with_paths_waits_for_a_matching_file(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, RULES)
    assert texts(loaded.files, tmp_path) == ["always"]

    assert load_nested(loaded, tmp_path / "project/a.txt").files == ()
    more = load_nested(loaded, tmp_path / "project/src/a.py")
    assert texts(more.files, tmp_path) == ["more", "python @more.md"]
    assert [file.reason for file in more.files] == [LoadReason.INCLUDE, LoadReason.PATH_MATCH]
    assert more.files[0].hook_fields["parent_file_path"] == str(more.files[1].path)
    assert more.files[1].hook_fields["globs"] == ["**/*.py"]
    assert load_nested(loaded.with_more(more), tmp_path / "project/src/b.py").files == ()

    assert texts(load_nested(loaded, tmp_path / "project/docs/a.md").files, tmp_path) == ["docs"]


@requirement("instructions:rules:paths")
def test_a_nested_rule_counts_from_its_own_folder(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, RULES)

    assert texts(load_nested(loaded, tmp_path / "project/sub/api/x.go").files, tmp_path) == ["api"]
    passed = loaded.with_more(load_nested(loaded, tmp_path / "project/sub/x.go"))
    assert texts(load_nested(passed, tmp_path / "project/api/x.go").files, tmp_path) == []
    assert texts(load_nested(passed, tmp_path / "project/sub/api/y.go").files, tmp_path) == ["api"]


@requirement("instructions:once")
def test_what_a_resumed_conversation_holds_does_not_come_again(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, {**RULES, "project/sub/CLAUDE.md": "sub"})
    touched = tmp_path / "project/sub/a.py"
    shown = [file.path for file in load_nested(loaded, touched).files]

    resumed = mark_as_read(load(loaded.where), [*shown[1:], tmp_path / "gone.md"])

    assert texts(load_nested(loaded, touched).files, tmp_path) == ["sub", "more", "python @more.md"]
    assert texts(load_nested(resumed, touched).files, tmp_path) == ["sub"]


@requirement("instructions:compact")
def test_after_a_compaction_files_are_read_again_and_matched_rules_wait_again(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, RULES)
    grown = loaded.with_more(load_nested(loaded, tmp_path / "project/src/a.py"))
    write_tree(tmp_path, {"project/.claude/rules/always.md": "changed"})

    anew = load(grown.where, LoadReason.COMPACT)

    assert texts(anew.files, tmp_path) == ["changed"]
    assert {file.reason for file in anew.files} == {LoadReason.COMPACT}
    assert texts(load_nested(anew, tmp_path / "project/src/b.py").files, tmp_path) == ["more", "python @more.md"]


@requirement("instructions:include", "instructions:labels")
def test_what_a_file_includes_comes_before_it_and_is_named_so(tmp_path: Path) -> None:
    files = {
        "project/CLAUDE.md": "Build with make. See @docs/a.md and @./b.txt and @~/notes.md",
        "project/docs/a.md": "a, from @../b.txt",
        "project/b.txt": "b",
        "home/notes.md": "notes",
    }

    loaded = load_tree(tmp_path, files)

    assert [text.split(",")[0].split(" ")[0] for text in texts(loaded.files, tmp_path)] == ["b", "a", "Build"]
    root = (tmp_path / "project").resolve()
    assert loaded.files[-2].hook_fields == {
        "file_path": str(root / "docs/a.md"),
        "memory_type": "Project",
        "load_reason": "include",
        "parent_file_path": str(root / "CLAUDE.md"),
    }


@requirement("instructions:include:depth")
def test_includes_go_four_deep_and_the_fifth_is_warned_of(tmp_path: Path) -> None:
    files = {f"project/{number}.md": f"file {number} @{number + 1}.md" for number in range(1, 7)}

    loaded = load_tree(tmp_path, {**files, "project/CLAUDE.md": "start @1.md"})

    assert [text.split(" @")[0] for text in texts(loaded.files, tmp_path)] == [
        "file 4", "file 3", "file 2", "file 1", "start"
    ]  # fmt: skip
    assert len(loaded.warnings) == 1
    assert "5.md" in loaded.warnings[0]


@requirement("instructions:include:cycles", "instructions:once")
def test_files_that_include_one_another_are_loaded_once(tmp_path: Path) -> None:
    files = {"project/CLAUDE.md": "one @b.md @CLAUDE.md", "project/b.md": "two @CLAUDE.md @./b.md @docs/../b.md"}
    write_tree(tmp_path, {"project/docs/x": ""})

    loaded = load_tree(tmp_path, files)

    assert names(loaded.files, tmp_path / "project") == ["b.md", "CLAUDE.md"]
    assert (loaded.warnings, loaded.notes) == ((), ())


@requirement("instructions:include:missing")
def test_a_missing_include_is_noted_and_a_package_name_is_not(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, {"project/CLAUDE.md": "Use @scope/pkg, ask @alice. See @docs/gone.md and @img.png"})

    assert texts(loaded.files, tmp_path) == ["Use @scope/pkg, ask @alice. See @docs/gone.md and @img.png"]
    assert loaded.warnings == ()
    assert len(loaded.notes) == 1
    assert "docs/gone.md" in loaded.notes[0]


@requirement("instructions:limits")
def test_only_text_is_taken(tmp_path: Path) -> None:
    write_tree(tmp_path, {"project/CLAUDE.md": "A @pic.png @data.txt @Makefile", "project/Makefile": "all:"})
    (tmp_path / "project/pic.png").write_bytes(b"\x89PNG")
    (tmp_path / "project/data.txt").write_bytes(b"a\0b")

    loaded = load(somewhere(tmp_path))

    assert names(loaded.files, tmp_path / "project") == ["Makefile", "CLAUDE.md"]
    assert "pic.png" in loaded.notes[0]
    assert "data.txt is not text" in loaded.warnings[0]


@requirement("instructions:limits")
def test_a_long_file_is_loaded_with_a_warning_and_a_huge_one_is_not(tmp_path: Path) -> None:
    files = {"project/CLAUDE.md": "x" * 40_001, "project/sub/CLAUDE.md": "y" * 100_001}

    loaded = load_tree(tmp_path, files, "project/sub", file_bytes=100_000)

    assert [len(text) for text in texts(loaded.files, tmp_path)] == [40_001]
    assert len(loaded.warnings) == 2
    assert "40,001 characters" in loaded.warnings[0]
    assert "100,001 bytes" in loaded.warnings[1]


@requirement("instructions:limits")
def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    where = somewhere(tmp_path)
    (tmp_path / "project/CLAUDE.md").mkdir()
    os.mkfifo(tmp_path / "project/AGENTS.md")
    (tmp_path / "project/CLAUDE.local.md").symlink_to("CLAUDE.local.md")

    assert texts(load(where).files, tmp_path) == []


@requirement("instructions:comments")
def test_comments_do_not_reach_the_model(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, {"project/CLAUDE.md": "\ufeff<!-- for us: @x.md -->\r\n# A\r\n`<!-- b -->`\r\n"})

    assert texts(loaded.files, tmp_path) == ["# A\n`<!-- b -->`"]
    assert loaded.notes == ()


@requirement("instructions:outside")
def test_a_file_outside_the_project_waits_for_the_users_word(tmp_path: Path) -> None:
    files = {
        "project/CLAUDE.md": "mine @../secret.md",
        "secret.md": "secret",
        "home/.claude/CLAUDE.md": "@~/ok.md",
        "home/ok.md": "ok",
    }
    loaded = load_tree(tmp_path, files)
    outside = (tmp_path / "secret.md").resolve()

    assert texts(loaded.files, tmp_path) == ["ok", "mine @../secret.md"]
    wanted_by = (tmp_path / "project/CLAUDE.md").resolve()
    assert loaded.waiting == (Outside(outside, wanted_by, InstructionKind.PROJECT, wanted_by.parent, depth=1),)

    agreed = load(replace(loaded.where, allowed=frozenset({outside})))
    assert texts(agreed.files, tmp_path) == ["ok", "secret", "mine @../secret.md"]
    assert agreed.waiting == ()

    refused = load(replace(loaded.where, declined=frozenset({outside})))
    assert texts(refused.files, tmp_path) == ["ok", "mine @../secret.md"]
    assert refused.waiting == ()


@requirement("instructions:outside")
@pytest.mark.parametrize("name", ["CLAUDE.md", "CLAUDE.local.md", ".claude/rules/r.md", "inside.md"])
def test_a_link_out_of_the_project_waits_too(tmp_path: Path, name: str) -> None:
    write_tree(tmp_path, {"secret.md": "secret", "project/.claude/rules/x.md": "@../../inside.md"})
    (tmp_path / "project" / name).symlink_to(tmp_path / "secret.md")

    loaded = load(somewhere(tmp_path))

    assert "secret" not in texts(loaded.files, tmp_path)
    assert [waiting.path for waiting in loaded.waiting] == [(tmp_path / "secret.md").resolve()]


@requirement("instructions:outside")
def test_a_file_of_the_checkout_is_inside_also_when_the_agent_stands_deeper(tmp_path: Path) -> None:
    files = {
        "project/.git/HEAD": "ref: refs/heads/main\n",
        "project/docs/a.md": "a",
        "project/sub/CLAUDE.md": "@../docs/a.md",
    }

    loaded = load_tree(tmp_path, files, "project/sub")

    assert texts(loaded.files, tmp_path) == ["a"]
    assert loaded.waiting == ()


@requirement("instructions:excludes")
def test_excluded_files_are_left_out_but_not_managed_ones(tmp_path: Path) -> None:
    root = (tmp_path / "project").resolve()

    patterns = (f"{root}/{{CLAUDE,AGENTS}}.md", "**/rules/**", "sub/CLAUDE.local.md", "CLAUDE.md")

    loaded = load_tree(tmp_path, FAMILY, "project/sub", excludes=patterns)

    assert texts(loaded.files, tmp_path) == ["host managed", "our managed", "root, local"]


@requirement("instructions:excludes")
def test_what_a_project_excludes_lies_inside_it(tmp_path: Path) -> None:
    files = {**FAMILY, "project/.git/HEAD": "ref: refs/heads/main\n"}
    write_tree(tmp_path, files)
    where = somewhere(tmp_path, "project/sub", excludes=("**/*", "**/sub/**"))

    theirs = load(replace(where, project_excludes=("**/*",)))
    everyone = load(where)

    assert names(theirs.files, tmp_path / "project") == []
    assert {"host managed", "our managed", "user", "user rule", "above"} <= set(texts(theirs.files, tmp_path))
    assert texts(everyone.files, tmp_path) == ["host managed", "our managed"]


@requirement("instructions:order")
def test_a_worktree_inside_its_repository_does_not_load_the_committed_files_twice(tmp_path: Path) -> None:
    admin = "project/.git/worktrees/wt"
    files = {
        "project/.git/HEAD": "ref: refs/heads/main\n",
        f"{admin}/HEAD": "ref: refs/heads/other\n",
        f"{admin}/commondir": "../..\n",
        f"{admin}/gitdir": f"{(tmp_path / 'project/trees/wt/.git').resolve()}\n",
        "project/trees/wt/.git": f"gitdir: {(tmp_path / admin).resolve()}\n",
        "project/CLAUDE.md": "main branch",
        "project/CLAUDE.local.md": "my own",
        "project/trees/wt/CLAUDE.md": "other branch",
    }

    assert texts(load_tree(tmp_path, files, "project/trees/wt").files, tmp_path) == ["my own", "other branch"]


@requirement("instructions:order")
def test_further_folders_are_read_when_the_setting_says_so(tmp_path: Path) -> None:
    files = {"project/CLAUDE.md": "ours", "library/CLAUDE.md": "theirs", "library/sub/CLAUDE.md": "below"}
    write_tree(tmp_path, files)
    for wanted in (False, True):
        where = replace(somewhere(tmp_path, from_additional_directories=wanted), additional=(tmp_path / "library",))
        loaded = load(where)
        assert texts(loaded.files, tmp_path) == (["ours", "theirs"] if wanted else ["ours"])
        assert texts(load_nested(loaded, tmp_path / "library/sub/x").files, tmp_path) == (["below"] if wanted else [])
