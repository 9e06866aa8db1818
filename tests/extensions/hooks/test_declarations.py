from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.extensions.hooks.declarations import HookKind, parse_declaration, parse_hooks
from reverie.extensions.plugins.plugin import Plugin
from reverie.settings import Declaration
from tests.extensions.hooks.making import command, declaration
from tests.requirements import requirement


@requirement("hooks:declared:read")
def test_all_types_become_values() -> None:
    block = {
        "PreToolUse": [
            {
                "matcher": "Bash|Edit",
                "hooks": [
                    command("check", timeout=3, statusMessage="Checking", **{"if": "Bash(git *)"}),
                    command("tool", args=["--x", "${CLAUDE_PROJECT_DIR}"]),
                    {"type": "http", "url": "https://x.test", "headers": {"A": "$K"}, "allowedEnvVars": ["K"]},
                    {"type": "prompt", "prompt": "Is it fine? $ARGUMENTS", "model": "small"},
                    {"type": "agent", "prompt": "Look."},
                    {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"path": "${tool_input.file_path}"}},
                ],
            }
        ],
        "Stop": [{"hooks": [command("later", **{"async": True}), command("wake", asyncRewake=True, once=True)]}],
    }

    found = parse_declaration(declaration(block), root=Path("/plugin"), data=Path("/data"))

    assert found.problems == ()
    kinds = [hook.handler.kind for hook in found.hooks]
    assert kinds == [
        HookKind.COMMAND,
        HookKind.COMMAND,
        HookKind.HTTP,
        HookKind.PROMPT,
        HookKind.AGENT,
        HookKind.MCP_TOOL,
        *[HookKind.COMMAND] * 2,
    ]
    first, second, http, prompt, _, tool, later, wake = found.hooks
    assert (first.matcher, first.timeout_seconds, first.status) == ("Bash|Edit", 3.0, "Checking")
    assert (first.handler.condition, first.handler.args, first.handler.root) == ("Bash(git *)", None, Path("/plugin"))
    assert second.handler.args == ("--x", "${CLAUDE_PROJECT_DIR}")
    assert (http.handler.headers, http.handler.variables) == ((("A", "$K"),), ("K",))
    assert (prompt.handler.model, tool.handler.server, tool.handler.tool) == ("small", "s", "t")
    assert (later.handler.in_background, later.handler.rewakes) == (True, False)
    assert (wake.handler.in_background, wake.handler.rewakes, wake.once) == (True, True, True)


@requirement("hooks:declared:read")
@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"Sotp": []}, "unknown event 'Sotp'"),
        ({"Stop": {}}, "hooks.Stop: expected a list"),
        ({"Stop": [[]]}, "hooks.Stop[0]: expected"),
        ({"Stop": [{"hooks": ["x"]}]}, "hooks.Stop[0]: a hook must be a table"),
        ({"Stop": [{"hooks": [{"type": "pigeon"}]}]}, "`type` is 'pigeon'"),
        ({"Stop": [{"hooks": [{"type": "http"}]}]}, "requires `url`"),
        ({"Stop": [{"hooks": [{"type": "prompt", "prompt": 3}]}]}, "`prompt` must be a string"),
        ({"Stop": [{"hooks": [command("x", timeout=-1)]}]}, "`timeout` must be a positive number"),
        ({"Stop": [{"hooks": [command("x", args="y")]}]}, "`args` must be a list"),
        ({"PreToolUse": [{"matcher": "(", "hooks": [command("x")]}]}, "is not a valid regular expression"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_costs_only_itself(block: dict[str, object], said: str) -> None:
    found = parse_declaration(declaration({**block, "SessionEnd": [{"hooks": [command("good")]}]}, place="f.json:7"))

    assert [hook.handler.command for hook in found.hooks] == ["good"]
    (problem,) = found.problems
    assert problem.startswith("f.json:7: ")
    assert said in problem


@requirement("hooks:declared:read")
def test_the_end_of_an_agent_is_not_the_end_of_the_session() -> None:
    block = {"Stop": [{"hooks": [command("x")]}]}

    assert parse_declaration(declaration(block), of_agent=True).hooks[0].event == "SubagentStop"
    assert parse_declaration(declaration(block)).hooks[0].event == "Stop"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["Stop", "hooks", "matcher", "type", "command", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@requirement("hooks:declared:read")
@given(json_values)
def test_whatever_a_file_says_it_is_read_or_named(value: object) -> None:
    found = parse_declaration(Declaration(source="user", place="p", committed=False, text=json.dumps(value)))

    assert all(problem.startswith("p: ") for problem in found.problems)


@requirement("hooks:declared:real")
def test_the_hooks_of_real_plugins_and_projects_are_read(shared_data: Path) -> None:
    counts: dict[str, int] = {}
    files = [*shared_data.rglob("hooks/hooks.json"), *shared_data.rglob(".claude-plugin/plugin.json")]
    for path in sorted([*files, *shared_data.rglob(".claude/settings.json")]):
        block = json.loads(path.read_text(encoding="utf-8")).get("hooks")
        if block is None:
            continue
        text = json.dumps(block)
        found = parse_declaration(Declaration(source="plugin", place=str(path), committed=False, text=text))
        assert found.problems == ()
        counts[path.relative_to(shared_data / "claude_md").parts[0]] = len(found.hooks)

    assert counts == {
        "claude-agent-sdk-python": 1,
        "claude-mem": 7,
        "claude-reliability": 4,
        "episodic-memory": 1,
        "mem0-plugin": 11,
        "reme": 1,
    }


@requirement("hooks:declared:read")
def test_hooks_of_settings_and_plugins_come_together(tmp_path: Path) -> None:
    plugin = Plugin("p", tmp_path, tmp_path / "data", hooks=(declaration({"Stop": [{"hooks": [command("b")]}]}),))

    own, brought = parse_hooks([declaration({"Stop": [{"hooks": [command("a")]}]})], [plugin])

    assert (own.hooks[0].handler.command, own.hooks[0].handler.root) == ("a", None)
    assert (brought.hooks[0].handler.command, brought.hooks[0].handler.root) == ("b", tmp_path)
