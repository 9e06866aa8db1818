"""What a rule matches. Deny rules match every spelling of a thing; allow rules only what it really is."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reverie.permissions.need import Act, Need
from reverie.permissions.real_paths import fold_name, resolve_path, spellings
from reverie.permissions.rule import PermissionRule, RuleKind
from reverie.permissions.shell.read_only import is_harmless
from reverie.permissions.shell.script import SimpleCommand, Word, spell_words

if TYPE_CHECKING:
    from pathspec import PathSpec
    from pathspec.pattern import Pattern

_EDITORS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_READERS = frozenset({"Read", "Glob", "Grep", "LS", "NotebookRead"})
_GIT_GLOBAL = re.compile(r"(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--super-prefix|--config-env)$")


def names_tool(rule: PermissionRule, tool: str, kind: RuleKind) -> bool:
    """Whether a rule is about this tool: by name, by pattern, or by the family of file tools."""
    if rule.tool == tool or (rule.tool == "Agent" and tool == "Task"):
        return True
    if rule.tool == "Edit" or (rule.tool == "Write" and kind is not RuleKind.ALLOW):
        return tool in _EDITORS
    if rule.tool == "Read":
        return tool in _READERS
    if tool.startswith("mcp__") and rule.tool.startswith("mcp__") and "*" not in rule.tool:
        return "__" not in rule.tool[len("mcp__") :] and tool.startswith(f"{rule.tool}__")
    return "*" in rule.tool and _wildcard(rule.tool).fullmatch(tool) is not None


def covers_path(rule: PermissionRule, path: Path, kind: RuleKind) -> bool:
    """Whether a rule of a file tool is about this file."""
    if not rule.about:
        return True
    base, pattern = _anchor_pattern(rule)
    if kind is RuleKind.ALLOW:
        target, folder = resolve_path(path), resolve_path(base)
        return target is not None and folder is not None and _matches(pattern, target, folder)
    return any(
        _matches(pattern, target, folder)
        or _matches(fold_name(pattern), Path(fold_name(str(target))), Path(fold_name(str(folder))))
        for target in spellings(path)
        for folder in spellings(base)
    )


def covers_step(rule: PermissionRule, step: SimpleCommand, kind: RuleKind) -> bool:
    """Whether a rule of the shell is about this simple command."""
    if not rule.about:
        return True
    if kind is RuleKind.ALLOW and not _says_assignments(rule, step):
        return False
    expression = command_pattern(rule.about)
    return any(expression.fullmatch(text) for text in _texts(step, kind))


def covers_url(rule: PermissionRule, url: str, kind: RuleKind) -> bool:
    """Whether a rule of the network is about this address."""
    if not rule.about:
        return True
    host, rule_host = host_of(url), rule.about.removeprefix("domain:").casefold().rstrip(".")
    if not host:
        return False
    if rule_host.startswith("*."):
        return host.endswith(rule_host[1:])
    return host == rule_host or (kind is not RuleKind.ALLOW and host.endswith(f".{rule_host}"))


def covers_subject(rule: PermissionRule, subject: str) -> bool:
    """Whether a rule of any other tool is about this skill, agent or the like."""
    return not rule.about or command_pattern(rule.about).fullmatch(subject) is not None


def covers_need(rule: PermissionRule, need: Need, kind: RuleKind) -> bool:
    """Whether a rule is about this call as a whole. Shell commands are judged step by step, not here."""
    if not names_tool(rule, need.tool, kind):
        return False
    match need.act:
        case Act.READ | Act.EDIT if need.paths and kind is RuleKind.ALLOW:
            return all(covers_path(rule, path, kind) for path in need.paths)
        case Act.READ | Act.EDIT if need.paths:
            return any(covers_path(rule, spot, kind) for path in need.paths for spot in _spots(path))
        case Act.FETCH:
            return covers_url(rule, need.url, kind)
        case _:
            return covers_subject(rule, need.subject)


@functools.lru_cache(maxsize=1024)
def command_pattern(about: str) -> re.Pattern[str]:
    """`git diff:*` and `git diff *` cover it with any words, `npm run test*` what begins so; the rest is exact."""
    prefix = re.fullmatch(r"(.*?)(?<!\\)(?::\*|[ ]\*)", about, re.DOTALL)
    if prefix is not None:
        return re.compile(f"{_expression(prefix[1])}(?:\\s.*)?", re.DOTALL)
    return re.compile(_expression(about), re.DOTALL)


def host_of(url: str) -> str:
    """The host an address leads to; empty when readers of addresses might not agree on it."""
    if re.search(r"[\s\\\x00-\x1f]", url):
        return ""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").casefold()
    except ValueError:
        return ""
    return host if parts.scheme in ("http", "https") and "%" not in host else ""


def _says_assignments(rule: PermissionRule, step: SimpleCommand) -> bool:
    """Whether variables before a command are harmless, or the rule itself begins with them."""
    if not step.words or step.words[0].value is None or step.words[0].has_glob:
        return False
    written = "".join(f"{assignment.name}={assignment.word.text} " for assignment in step.assignments)
    return all(is_harmless(assignment) for assignment in step.assignments) or rule.about.startswith(written)


def _texts(step: SimpleCommand, kind: RuleKind) -> Iterator[str]:
    """The spellings of a command that count: as written and in plain quotes; for refusals also under other names."""
    plain = spell_words(step.words)
    yield from (step.text, plain)
    if kind is RuleKind.ALLOW:
        return
    written = " ".join(word.text for word in step.words)
    bare = " ".join(word.value if word.value is not None else word.text for word in step.words)
    for text in (written, plain, bare):
        yield text
        program, space, rest = text.partition(" ")
        yield program.rpartition("/")[2] + space + rest
    if (step.program or "").rpartition("/")[2] == "git":
        words = after_git_options(step)
        yield " ".join(["git", *(word.value if word.value is not None else word.text for word in words)])


def after_git_options(step: SimpleCommand) -> list[Word]:
    """The words of a git command from its subcommand on."""
    words = list(step.words[1:])
    while words and (words[0].value or "").startswith("-"):
        option = words.pop(0).value or ""
        if words and _GIT_GLOBAL.match(option):
            words.pop(0)
    return words


def _spots(path: Path) -> tuple[Path, ...]:
    """A folder counts also as what lies in it."""
    return (path, path / "x") if path.is_dir() else (path,)


def _anchor_pattern(rule: PermissionRule) -> tuple[Path, str]:
    """The folder that a path pattern counts from, and the pattern below it as `.gitignore` would write it."""
    about = rule.about
    if about.startswith("//"):
        return Path("/"), about[1:]
    if about == "~" or about.startswith("~/"):
        return rule.home, about[1:] or "/**"
    if about.startswith("/"):
        return rule.base, about
    if about.startswith("./"):
        return rule.project, about[1:]
    return rule.project, about


def _matches(pattern: str, target: Path, folder: Path) -> bool:
    if not target.is_relative_to(folder):
        return False
    inside = target.relative_to(folder).as_posix()
    return _spec(pattern).match_file(inside)


@functools.lru_cache(maxsize=1024)
def _spec(pattern: str) -> PathSpec[Pattern]:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern.replace(os.sep, "/")])


@functools.lru_cache(maxsize=1024)
def _wildcard(text: str) -> re.Pattern[str]:
    return re.compile(_expression(text), re.DOTALL)


def _expression(text: str) -> str:
    """A text in which `*` is anything and `\\*` a star."""
    return "".join(
        {"*": ".*", "\\*": re.escape("*")}.get(part, re.escape(part)) for part in re.split(r"(\\\*|\*)", text)
    )
