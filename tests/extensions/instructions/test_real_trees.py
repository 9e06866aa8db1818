"""Real projects of others: what loads is what somebody who knows the files would expect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.extensions.instructions import Loaded, LoadReason, load, load_nested
from tests.extensions.instructions.trees import load_tree, names, somewhere, texts
from tests.requirements import requirement

AT_THE_START = {
    "bookminder": ["CLAUDE.md", "AGENTS.md"],
    "claude-agent-sdk-python": ["CLAUDE.md"],
    "claude-mem": [],
    "claude-reliability": ["CLAUDE.md"],
    "episodic-memory": ["CLAUDE.md"],
    "letta-code": ["AGENTS.md"],
    "mcp-python-sdk": ["AGENTS.md"],
    "mem0-plugin": [],
    "mini-swe-agent": ["AGENTS.md"],
    "pydantic-ai": ["AGENTS.md"],
    "reme": ["AGENTS.md"],
}
"""The files that say something; those that only point at another are loaded too."""


def load_there(folder: Path, tmp_path: Path) -> Loaded:
    return load(replace(somewhere(tmp_path), directory=folder))


@pytest.fixture
def trees(shared_data: Path) -> Path:
    return shared_data / "claude_md"


@requirement("instructions:real-trees")
def test_no_tree_is_forgotten(trees: Path) -> None:
    assert sorted(path.name for path in trees.iterdir() if path.is_dir()) == sorted(AT_THE_START)


@requirement("instructions:real-trees", "instructions:agents-md")
@pytest.mark.parametrize("name", AT_THE_START)
def test_a_project_says_each_thing_once_and_raises_no_question(trees: Path, tmp_path: Path, name: str) -> None:
    loaded = load_there(trees / name, tmp_path)
    speaking = [file for file in loaded.files if file.text]

    assert names(speaking, trees / name) == AT_THE_START[name]
    assert (loaded.warnings, loaded.notes, loaded.waiting) == ((), (), ())
    for file in speaking:
        assert len(file.text) > 500
        assert file.text.strip() in file.path.read_text(encoding="utf-8") or "<!--" in file.path.read_text(
            encoding="utf-8"
        )


@requirement("instructions:real-trees", "instructions:include")
@pytest.mark.parametrize("name", ["mcp-python-sdk", "mini-swe-agent", "letta-code", "pydantic-ai", "reme"])
def test_a_file_that_points_at_agents_md_counts_as_loaded_and_says_nothing(
    trees: Path, tmp_path: Path, name: str
) -> None:
    files = [file for file in load_there(trees / name, tmp_path).files if file.path.is_relative_to(trees.resolve())]

    assert [(file.path.name, bool(file.text), file.reason) for file in files] == [
        ("AGENTS.md", True, LoadReason.INCLUDE),
        ("CLAUDE.md", False, LoadReason.SESSION_START),
    ]


@requirement("instructions:real-trees", "instructions:nested")
@pytest.mark.parametrize(
    ("name", "touched", "brought"),
    [
        ("letta-code", "src/channels/slack/media.ts", ["src/channels/AGENTS.md", "src/channels/slack/AGENTS.md"]),
        ("letta-code", "src/index.ts", []),
        ("pydantic-ai", "docs/realtime/overview.md", ["docs/AGENTS.md", "docs/realtime/AGENTS.md"]),
        ("pydantic-ai", ".github/workflows/ci.yml", [".github/workflows/AGENTS.md"]),
        ("pydantic-ai", "tests/test_agent.py", ["tests/AGENTS.md"]),
        (
            "pydantic-ai",
            "pydantic_ai_slim/pydantic_ai/models/openai.py",
            ["pydantic_ai_slim/pydantic_ai/AGENTS.md", "pydantic_ai_slim/pydantic_ai/models/AGENTS.md"],
        ),
        ("claude-agent-sdk-python", "examples/plugins/demo-plugin/commands/greet.md", []),
    ],
)
def test_a_touched_file_brings_what_its_folders_say(
    trees: Path, tmp_path: Path, name: str, touched: str, brought: list[str]
) -> None:
    loaded = load_there(trees / name, tmp_path)

    more = load_nested(loaded, trees / name / touched)

    assert names((file for file in more.files if file.text), trees / name) == brought
    assert (more.warnings, more.notes, more.waiting) == ((), (), ())


@requirement("instructions:real-trees", "instructions:comments")
def test_comments_of_tools_are_gone_and_the_rules_between_them_stay(trees: Path, tmp_path: Path) -> None:
    models = trees / "pydantic-ai" / "pydantic_ai_slim/pydantic_ai/models"
    raw = (models / "AGENTS.md").read_text(encoding="utf-8")
    loaded = load_there(models, tmp_path)

    (said,) = [text for text in texts(loaded.files, models) if text]

    assert raw.count("<!-- rule:") > 5
    assert "<!--" not in said
    kept = [line for line in raw.splitlines() if line.strip() and not line.startswith("<!--")]
    assert [line for line in said.splitlines() if line.strip()] == kept


@requirement("instructions:real-trees", "instructions:order")
def test_standing_deep_in_a_project_gives_its_levels_in_order(trees: Path, tmp_path: Path) -> None:
    loaded = load_there(trees / "pydantic-ai" / "docs" / "realtime", tmp_path)

    speaking = names((file for file in loaded.files if file.text), trees / "pydantic-ai")

    assert speaking == ["AGENTS.md", "docs/AGENTS.md", "docs/realtime/AGENTS.md"]


OUR_TREE = {
    "project/CLAUDE.md": "@AGENTS.md\n",
    "project/AGENTS.md": """# Ledger

<!-- kept by the platform team -->

- Run `make test` before a commit.
<!-- rule:17 -->
- Amounts are integers of cents.
""",
    "project/docs/AGENTS.md": "# Documents\n\nOne sentence to a line.\n",
    "project/docs/api/AGENTS.md": "# API pages\n\nEvery page has an example.\n",
    "project/docs/api/CLAUDE.md": "@AGENTS.md\n",
    "project/.claude/rules/sql.md": "---\npaths: '**/*.sql'\n---\nKeywords in capitals.\n",
    "project/examples/plugin/commands/greet.md": "---\ndescription: Greets\n---\nSay hello.\n",
    "project/src/main.py": "print()\n",
}
"""As projects have it: one file for all agents, one that points at it, folders with more, comments of tools."""


@requirement("instructions:real-trees")
def test_a_tree_in_the_manner_of_real_ones_loads_as_expected(tmp_path: Path) -> None:
    loaded = load_tree(tmp_path, OUR_TREE)
    project = tmp_path / "project"

    assert [(file.path.name, bool(file.text), file.reason) for file in loaded.files] == [
        ("AGENTS.md", True, LoadReason.INCLUDE),
        ("CLAUDE.md", False, LoadReason.SESSION_START),
    ]
    (said,) = texts(loaded.files, project)
    assert [line for line in said.splitlines() if line] == [
        "# Ledger",
        "- Run `make test` before a commit.",
        "- Amounts are integers of cents.",
    ]
    for touched, brought in {
        "docs/api/accounts.md": ["docs/AGENTS.md", "docs/api/AGENTS.md"],
        "src/report.sql": [".claude/rules/sql.md"],
        "src/main.py": [],
        "examples/plugin/commands/greet.md": [],
    }.items():
        more = load_nested(loaded, project / touched)
        assert names((file for file in more.files if file.text), project) == brought
        assert (more.warnings, more.notes, more.waiting) == ((), (), ())
    deep = load(replace(somewhere(tmp_path), directory=project / "docs" / "api"))
    assert names((file for file in deep.files if file.text), project) == [
        "AGENTS.md",
        "docs/AGENTS.md",
        "docs/api/AGENTS.md",
    ]
