"""Checks a shell command against the rules: deny rules look at every part, allow rules must cover every part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from reverie.permissions.covers import after_git_options, command_pattern, covers_path, covers_step, names_tool
from reverie.permissions.need import Need
from reverie.permissions.policy import Policy
from reverie.permissions.rule import PermissionRule, RuleKind
from reverie.permissions.shell.git import is_strange_repository
from reverie.permissions.shell.parse import parse
from reverie.permissions.shell.read_only import MAX_PLACES, Reads, is_nowhere, program_name, reads_of, step_reads
from reverie.permissions.shell.script import Script, SimpleCommand, Word
from reverie.permissions.shell.word_paths import absolute, paths_of_word, resolve_cd
from reverie.permissions.shell.wrapped import everything_run, hides_program, inner_step
from reverie.values import value

_WRITERS = frozenset(
    {"rm", "rmdir", "mv", "cp", "touch", "mkdir", "tee", "truncate", "dd", "ln", "chmod", "chown", "install", "shred"}
    | {"sed", "rsync", "unlink", "patch", "ed", "ex", "vi", "vim"}
)
"""Programs whose words name files that they change."""
_MAX_CORNERS = 2000
_STAR = re.compile(r"(?<!\\)\*")


@value
class Examined:
    """What is known of a command before any rule is asked."""

    command: str
    script: Script
    places: tuple[Path, ...]
    """Where the command runs, and wherever a `cd` in it may lead."""
    reads: Reads | None
    """What it reads; None when it may do more than read."""
    written: tuple[Path, ...]
    """Files that its redirections write."""
    blanket: str
    """An allow rule that covers the command as a whole: `Bash` alone, or this very text."""
    home: Path


def examine(need: Need, policy: Policy) -> Examined:
    """Parse a command and find what can be told from its text."""
    script = parse(need.command)
    directory = need.directory or policy.project
    places = [directory]
    for step in script.steps:
        if program_name(step) == "cd":
            words = step_reads(step)
            if words is not None:
                places += resolve_cd(words, places, policy.home)
            if words is None or len(places) > MAX_PLACES:
                script = replace(script, problem="the directory after `cd` cannot be determined")
                break
    targets = [redirect.target for redirect in script.redirects if redirect.writes and not is_nowhere(redirect)]
    return Examined(
        command=need.command.strip(),
        script=script,
        places=tuple(dict.fromkeys(places)),
        reads=reads_of(script, directory, home=policy.home),
        written=tuple(absolute(word, place, policy.home) for word in targets for place in places),
        blanket=next((str(rule) for rule in policy.allow if _is_blanket(rule, need.command.strip())), ""),
        home=policy.home,
    )


def first_rule(examined: Examined, policy: Policy, kind: RuleKind) -> str:
    """The first deny or ask rule that any part of the command falls under; empty when there is none."""
    rules = policy.rules(kind)
    steps = list(islice(_corners(examined), _MAX_CORNERS)) if rules else []
    for rule in rules:
        if names_tool(rule, "Bash", kind):
            whole = command_pattern(rule.about).fullmatch(examined.command) if rule.about else True
            if whole or any(covers_step(rule, step, kind) for step in steps):
                return str(rule)
        elif rule.about:
            files = dict.fromkeys(_files(rule, kind, steps, examined))
            if any(covers_path(rule, path, kind) for path in files):
                return str(rule)
    return ""


def _corners(examined: Examined) -> Iterator[SimpleCommand]:
    """Everything that might be run, also where the text is hard to read."""
    yield from everything_run(examined.script)
    if "\\\n" in examined.command:
        yield from everything_run(parse(examined.command.replace("\\\n", "")))
    if examined.script.problem or any(map(hides_program, examined.script.steps)):
        yield from _fragments(examined.command)


def hidden_from_rules(examined: Examined, policy: Policy) -> str:
    """What the command would run by a name that cannot be told, where a rule about some programs might mean it."""
    rules = (*policy.rules(RuleKind.DENY), *policy.rules(RuleKind.ASK))
    if not any(rule.about and names_tool(rule, "Bash", RuleKind.DENY) for rule in rules):
        return ""
    if any(rule.about and _is_blanket(rule, examined.command) for rule in policy.allow):
        return ""
    steps = examined.script.steps
    return next((step.text for step in steps if hides_program(step) or any(_may_mean(r, step) for r in rules)), "")


def _may_mean(rule: PermissionRule, step: SimpleCommand) -> bool:
    """Whether a rule about a subcommand (`git push:*`) may mean a command whose subcommand cannot be told."""
    rule_words = rule.about.removesuffix("*").rstrip(": ").split()
    if (
        len(rule_words) < 2
        or (step.program or "").rpartition("/")[2] != rule_words[0]
        or not names_tool(rule, "Bash", RuleKind.DENY)
    ):
        return False
    words = after_git_options(step) if rule_words[0] == "git" else step.words[1:]
    operands = [word.value for word in words if word.value is None or not word.value.startswith("-")]
    for word, operand in zip(rule_words[1:], operands, strict=False):
        if operand is None:
            return True
        if word != operand:
            return False
    return False


def allowing_rules(examined: Examined, policy: Policy) -> tuple[str, ...]:
    """The allow rules that some part of the command needs."""
    if examined.blanket:
        return (examined.blanket,)
    rules = (_step_rule(step, policy) for step in examined.script.steps)
    return tuple(dict.fromkeys(rule for rule in rules if rule))


def find_uncovered_commands(examined: Examined, policy: Policy, may_read: Callable[[Path], bool]) -> list[str]:
    """The simple commands that neither a rule allows nor are known to only read what may be read."""
    if examined.blanket:
        return []
    uncovered = [step.text for step in examined.script.steps if not _is_covered(step, examined, policy, may_read)]
    for redirect in examined.script.redirects:
        word = redirect.target
        if word.value is None or word.has_glob:
            uncovered.append(f"{'>' if redirect.writes else '<'} {word.text}")
        elif not redirect.writes and not all(map(may_read, _locate_words([word], examined))):
            uncovered.append(f"< {word.text}")
    return uncovered


def _is_covered(step: SimpleCommand, examined: Examined, policy: Policy, may_read: Callable[[Path], bool]) -> bool:
    if _step_rule(step, policy):
        return True
    words = step_reads(step)
    if words is None:
        return False
    if program_name(step) == "git" and (len(examined.places) > 1 or is_strange_repository(examined.places[0])):
        return False
    return all(map(may_read, (*examined.places, *_locate_words(words, examined))))


def _step_rule(step: SimpleCommand, policy: Policy) -> str:
    """The allow rule for a simple command, or for the one that a `timeout` and the like carries."""
    for rule in policy.allow:
        if names_tool(rule, "Bash", RuleKind.ALLOW) and covers_step(rule, step, RuleKind.ALLOW):
            return str(rule)
    inner = inner_step(step)
    return _step_rule(inner, policy) if inner is not None else ""


def _locate_words(words: list[Word] | tuple[Word, ...], examined: Examined) -> Iterator[Path]:
    return (path for word in words for place in examined.places for path in paths_of_word(word, place, examined.home))


def _files(rule: PermissionRule, kind: RuleKind, steps: list[SimpleCommand], examined: Examined) -> Iterator[Path]:
    """The files that a rule of a file tool should know of, as far as the text tells."""
    if names_tool(rule, "Read", kind):
        inputs = [redirect.target for redirect in examined.script.redirects if not redirect.writes]
        yield from _locate_words(inputs, examined)
        named: dict[Word, None] = {}
        for step in steps:
            words = step_reads(step)
            if words is not None:
                yield from _locate_words(words, examined)
            else:
                named.update(dict.fromkeys(step.words[1:]))
        yield from (path for path in _locate_words(list(named), examined) if _is_file(path))
    if names_tool(rule, "Edit", kind):
        yield from examined.written
        for step in steps:
            if (step.program or "").rpartition("/")[2] in _WRITERS:
                yield from _locate_words(step.words[1:], examined)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _fragments(command: str) -> Iterator[SimpleCommand]:
    """Anything that looks like a command in a text that no reader understands."""
    for fragment in re.split(r"[;&|\n()`{}]+", command):
        words = tuple(Word(text, text.strip("'\"\\$")) for text in fragment.split())
        if words:
            yield from everything_run(Script((SimpleCommand(fragment.strip(), words),)))


def _is_blanket(rule: PermissionRule, command: str) -> bool:
    if not names_tool(rule, "Bash", RuleKind.ALLOW):
        return False
    if not rule.about:
        return True
    return _STAR.search(rule.about) is None and rule.about.replace("\\*", "*") == command
