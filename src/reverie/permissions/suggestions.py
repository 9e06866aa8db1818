"""Rules to offer with a permission question, the narrowest first; each would make the question unnecessary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from reverie.errors import UserMistake
from reverie.permissions.covers import host_of
from reverie.permissions.decide import PermissionVerdict, decide, may_read
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Policy
from reverie.permissions.real_paths import resolve_path
from reverie.permissions.run import examine, find_uncovered_commands

_EXACT_CHARS = 120
"""A longer command is not offered as a rule of its own; nobody would read it."""
_WITH_SUBCOMMANDS = frozenset(
    {"git", "npm", "pnpm", "yarn", "cargo", "go", "uv", "pip", "docker", "kubectl", "gh", "make", "poetry", "terraform"}
    | {"systemctl", "brew", "apt", "dotnet", "bundle", "rails", "mix", "just", "gradle", "mvn", "helm", "aws", "gcloud"}
)
_WITH_THIRD_WORD = frozenset(
    {"npm run", "pnpm run", "yarn run", "uv run", "docker compose", "gh pr", "gh issue", "go tool"}
)
_NEVER_BY_PREFIX = frozenset(
    {"sh", "bash", "zsh", "dash", "fish", "perl", "php", "deno", "bun", "env"}
    | {
        "sudo",
        "doas",
        "su",
        "xargs",
        "eval",
        "exec",
        "source",
        ".",
        "rm",
        "dd",
        "ssh",
        "curl",
        "wget",
        "chmod",
        "chown",
    }
    | {"find", "awk", "sed", "tee", "kill", "command", "builtin", "nohup", "timeout", "watch", "parallel"}
)
"""A prefix of these would allow nearly everything."""
_RUNNERS = frozenset({"python", "python3", "node", "ruby", "npx", "uvx", "bunx"})
"""Programs that run another one: a prefix names that one too, as in `python -m pytest` or `node build.js`."""


def suggestions(need: Need, policy: Policy) -> tuple[str, ...]:
    """Rules in the users' syntax that would have settled this call."""
    rules: list[str] = []
    for text in dict.fromkeys(_candidates(need, policy)):
        try:
            settled = decide(need, policy.with_rule(text)).verdict is PermissionVerdict.ALLOW
        except UserMistake:
            continue
        if settled:
            rules.append(text)
    return tuple(rules)


def _candidates(need: Need, policy: Policy) -> Iterator[str]:
    match need.act:
        case Act.RUN:
            yield from _for_command(need, policy)
        case Act.READ | Act.EDIT:
            tool = "Edit" if need.act is Act.EDIT else "Read"
            for path in need.paths:
                actual = resolve_path(path) or path
                yield f"{tool}({path_pattern(actual, policy)})"
                yield f"{tool}({path_pattern(actual.parent, policy).rstrip('/')}/**)"
        case Act.FETCH:
            yield f"{need.tool}(domain:{host_of(need.url)})"
        case Act.OTHER | Act.NONE:
            if need.subject:
                yield f"{need.tool}({need.subject.replace('*', chr(92) + '*')})"
            yield need.tool
            server = re.match(r"mcp__[^_]+(?:_[^_]+)*(?=__)", need.tool)
            if server:
                yield server.group()


def _for_command(need: Need, policy: Policy) -> Iterator[str]:
    examined = examine(need, policy)
    uncovered = find_uncovered_commands(examined, policy, lambda path: may_read("Read", path, policy))
    if len(examined.command) <= _EXACT_CHARS and "\n" not in examined.command:
        yield f"Bash({_escape_stars(examined.command)})"
    steps = [step for step in examined.script.steps if step.text in uncovered]
    if not steps:
        return
    step = steps[0]
    values = [word.value for word in step.words]
    program = step.program or ""
    if step.assignments or not re.fullmatch(r"[\w.+-]+", program) or program in _NEVER_BY_PREFIX:
        return
    prefix = values[: _prefix_words(program, values)]
    if all(value and (value == "-m" or re.fullmatch(r"\w[\w.:/@-]*", value)) for value in prefix) and prefix:
        yield f"Bash({' '.join(str(value) for value in prefix)}:*)"


def _prefix_words(program: str, values: Sequence[str | None]) -> int:
    """How many words of a command say what it does; 0 where no beginning does."""
    needed = 1
    if program in _RUNNERS:
        needed = 3 if values[1:2] == ["-m"] else 2
    elif program in _WITH_SUBCOMMANDS:
        needed = 3 if " ".join(str(value) for value in values[:2]) in _WITH_THIRD_WORD else 2
    return needed if len(values) >= needed else 0


def _escape_stars(text: str) -> str:
    return text.replace("*", "\\*")


def path_pattern(path: Path, policy: Policy) -> str:
    """A path as a rule names it: from the project, from home, or from the root."""
    project, home = resolve_path(policy.project) or policy.project, resolve_path(policy.home) or policy.home
    if path.is_relative_to(project):
        start, inside = "/", path.relative_to(project)
    elif path.is_relative_to(home):
        start, inside = "~/", path.relative_to(home)
    else:
        start, inside = "//", path.relative_to("/")
    text = re.sub(r"([*?\[\]\\])", r"\\\1", inside.as_posix())
    return start if text == "." else start + text
