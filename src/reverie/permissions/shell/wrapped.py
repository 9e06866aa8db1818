"""Finds commands inside commands: `timeout`, `env`, `sudo`, `xargs`, `sh -c` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reverie.permissions.shell.parse import parse
from reverie.permissions.shell.script import Script, SimpleCommand, Word

_RUNNERS = frozenset(
    {"env", "sudo", "doas", "su", "timeout", "gtimeout", "nice", "ionice", "nohup", "time", "stdbuf", "setsid", "xargs"}
    | {"parallel", "watch", "command", "builtin", "exec", "eval", "chroot", "strace", "ltrace", "busybox", "toybox"}
    | {"unshare", "flock", "script", "ssh", "find", "fd", "entr", "caffeinate", "arch", "taskset", "chrt", "runuser"}
    | {"sh", "bash", "zsh", "dash", "ksh", "fish", "trap", "coproc", "if", "then", "do", "else", "while", "until", "!"}
    | {"systemd-run", "setpriv", "proxychains", "torsocks", "unbuffer", "expect", "git", "source", "."}
)
"""Programs that may run what their words say."""
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"})
_CARRIERS = frozenset(
    {"command", "builtin", "exec", "env", "sudo", "doas", "nohup", "nice", "ionice", "timeout", "gtimeout", "time"}
    | {"xargs", "stdbuf", "setsid", "busybox", "toybox", "!", "coproc"}
)
"""Programs whose first word that is no option is what they run."""
_BEFORE_PROGRAM = re.compile(r"-.*|\w+=.*|[\d.]+[smhd]?", re.DOTALL)
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?")
_DEPTH = 4
_HIDDEN_WORDS = 100
"""How far into a command another one is looked for."""
_HIDDEN_LENGTH = 30
"""How much of it is looked at."""


def inner_step(step: SimpleCommand) -> SimpleCommand | None:
    """The command that a plain `timeout`, `time`, `nice`, `nohup` or `command` only carries; None for anything else."""
    words = list(step.words[1:])
    match step.program:
        case "timeout":
            while words and re.fullmatch(
                r"--preserve-status|--foreground|-k\d+s?|--kill-after=\d+s?", words[0].value or ""
            ):
                words.pop(0)
            if not words or not _DURATION.fullmatch(words.pop(0).value or ""):
                return None
        case "nice":
            if words and words[0].value == "-n":
                words = words[1:]
                if not words or not re.fullmatch(r"-?\d+", words.pop(0).value or ""):
                    return None
        case "time":
            if words and words[0].value == "-p":
                words.pop(0)
        case "command" if not words or words[0].value in ("-v", "-V"):
            return None
        case "command":
            pass
        case _:
            return None
    if not words or words[0].value is None or words[0].value.startswith("-"):
        return None
    return SimpleCommand(" ".join(word.text for word in words), tuple(words), step.assignments)


def hides_program(step: SimpleCommand, depth: int = 0) -> bool:
    """Whether what a command runs cannot be told: its name is worked out, or a shell reads it from somewhere."""
    words = list(step.words)
    while words and depth < _DEPTH:
        first = words.pop(0)
        if first.value is None or first.has_glob:
            return True
        name = first.value.rpartition("/")[2]
        if name in ("eval", "source", "."):
            script = " ".join(word.value or "" for word in words)
            return any(word.value is None for word in words) or (name == "eval" and _hides_inside(script, depth))
        if name in _SHELLS:
            options = [word.value or "" for word in words]
            operand = next((word for word in words if not (word.value or "").startswith("-")), None)
            if operand is None or operand.value is None:
                return True
            takes_script = any(re.fullmatch(r"-\w*c", option) for option in options[: words.index(operand)])
            return takes_script and _hides_inside(operand.value, depth)
        if name not in _CARRIERS:
            return False
        while words and words[0].value is not None and _BEFORE_PROGRAM.fullmatch(words[0].value):
            words.pop(0)
    return depth >= _DEPTH


def _hides_inside(script: str, depth: int) -> bool:
    return any(hides_program(step, depth + 1) for step in parse(script).steps)


def everything_run(script: Script, depth: int = 0) -> Iterator[SimpleCommand]:
    """Each command with all that might hide in its words. Finds too much rather than too little: for refusals only."""
    for step in script.steps:
        yield from _with_hidden(step, depth)


def _with_hidden(step: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    yield step
    if depth >= _DEPTH:
        return
    name = (step.program or "").rpartition("/")[2]
    if name not in _RUNNERS:
        return
    for place in range(1, min(len(step.words), _HIDDEN_WORDS)):
        rest = step.words[place : place + _HIDDEN_LENGTH]
        if rest[0].value is not None:
            yield SimpleCommand(" ".join(word.text for word in rest), rest)
    yield from _scripts(step.words[1:], depth)


def _scripts(words: tuple[Word, ...], depth: int) -> Iterator[SimpleCommand]:
    """Words that are scripts themselves, alone or joined as `eval` joins them."""
    values = [word.value for word in words if word.value is not None]
    texts = [value for value in values if re.search(r"\s|;|\||&", value)]
    joined = " ".join(values)
    for text in dict.fromkeys([*texts, joined]):
        yield from everything_run(parse(text), depth + 1)
