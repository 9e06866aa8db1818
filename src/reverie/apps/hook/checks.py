"""What `reverie doctor` says about other agents: hooks that do not fire, hooks that run twice, unknown formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reverie.apps.hook.state import HookFolder
from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.hosts.catalogue import READERS, list_host_glances
from reverie.hosts.install.edits import JsonHooks
from reverie.hosts.install.json_text import read_json
from reverie.hosts.install.launcher import hook_launcher
from reverie.hosts.install.ledger import Ledger
from reverie.hosts.install.targets import Surroundings, find_target
from reverie.memory.doctor import Problem
from reverie.messages.listing import Glance, list_glances

_PATIENCE = timedelta(minutes=5)
"""A session that is newer than the last call by this much was held without hooks."""
_HOOKED = ("claude-code", "codex", "copilot", "opencode", "qwen")
_PLUGIN = "reverie@reverie"


def find_agent_problems(places: Places, around: Surroundings) -> tuple[Problem, ...]:
    """Everything that is wrong with the installations for other agents."""
    ledger = Ledger(places.home)
    installed = dict.fromkeys(agent for agent, _, _ in ledger.list_agents())
    if not installed:
        return ()
    folder = HookFolder(places.home)
    glances = {agent: _list_sessions(places, agent) for agent in installed}
    checks = (
        _find_missing_launcher(places.home),
        _find_silent(ledger, folder, glances),
        _find_doubled(folder, around, installed),
        _find_unknown(glances),
    )
    return tuple(problem for check in checks for problem in check)


def _find_missing_launcher(home: Path) -> Iterator[Problem]:
    path = hook_launcher(home)
    if not path.is_file():
        detail = "the launcher that hooks of other agents start is missing"
        yield Problem("launcher", str(path), detail, "`reverie doctor --fix`", is_fixable=True)


def _find_silent(ledger: Ledger, folder: HookFolder, glances: dict[str, list[Glance]]) -> Iterator[Problem]:
    """Hooks that were not called although sessions began since they were installed."""
    for agent, sessions in glances.items():
        if agent not in _HOOKED:
            continue
        called = folder.calls / agent
        since = datetime.fromisoformat(ledger.installed_since(agent))
        with suppress(OSError):
            since = max(since, datetime.fromtimestamp(called.stat().st_mtime, UTC))
        newest = max((moment for one in sessions if (moment := _moment(one.created or one.updated))), default=None)
        if newest is None or newest <= since + _PATIENCE:
            continue
        fix = f"`reverie install {agent}`, then start a new session; see {folder.log_file}"
        if agent == "codex":
            fix = "start `codex`, type /hooks, and approve the hooks of reverie; changed hooks must be approved again"
        detail = f"hooks of {agent} are installed, but a session of {newest:%Y-%m-%d %H:%M} did not call them"
        yield Problem("hook-silent", str(called), detail, fix)


def _find_doubled(folder: HookFolder, around: Surroundings, installed: Collection[str]) -> Iterator[Problem]:
    for path in sorted(folder.calls.glob("*.runs-*")) if folder.calls.is_dir() else ():
        caller, _, owner = path.name.partition(".runs-")
        detail = f"{caller} runs the hooks that were installed for {owner} too; each prompt is answered once"
        fix = f"`reverie install {owner} --project --remove` in that project, or leave it"
        yield Problem("hook-doubled", str(path), detail, fix)
    for agent in ("claude-code", "codex", "qwen"):
        for file in find_target(agent, around).files:
            hooks = [edit for edit in file.edits if isinstance(edit, JsonHooks)]
            text = _read(file.path)
            if text and hooks and _is_in(hooks[0], text, file.path) and _has_plugin(around.settings_home(agent)):
                detail = f"{agent} has the hooks both in this file and as the plugin {_PLUGIN}"
                yield Problem("hook-doubled", str(file.path), detail, f"`reverie install {agent} --remove`")
    claude = around.settings_home("claude-code") / "CLAUDE.md"
    if "opencode" in installed and "<!-- reverie:" in _read(claude):
        detail = "opencode reads this file, which holds memories, beside the index that its plugin adds"
        yield Problem("hook-doubled", str(claude), detail, "set OPENCODE_DISABLE_CLAUDE_CODE_PROMPT=1 for opencode")


def _find_unknown(glances: dict[str, list[Glance]]) -> Iterator[Problem]:
    for agent, sessions in glances.items():
        kinds = Counter[str]()
        for session in sessions:
            kinds.update(session.unknown)
        if kinds:
            named = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(5))
            path = next(str(one.path) for one in sessions if one.unknown)
            detail = f"sessions of {agent} hold records of kinds that are not known: {named}"
            yield Problem("unknown-format", path, detail, "update Reverie; all other records are read")


def _list_sessions(places: Places, agent: str) -> list[Glance]:
    if agent == "claude-code":
        folders = places.host_projects
        return list_glances(sorted(folders.iterdir())) if folders.is_dir() else []
    return list_host_glances(places, [agent]) if agent in READERS else []


def _has_plugin(home: Path) -> bool:
    names = ("settings.json", "config.toml", "plugins/installed_plugins.json")
    return any(_PLUGIN in _read(home / name) for name in names) or (home / "extensions/reverie").is_dir()


def _is_in(hooks: JsonHooks, text: str, path: Path) -> bool:
    try:
        return isinstance(read_json(text, str(path)), dict) and hooks.stands_in(text, str(path))
    except UserMistake:
        return False


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
