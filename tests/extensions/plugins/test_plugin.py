from __future__ import annotations

import json
from pathlib import Path

from reverie.extensions.json_file import Unread
from reverie.extensions.plugins.plugin import Plugin, read_plugin
from tests.requirements import requirement


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def read(root: Path, **environment: str) -> Plugin:
    found = read_plugin(root, data=root.parent / "data", project=root.parent / "project", environment=environment)
    assert isinstance(found, Plugin), found
    return found


@requirement("plugins:parts:read")
def test_parts_lie_in_their_folders_and_where_the_manifest_says(tmp_path: Path) -> None:
    root = tmp_path / "plug"
    write(root / "skills" / "a" / "SKILL.md", "x")
    write(root / "more" / "b" / "SKILL.md", "x")
    write(root / "commands" / "c.md", "x")
    write(root / "agents" / "d.md", "x")
    write(root / "hooks" / "hooks.json", {"description": "d", "hooks": {"Stop": []}})
    write(root / "other.json", {"SessionEnd": []})
    write(
        root / ".mcp.json", {"mcpServers": {"one": {"command": "file"}, "two": {"command": "${CLAUDE_PLUGIN_ROOT}/x"}}}
    )
    manifest = {
        "name": "plug",
        "version": "1.2",
        "description": "says",
        "skills": ["./skills/", "./more"],
        "agents": "./agents/d.md",
        "hooks": ["./other.json", {"PreCompact": []}],
        "mcpServers": {"one": {"command": "${KEY}"}},
    }
    write(root / ".claude-plugin" / "plugin.json", manifest)

    found = read(root, KEY="k")

    assert (found.name, found.version, found.description, found.problems) == ("plug", "1.2", "says", ())
    assert found.skills == (root / "skills", root / "more")
    assert found.commands == (root / "commands",)
    assert found.agents == (root / "agents", root / "agents" / "d.md")
    assert [json.loads(hooks.text) for hooks in found.hooks] == [{"Stop": []}, {"SessionEnd": []}, {"PreCompact": []}]
    assert {hooks.source for hooks in found.hooks} == {"plugin"}
    one, two = found.servers.ready
    assert (one.name, one.command, one.tool_prefix) == ("plugin:plug:one", "k", "mcp__plugin_plug_one__")
    assert two.command == f"{root}/x"
    assert dict(two.env)["CLAUDE_PLUGIN_ROOT"] == str(root)


@requirement("plugins:parts:inside")
def test_nothing_a_plugin_names_lies_outside_its_folder(tmp_path: Path) -> None:
    root, outside = tmp_path / "plug", tmp_path / "outside"
    write(outside / "SKILL.md", "x")
    write(outside / "hooks.json", {"hooks": {"Stop": []}})
    root.mkdir()
    (root / "commands").symlink_to(outside)
    (root / "hooks").symlink_to(outside)
    (root / ".mcp.json").symlink_to(outside / "hooks.json")
    manifest = {
        "name": "plug",
        "skills": ["../outside", str(outside)],
        "agents": "./commands",
        "hooks": "./hooks/hooks.json",
    }
    write(root / ".claude-plugin" / "plugin.json", manifest)

    found = read(root)

    assert (found.skills, found.commands, found.agents, found.hooks, found.servers.ready) == ((), (), (), (), ())
    assert len(found.problems) >= 6


@requirement("plugins:parts:broken")
def test_a_broken_part_costs_only_itself(tmp_path: Path) -> None:
    root = tmp_path / "plug"
    write(root / "hooks" / "hooks.json", "{")
    write(root / ".mcp.json", {"mcpServers": {"bad": {}, "good": {"command": "x"}}})
    write(root / ".claude-plugin" / "plugin.json", {"name": "plug", "skills": "./gone"})

    found = read(root)

    assert [server.name for server in found.servers.ready] == ["plugin:plug:good"]
    assert any("hooks.json:1: not valid JSON" in problem for problem in found.problems)
    assert any("'./gone', which does not exist" in problem for problem in found.problems)


@requirement("plugins:parts:broken")
def test_a_plugin_without_a_manifest_has_the_name_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "plug" / "skills").mkdir(parents=True)

    assert read(tmp_path / "plug").name == "plug"


@requirement("plugins:parts:broken")
def test_a_manifest_that_is_no_manifest_is_named(tmp_path: Path) -> None:
    for content in ("[]", "{", {"name": "a/b"}, {"name": 3}):
        write(tmp_path / "plug" / ".claude-plugin" / "plugin.json", content)
        found = read_plugin(tmp_path / "plug", data=tmp_path, project=tmp_path, environment={})
        assert isinstance(found, Unread)
        assert "plugin.json" in found.sentence


@requirement("plugins:parts:read")
def test_real_plugins_are_read_whole(shared_data: Path) -> None:
    found: dict[str, Plugin] = {}
    for manifest in sorted(shared_data.rglob(".claude-plugin/plugin.json")):
        plugin = read(manifest.parent.parent, MEM0_API_KEY="k")
        found[plugin.name] = plugin

    assert sorted(found) == ["claude-mem", "claude-reliability", "demo-plugin", "episodic-memory", "mem0", "reme"]
    assert {name for name, plugin in found.items() if plugin.hooks} == set(found) - {"demo-plugin"}
    assert [server.name for server in found["episodic-memory"].servers.ready] == [
        "plugin:episodic-memory:episodic-memory"
    ]
    assert found["episodic-memory"].servers.ready[0].args[0].startswith(str(found["episodic-memory"].root))
    assert found["demo-plugin"].commands
    # The samples hold only some of the files that their manifests name.
    assert all("does not exist" in problem for plugin in found.values() for problem in plugin.problems)
