"""How each vendor's program is asked one question without tools, and how its answer is read.

The program is the user's own, signed in as the user left it: nothing here reads or moves its credentials. Flags switch
off tools, hooks, project files and the storage of sessions as far as the program allows it. The prompt goes through
standard input where the program takes it there, so that no process list shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from reverie.messages.codec import decode_json
from reverie.messages.message import Usage
from reverie.values import value

SYSTEM = "You answer one question for another program. You have no tools. Reply with the answer alone."
"""Takes the place of the program's own system prompt; the real instructions stand in the question."""
_CODEX_OFF = ("shell_tool", "unified_exec", "apps", "plugins", "multi_agent", "view_image", "goals")
_SYSTEM_FILE = "system.md"
_POLICY_FILE = "policy.toml"
_NO_TOOLS = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
"""A policy of Gemini CLI."""


@value
class ProgramCall:
    """One run of a program."""

    arguments: tuple[str, ...]
    stdin: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that the run needs in its own empty directory."""


@value
class ProgramAnswer:
    """What a program printed, understood."""

    text: str
    usage: Usage = Usage()
    """Empty where the program does not say what it used."""
    cost_usd: float | None = None
    model: str = ""
    error: str = ""
    """What it says went wrong."""


@value
class CommandProgram:
    """One vendor's program."""

    name: str
    usual_model: str
    """Whose list price and size stand in where the program does not say what it used."""
    build: Callable[[str, str, Path], ProgramCall]
    """Model, prompt and directory → the run."""
    read: Callable[[str], ProgramAnswer]
    """Raises `ValueError` for output that is not the program's."""
    stores_sessions: bool = False
    """Whether the program keeps the conversation whatever it is told."""
    terms_url: str = ""


def _claude(model: str, prompt: str, _: Path) -> ProgramCall:
    named = ("--model", model) if model else ()
    flags = ("--tools", "", "--no-session-persistence", "--strict-mcp-config", "--setting-sources", "")
    return ProgramCall(("-p", "--output-format", "json", *flags, "--system-prompt", SYSTEM, *named), prompt)


def _codex(model: str, prompt: str, directory: Path) -> ProgramCall:
    flags = ("--json", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--skip-git-repo-check")
    off = tuple(word for feature in _CODEX_OFF for word in ("--disable", feature))
    settings = (
        "web_search=disabled",
        "project_doc_max_bytes=0",
        f"model_instructions_file={json.dumps(str(directory / _SYSTEM_FILE))}",
        "skills.bundled.enabled=false",
    )
    named = ("-m", model) if model else ()
    overrides = tuple(word for setting in settings for word in ("-c", setting))
    return ProgramCall(
        ("exec", *flags, "-s", "read-only", *off, *overrides, *named, "-"), prompt, files={_SYSTEM_FILE: SYSTEM}
    )


def _gemini(model: str, prompt: str, directory: Path) -> ProgramCall:
    named = ("-m", model) if model else ()
    # Settings leave it eight tools; a policy that denies all leaves none.
    flags = ("-o", "json", "--skip-trust", "-e", "none", "--policy", str(directory / _POLICY_FILE))
    return ProgramCall(
        ("-p", "Answer as the text above says.", *flags, *named),
        prompt,
        {"GEMINI_SYSTEM_MD": str(directory / _SYSTEM_FILE)},
        {_SYSTEM_FILE: SYSTEM, _POLICY_FILE: _NO_TOOLS},
    )


def _opencode(model: str, prompt: str, directory: Path) -> ProgramCall:
    agent = {"mode": "primary", "prompt": SYSTEM, "tools": {"*": False}}
    named = ("--model", model) if model else ()
    return ProgramCall(
        ("run", "--pure", "--agent", "reverie", "--title", "reverie", "--format", "json", *named),
        prompt,
        {"OPENCODE_DB": ":memory:", "OPENCODE_CONFIG": str(directory / "opencode.json")},
        {"opencode.json": json.dumps({"agent": {"reverie": agent}})},
    )


def _qwen(model: str, prompt: str, _: Path) -> ProgramCall:
    named = ("-m", model) if model else ()
    flags = ("-o", "json", "--bare", "--chat-recording=false", "--max-session-turns", "1")
    return ProgramCall((*flags, "--system-prompt", SYSTEM, *named), prompt)


def _copilot(model: str, prompt: str, _: Path) -> ProgramCall:
    named = ("--model", model) if model else ()
    flags = ("-s", "--available-tools=none", "--no-custom-instructions", "--disable-builtin-mcps", "--no-ask-user")
    return ProgramCall(("-p", prompt, *flags, *named))


def _read_result(output: str) -> ProgramAnswer:
    """The form of Claude Code and Qwen Code: one result object, alone or last in a list."""
    document = decode_json(output)
    rows = document if isinstance(document, list) else [document]
    result = next((row for row in reversed(rows) if isinstance(row, dict) and row.get("type") == "result"), None)
    if result is None:
        raise ValueError("no result")
    text = result.get("result")
    models = result.get("modelUsage") or _models_of(rows)
    spent = result.get("total_cost_usd")
    problem = result.get("error")
    words = problem.get("message") if isinstance(problem, dict) else problem
    is_error = result.get("is_error") is True
    return ProgramAnswer(
        text if isinstance(text, str) else "",
        _usage(result.get("usage")),
        float(spent) if isinstance(spent, int | float) and not isinstance(spent, bool) else None,
        next(iter(models), ""),
        str(words or text or result.get("subtype") or "unknown error") if is_error else "",
    )


def _models_of(rows: list[Any]) -> list[str]:
    messages = (row["message"] for row in rows if isinstance(row, dict) and isinstance(row.get("message"), dict))
    return [str(message["model"]) for message in messages if message.get("model")]


def _usage(counts: object) -> Usage:
    """Counts in the words of the Messages API, where the prompt stands without what was cached."""
    if not isinstance(counts, dict):
        return Usage()
    return Usage(
        _count(counts, "input_tokens"),
        _count(counts, "output_tokens"),
        _count(counts, "cache_read_input_tokens"),
        _count(counts, "cache_creation_input_tokens"),
    )


def _read_codex(output: str) -> ProgramAnswer:
    text, usage, error = "", Usage(), ""
    for event in _events(output):
        item = event.get("item")
        if event.get("type") == "item.completed" and isinstance(item, dict) and item.get("type") == "agent_message":
            text = str(item.get("text") or "")
        elif event.get("type") == "turn.completed" and isinstance(event.get("usage"), dict):
            counts = event["usage"]
            cached = _count(counts, "cached_input_tokens")
            fresh = max(0, _count(counts, "input_tokens") - cached)
            usage = Usage(fresh, _count(counts, "output_tokens"), cached)
        elif event.get("type") in ("error", "turn.failed"):
            problem = event.get("error")
            error = str(problem.get("message") if isinstance(problem, dict) else event.get("message") or "failed")
    return ProgramAnswer(text, usage, error="" if text else error)


def _read_gemini(output: str) -> ProgramAnswer:
    document = decode_json(output[output.find("{") :])
    if not isinstance(document, dict) or not ({"response", "error"} & document.keys()):
        raise ValueError("no response")
    problem = document.get("error")
    stats = document.get("stats")
    models = stats.get("models") if isinstance(stats, dict) else None
    name, usage = "", Usage()
    for model, facts in models.items() if isinstance(models, dict) else ():
        tokens = facts.get("tokens") if isinstance(facts, dict) else None
        if isinstance(tokens, dict):
            cached = _count(tokens, "cached")
            fresh = max(0, max(_count(tokens, "prompt"), _count(tokens, "input")) - cached)
            name, usage = model, usage + Usage(fresh, _count(tokens, "candidates") + _count(tokens, "thoughts"), cached)
    words = problem.get("message") if isinstance(problem, dict) else problem
    return ProgramAnswer(str(document.get("response") or ""), usage, None, name, str(words or ""))


def _read_opencode(output: str) -> ProgramAnswer:
    texts: list[str] = []
    usage, spent, error = Usage(), 0.0, ""
    for event in _events(output):
        part = event.get("part")
        part = part if isinstance(part, dict) else {}
        if event.get("type") == "text":
            texts.append(str(part.get("text") or ""))
        elif event.get("type") == "step_finish":
            tokens = part.get("tokens") if isinstance(part.get("tokens"), dict) else {}
            assert isinstance(tokens, dict)
            cache = tokens.get("cache") if isinstance(tokens.get("cache"), dict) else {}
            output_tokens = _count(tokens, "output") + _count(tokens, "reasoning")
            usage += Usage(_count(tokens, "input"), output_tokens, _count(cache, "read"), _count(cache, "write"))
            spent += part["cost"] if isinstance(part.get("cost"), int | float) else 0.0
        elif event.get("type") == "error":
            error = json.dumps(event.get("error"), ensure_ascii=False)
    return ProgramAnswer("".join(texts), usage, spent or None, error="" if texts else error)


def _read_text(output: str) -> ProgramAnswer:
    return ProgramAnswer(output.strip())


def _events(output: str) -> Iterator[dict[str, Any]]:
    """The JSON lines of an output; raises `ValueError` where there is none."""
    found = False
    for line in output.splitlines():
        try:
            event = decode_json(line) if line.startswith("{") else None
        except ValueError:
            continue
        if isinstance(event, dict):
            found = True
            yield event
    if not found:
        raise ValueError("no event")


def _count(counts: object, name: str) -> int:
    number = counts.get(name) if isinstance(counts, dict) else None
    return int(number) if isinstance(number, int | float) and number > 0 else 0


PROGRAMS: Mapping[str, CommandProgram] = {
    program.name: program
    for program in (
        CommandProgram(
            "claude",
            "claude-sonnet-5-5",
            _claude,
            _read_result,
            terms_url="https://code.claude.com/docs/en/legal-and-compliance",
        ),
        CommandProgram("codex", "gpt-5.1-codex", _codex, _read_codex, terms_url="https://openai.com/policies/"),
        CommandProgram(
            "copilot",
            "claude-sonnet-4-5",
            _copilot,
            _read_text,
            stores_sessions=True,
            terms_url="https://docs.github.com/en/site-policy/github-terms/github-terms-for-additional-products-and-features",
        ),
        CommandProgram(
            "gemini",
            "gemini-2.5-pro",
            _gemini,
            _read_gemini,
            stores_sessions=True,
            terms_url="https://github.com/google-gemini/gemini-cli/blob/main/docs/resources/tos-privacy.md",
        ),
        CommandProgram(
            "opencode",
            "claude-sonnet-4-5",
            _opencode,
            _read_opencode,
            terms_url="https://opencode.ai/",
        ),
        CommandProgram(
            "qwen",
            "gpt-5-mini",
            _qwen,
            _read_result,
            terms_url="https://github.com/QwenLM/qwen-code/blob/main/docs/users/support/tos-privacy.md",
        ),
    )
}
"""The programs that can be asked, by the name in `command:NAME`."""
