from __future__ import annotations

import json
from pathlib import Path

import pytest

from reverie.extensions.plugins.installed import Plugins, list_plugins
from reverie.files.places import Places
from tests.requirements import requirement


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


class Home:
    def __init__(self, root: Path) -> None:
        self.places = Places.at(root / ".reverie", root / ".claude")
        self.project = root / "project"
        self.project.mkdir()
        self.cache = root / ".claude" / "plugins" / "cache"

    def enable(self, *labels: str, file: str = "user", on: bool = True) -> None:
        path = {
            "user": self.places.config_home / "settings.json",
            "project": self.project / ".claude" / "settings.json",
            "local": self.project / ".claude" / "settings.local.json",
        }[file]
        write(path, {"enabledPlugins": dict.fromkeys(labels, on)})

    def install(self, root: Path, name: str, version: str = "") -> Path:
        write(root / ".claude-plugin" / "plugin.json", {"name": name, "version": version})
        return root

    def list(self, *, flags: tuple[Path, ...] = (), trusted: bool = False) -> Plugins:
        return list_plugins(
            places=self.places,
            project=self.project,
            environment={},
            flags=flags,
            project_is_trusted=trusted,
        )


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@requirement("plugins:found:enabled")
def test_the_newest_version_of_the_cache_counts(home: Home) -> None:
    for version in ("1.9.0", "1.10.0", "1.10.1-beta", "2.0.0"):
        home.install(home.cache / "market" / "tool" / version, "tool", version)
    (home.cache / "market" / "tool" / "2.0.0" / ".orphaned_at").touch()
    home.enable("tool@market")

    (plugin,) = home.list().plugins

    assert plugin.version == "1.10.1-beta"
    assert plugin.data == home.places.home / "plugin-data" / "tool-market"


@requirement("plugins:found:enabled")
def test_the_registry_says_where_a_plugin_lies(home: Home, tmp_path: Path) -> None:
    root = home.install(tmp_path / "elsewhere", "tool", "3")
    home.install(home.cache / "market" / "tool" / "9", "tool", "9")
    registry = {"version": 2, "plugins": {"tool@market": [{"scope": "user", "installPath": str(root)}]}}
    write(home.places.config_home / "plugins" / "installed_plugins.json", registry)
    home.enable("tool@market")

    assert [plugin.version for plugin in home.list().plugins] == ["3"]


@requirement("plugins:found:enabled")
def test_a_marketplace_holds_plugins_of_its_own(home: Home) -> None:
    market = home.places.config_home / "plugins" / "marketplaces" / "market"
    listed = [{"name": "tool", "source": "./plugins/tool"}, {"name": "out", "source": "../../../.."}]
    write(market / ".claude-plugin" / "marketplace.json", {"name": "market", "plugins": listed})
    home.install(market / "plugins" / "tool", "tool", "5")
    home.enable("tool@market", "out@market", "gone@market", "../x@market")

    found = home.list()

    assert [plugin.version for plugin in found.plugins] == ["5"]
    assert len(found.problems) == 3


@requirement("plugins:found:enabled")
def test_folders_of_flags_go_before_our_home_and_that_before_the_host(home: Home, tmp_path: Path) -> None:
    flag = home.install(tmp_path / "here", "tool", "flag")
    home.install(home.places.home / "plugins" / "tool", "tool", "home")
    home.install(home.cache / "market" / "tool" / "1", "tool", "host")
    home.enable("tool@market")

    assert [plugin.version for plugin in home.list(flags=(flag,)).plugins] == ["flag"]
    found = home.list()
    assert [plugin.version for plugin in found.plugins] == ["home"]
    assert "has the same name" in found.problems[0]


@requirement("plugins:found:trust")
def test_a_project_switches_a_plugin_on_only_when_it_is_trusted(home: Home) -> None:
    home.install(home.cache / "market" / "tool" / "1", "tool", "1")
    home.enable("tool@market", file="project")

    assert home.list().plugins == ()
    assert "until you trust the project" in home.list().problems[0]
    assert len(home.list(trusted=True).plugins) == 1

    home.enable(file="project")
    home.enable("tool@market", file="local")
    assert home.list().plugins == (), "nobody knows who wrote a local file"
    assert len(home.list(trusted=True).plugins) == 1


@requirement("plugins:found:trust")
def test_a_project_may_always_switch_a_plugin_off(home: Home) -> None:
    home.install(home.cache / "market" / "tool" / "1", "tool", "1")
    home.enable("tool@market")
    assert len(home.list().plugins) == 1

    home.enable("tool@market", file="project", on=False)
    assert home.list() == Plugins()


@requirement("plugins:parts:broken")
def test_a_broken_plugin_is_named_and_the_others_stay(home: Home, tmp_path: Path) -> None:
    write(home.places.home / "plugins" / "bad" / ".claude-plugin" / "plugin.json", "{")
    home.install(home.places.home / "plugins" / "good", "good")

    found = home.list(flags=(tmp_path / "nowhere",))

    assert [plugin.name for plugin in found.plugins] == ["good"]
    assert [problem.split(" is not loaded")[0] for problem in found.problems] == ["plugin 'nowhere'", "plugin 'bad'"]
