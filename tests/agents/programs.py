"""The agents of other vendors as programs: pinned versions, where they are installed, how one turn is run.

`python -m tests.agents.install` brings them. Each runs headless, with a home of its own and the simulator as its model.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie.testing.simulator import RunningSimulator

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "agents"
MODEL = "gpt-5.4"
TIMEOUT_SECONDS = 240.0
NODE_MAJOR = 22
"""What the newest of the programs ask for."""
NODE_VERSION = "22.23.3"


@dataclass(frozen=True)
class NpmPackage:
    """A program from npm."""

    name: str
    package: str
    version: str
    command: str

    @property
    def directory(self) -> Path:
        return CACHE / self.name / self.version

    @property
    def path(self) -> Path:
        return self.directory / "node_modules" / ".bin" / self.command


AGENTS = (
    NpmPackage("codex", "@openai/codex", "0.169.0", "codex"),
    NpmPackage("copilot", "@github/copilot", "1.0.102", "copilot"),
    NpmPackage("opencode", "opencode-ai", "1.18.33", "opencode"),
    NpmPackage("qwen", "@qwen-code/qwen-code", "0.24.4", "qwen"),
    NpmPackage("gemini", "@google/gemini-cli", "0.61.0", "gemini"),
)

INSPECTOR = NpmPackage("inspector", "@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector")
"""No agent: the protocol's own client for the command line."""


def node_package() -> NpmPackage:
    """A Node of our own, for machines whose Node is older than the programs ask for."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return NpmPackage("node", f"node-{sys.platform}-{machine}", NODE_VERSION, "node")


@cache
def has_new_node() -> bool:
    """Whether the Node of this machine is new enough."""
    node = shutil.which("node")
    if node is None:
        return False
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
    return int(version.strip().removeprefix("v").partition(".")[0] or 0) >= NODE_MAJOR


def claude_program() -> Path | None:
    """Claude Code, which comes with its SDK for Python."""
    package = importlib.util.find_spec("claude_agent_sdk")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "_bundled" / "claude"
    return path if path.is_file() and os.access(path, os.X_OK) else None


def find_program(agent: str) -> Path | None:
    """The program of an agent, or None where it could not be had."""
    if agent == "claude-code":
        return claude_program()
    path = next(package.path for package in AGENTS if package.name == agent)
    return path if path.exists() else None


def search_path() -> str:
    """Where programs are looked for: the agents, a Node that is new enough, then the rest of the machine."""
    own = [str(package.path.parent) for package in AGENTS if package.path.exists()]
    claude = claude_program()
    own += [str(claude.parent)] if claude else []
    node = node_package().directory / "node_modules" / node_package().package / "bin"
    if node.is_dir():
        own.append(str(node))
    return os.pathsep.join([*own, os.environ["PATH"]])


def write_settings(agent: str, home: Path, provider: RunningSimulator) -> None:
    """What a user would have written to make the simulator the agent's model; nothing of ours."""
    match agent:
        case "codex":
            _write(
                home / ".codex/config.toml",
                f'model = "{MODEL}"\nmodel_provider = "sim"\n\n[model_providers.sim]\nname = "sim"\n'
                f'base_url = "{provider.base_url}/v1"\nwire_api = "responses"\nenv_key = "SIMULATOR_KEY"\n',
            )
        case "opencode":
            options = {"baseURL": f"{provider.base_url}/v1", "apiKey": provider.api_key}
            limits = {"limit": {"context": 200_000, "output": 8_000}}
            served = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {MODEL: limits}}
            _write_json(
                home / ".config/opencode/opencode.json",
                {"model": f"sim/{MODEL}", "small_model": f"sim/{MODEL}", "provider": {"sim": served}},
            )
        case "qwen":
            auth = {"security": {"auth": {"selectedType": "openai"}}}
            quiet = {"general": {"disableAutoUpdate": True}, "memory": {"enableManagedAutoMemory": False}}
            _write_json(home / ".qwen/settings.json", {**auth, **quiet})
        case "gemini":
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            _write_json(home / ".gemini/settings.json", {**auth, "general": {"disableAutoUpdate": True}})
        case _:
            pass


def environment_of(agent: str, home: Path, provider: RunningSimulator) -> dict[str, str]:
    """The environment of a turn: exactly this, nothing of the machine's user."""
    url, key = provider.base_url, provider.api_key
    own: dict[str, dict[str, str]] = {
        "claude-code": {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        "codex": {"SIMULATOR_KEY": key},
        "copilot": {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": key,
            "COPILOT_MODEL": MODEL,
            "COPILOT_OFFLINE": "true",
        },
        "opencode": {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        "qwen": {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": key, "OPENAI_MODEL": MODEL},
        "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key},
    }
    return {"PATH": search_path(), "HOME": str(home), "LANG": "C.UTF-8", **own[agent]}


def turn_arguments(agent: str, prompt: str, session: str = "") -> Sequence[str]:
    """The arguments of one turn, of a new session or of the one with this id."""
    match agent:
        case "claude-code":
            return ("-p", prompt, *(("--resume", session) if session else ()))
        case "codex":
            # Hooks wait for the user's approval in `/hooks`, which nobody gives headless; this stands for it.
            bypass = ("--skip-git-repo-check", "--dangerously-bypass-hook-trust")
            return ("exec", *bypass, *(("resume", session) if session else ()), prompt)
        case "copilot":
            return ("-p", prompt, "--allow-all-tools", *((f"--resume={session}",) if session else ()))
        case "opencode":
            return ("run", *(("--session", session) if session else ("--title", "t")), prompt)
        case "qwen":
            return (*(("--resume", session) if session else ()), "--approval-mode", "yolo", prompt)
        case "gemini":
            approved = ("--skip-trust", "--approval-mode", "yolo")
            return (*approved, *(("--resume", session) if session else ()), "-p", prompt)
        case _:
            raise KeyError(agent)


def compaction_arguments(agent: str, session: str, prompt: str) -> Sequence[Sequence[str]]:
    """The turns that compact a session and then go on with a prompt."""
    go_on = turn_arguments(agent, prompt, session)
    match agent:
        case "codex":
            # It has no command for this headless; a low limit makes it compact before the next turn.
            return ((go_on[0], "--config", "model_auto_compact_token_limit=5000", *go_on[1:]),)
        case "opencode":
            # Likewise; the limit is in `SMALL_WINDOW`, and a long prompt reaches it.
            return (turn_arguments(agent, f"{'and so on, ' * 1_500}{prompt}", session),)
        case "qwen":
            return (turn_arguments(agent, "/compress", session), go_on)
        case _:
            return (turn_arguments(agent, "/compact", session), go_on)


SMALL_WINDOW = {
    "opencode": {
        "OPENCODE_CONFIG_CONTENT": json.dumps(
            {"provider": {"sim": {"models": {MODEL: {"limit": {"context": 12_500, "output": 1_000}}}}}}
        )
    }
}
"""Variables that make a session of an agent full soon."""


def run_turn(
    agent: str,
    home: Path,
    project: Path,
    provider: RunningSimulator,
    arguments: Sequence[str],
    variables: Mapping[str, str] | None = None,
) -> str:
    """What the program prints for these arguments; it must end well."""
    program = find_program(agent)
    assert program is not None
    done = subprocess.run(
        [str(program), *arguments],
        env={**environment_of(agent, home, provider), **(variables or {})},
        cwd=project,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_json(path: Path, document: object) -> None:
    _write(path, json.dumps(document, indent=2) + "\n")
