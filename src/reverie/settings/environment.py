"""Settings from the environment: `REVERIE_<AREA>_<FIELD>` for every key, and names that people already use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from reverie.settings.layers import REMOVED, Given
from reverie.settings.schema import PREFIX, KeyPath, find_by_variable, keys

ASKED_BY = "REVERIE_ASKED_BY"
"""Set where we run the program of another agent as a model: our hooks keep quiet in it."""
_Meaning: TypeAlias = Callable[[str], Mapping[KeyPath, str]]
"""What the text of a variable says, as the texts of keys."""


def _sets(*path: str) -> _Meaning:
    return lambda text: {path: text}


def _when_true(**switches: str) -> _Meaning:
    """Keys, with `__` for the dot, that are set when the variable is on."""
    values = {tuple(name.split("__")): value for name, value in switches.items()}
    return lambda text: values if text.lower() not in ("0", "false", "no", "off") else {}


def _switch_hooks(text: str) -> Mapping[KeyPath, str]:
    return {("companion", "enabled"): "false" if text.lower() in ("0", "false", "no", "off") else "true"}


def _disable_memory(text: str) -> Mapping[KeyPath, str]:
    """On turns memory off; an explicit off asks for memory against a file's word."""
    if text.lower() in ("0", "false", "no", "off"):
        return {("memory", "enabled"): "true"}
    return {("memory", "disabled"): text}


OTHER_NAMES: Mapping[str, _Meaning] = {
    "CLAUDE_CONFIG_DIR": _sets("config_home"),
    "CLAUDE_CODE_PROJECT_DIR_NAME": _sets("project_dir_name"),
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": _disable_memory,
    "CLAUDE_CODE_SIMPLE": _when_true(simple_mode="true"),
    "CLAUDE_CODE_REMOTE": _when_true(remote__mode="true"),
    "CLAUDE_CODE_REMOTE_MEMORY_DIR": _sets("remote", "memory_dir"),
    "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": _sets("memory", "path_override"),
    "CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES": _sets("memory", "extra_guidelines"),
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": _when_true(instructions__enabled="false", memory__disabled="true"),
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": _sets("instructions", "from_additional_directories"),
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW": _sets("compaction", "auto_window_tokens"),
    "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": _sets("compaction", "auto_percent"),
    "DISABLE_AUTO_COMPACT": _when_true(compaction__auto="false"),
    "DISABLE_COMPACT": _when_true(compaction__enabled="false"),
    "ANTHROPIC_BASE_URL": _sets("model", "anthropic_base_url"),
    "OPENAI_BASE_URL": _sets("model", "openai_base_url"),
    "REVERIE_MODEL": _sets("model", "default"),
    "REVERIE_DISABLE_AUTO_MEMORY": _disable_memory,
    "REVERIE_AUTO_COMPACT_WINDOW": _sets("compaction", "auto_window_tokens"),
    "REVERIE_HOOKS": _switch_hooks,
    "REVERIE_ASKED_BY": _when_true(companion__enabled="false"),
    "REVERIE_CONTEXT_COLLAPSE": _sets("collapse", "enabled"),
}
"""Names beside the systematic ones; where two say the same, the later one here counts."""


def agent_homes(environ: Mapping[str, str], user_home: Path) -> dict[str, tuple[Path, ...]]:
    """Where other agents keep their sessions: what their own variables say, else the usual places."""

    def home(variable: str, usual: str, tail: str = "") -> Path:
        return Path(environ[variable], tail) if environ.get(variable) else user_home / usual / tail

    database = environ.get("OPENCODE_DB", "")
    opencode = home("XDG_DATA_HOME", ".local/share", "opencode")
    goose = home("XDG_DATA_HOME", ".local/share", "goose")
    editor = [user_home / ".config/Code/User", user_home / "Library/Application Support/Code/User"]
    if environ.get("APPDATA"):
        goose = Path(environ["APPDATA"], "Block/goose/data")
        editor.append(Path(environ["APPDATA"], "Code/User"))
    if environ.get("GOOSE_PATH_ROOT"):
        goose = Path(environ["GOOSE_PATH_ROOT"])
    extensions = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
    return {
        "codex": (home("CODEX_HOME", ".codex"),),
        "copilot": (home("COPILOT_HOME", ".copilot"),),
        "opencode": (opencode, *([Path(database)] if Path(database).is_absolute() else ())),
        "qwen": (Path(environ.get("QWEN_RUNTIME_DIR") or home("QWEN_HOME", ".qwen")),),
        "gemini": (home("GEMINI_CLI_HOME", "", ".gemini"),),
        "antigravity": (user_home / ".gemini",),
        "cline": (
            home("CLINE_DATA_DIR", ".cline/data"),
            *(folder / "globalStorage" / name for folder in editor for name in extensions),
        ),
        "goose": (goose,),
        "cursor": (home("CURSOR_CONFIG_DIR", ".cursor"),),
    }


def agent_memories(environ: Mapping[str, str], user_home: Path, project: Path, slug: str) -> dict[str, Path]:
    """Where other agents keep their memory files; `slug` is the project's name in the home of Qwen."""
    qwen = Path(environ.get("QWEN_CODE_MEMORY_BASE_DIR") or environ.get("QWEN_HOME") or user_home / ".qwen")
    letta = [Path(environ["MEMORY_DIR"])] if environ.get("MEMORY_DIR") else []
    letta = letta or sorted((user_home / ".letta" / "agents").glob("*/memory"))
    return {
        **{name: project / name for name in ("AGENTS.md", "GEMINI.md", "QWEN.md", "CLAUDE.md")},
        "goose": project / ".goosehints",
        "copilot": project / ".github" / "copilot-instructions.md",
        "cursor": project / ".cursor" / "rules",
        "codex": Path(environ.get("CODEX_HOME") or user_home / ".codex") / "memories",
        "qwen": qwen / "projects" / slug / "memory",
        "basic-memory": user_home / "basic-memory",
        **({"letta": letta[0]} if len(letta) == 1 else {}),
    }


def speaks(environ: Iterable[str]) -> bool:
    """Whether any variable could concern us; cheap, so that a process without settings stays fast."""
    return any(name.startswith(PREFIX) or name in OTHER_NAMES for name in environ)


def givens_from(environ: Mapping[str, str]) -> list[Given]:
    """What the variables say; an empty one says nothing, and ours count for more than the vendor's."""
    givens = [
        Given(path, text, name, is_text=True)
        for name, meaning in OTHER_NAMES.items()
        if environ.get(name)
        for path, text in meaning(environ[name]).items()
    ]
    if environ.get("CLAUDE_CONFIG_DIR") is None:
        # The vendor honours the folder's name only where its root was moved too.
        givens = [given for given in givens if given.place != "CLAUDE_CODE_PROJECT_DIR_NAME"]
    for name in sorted(environ):
        key = find_by_variable(name) if name.startswith(PREFIX) and environ[name] else None
        if key is not None:
            givens.append(Given(key.path, environ[name], name, is_text=True))
    return givens


def near_misses(environ: Iterable[str], *, used: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Each variable that looks like a misspelt one of ours, with a sentence; `used` are names with another purpose."""
    named = {name for name in environ if name.startswith(PREFIX)} - set(OTHER_NAMES) - set(used)
    strange = {name for name in named if find_by_variable(name) is None}
    removed = {name: advice for name in strange if (advice := _advice_on_removed(name)) is not None}
    if not strange:
        return []
    variables = {key.variable for key in keys().values() if key.variable}
    from difflib import get_close_matches

    unknown = sorted(strange - set(removed))
    near = {name: get_close_matches(name, variables, n=1, cutoff=0.85) for name in unknown}
    return [
        *((name, f"{name} was removed and is ignored: {advice}") for name, advice in sorted(removed.items())),
        *((name, f"{name} is not a setting; did you mean {close[0]}?") for name, close in near.items() if close),
    ]


def _advice_on_removed(variable: str) -> str | None:
    words = variable.removeprefix(PREFIX).lower()
    return next(
        (advice for key, advice in REMOVED.items() if f"{words}_".startswith(f"{key.replace('.', '_')}_")), None
    )
