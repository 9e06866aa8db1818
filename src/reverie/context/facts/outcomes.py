"""How an action ended, and the lines of its output that say so.

Knows the closing lines and error lines of pytest, cargo, npm, go, tsc, git, compilers and tracebacks; anything else is
told by its exit and its last line. Lines are quoted, never rewritten, except that terminal colours are removed.
"""

from __future__ import annotations

import re

from reverie.context.facts.rounds import RoundAction
from reverie.context.facts.values import ActionOutcome
from reverie.patterns import lazy_regex

_COLOURS = lazy_regex(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_ADDED = lazy_regex(
    r"<system-reminder>.*?</system-reminder>|</?tool_use_error>|^The file \S+ has been updated\.[^\n]*\n", re.DOTALL
)
_ERROR = lazy_regex(
    r"""^\s*(?:
      E\s{3,}\S | (?:[\w.]*(?:Error|Exception|Warning))\b(?::|$) | error(?:\[\w+\])?[:\s] | ERROR\b | FAIL(?:ED)?\b
      | CONFLICT\b | fatal:|panic:|npm\ ERR!|thread\ '.*'\ panicked | \S+:\d+(?::\d+)?:?\s.*\b(?:error|Error)\b
      | .*\berror\ TS\d+ | ✖|×|✗ | (?:bash|sh|zsh|/bin/\w+):.*(?:not\ found|No\ such) | .*:\ command\ not\ found
      | .*No\ such\ file\ or\ directory | Traceback | .*\bAssertionError\b | .*[Pp]ermission\ denied
    )""",
    re.VERBOSE,
)
_TELLING = lazy_regex(
    r"""^\s*(?:
      =+\s.*(?:passed|failed|error|no\ tests|skipped).*=+ | \d+\ (?:passed|failed)\b.* | test\ result:.*
      | Tests?:?\s+.*\d+.* | Ran\ \d+\ tests?.* | OK(?:\s\(.*\))?$ | FAILED\s\(.*\) | (?:FAILED|ERROR)\s\S+
      | ok\s+\S+\s.* | FAIL\s+\S+ | ---\ FAIL.* | \[[\w./\s()-]+\s[0-9a-f]{7,}\].* | \d+\ files?\ changed.*
      | .*->\s+\S+$ | BUILD\s\w+ | Finished\b.* | Compiled\b.* | Successfully\s.* | TOTAL\s.*\d+%
      | .*\b\d+\ (?:errors?|warnings?|problems?|vulnerabilities)\b.* | Exit\ code\ \d+ | https?://\S+$
    )""",
    re.VERBOSE,
)
_FAILED_TEXT = lazy_regex(
    r"(?:^|\n)\s*(?:Traceback \(most recent|error(?:\[E\d+\])?: |npm ERR!|fatal: |FAILED |---\s+FAIL|=+ .*\b\d+ failed|"
    r"test result: FAILED|Exit code [1-9])"
)
LONGEST_LINE_CHARS = 220


def plain(text: str) -> str:
    """A text without terminal colours; what a carriage return begins is a line of its own."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _COLOURS.sub("", text) if "\x1b" in text else text


def output(action: RoundAction) -> str:
    """What came back, without colours and without what the host added for the model."""
    return plain(
        _ADDED.sub("", action.result)
        if "<" in action.result or action.result.startswith("The file ")
        else action.result
    )


def outcome_of(action: RoundAction) -> ActionOutcome:
    """Whether an action worked, by its exit or by what it printed."""
    if not action.answered:
        return ActionOutcome.UNKNOWN
    if action.failed or _FAILED_TEXT.search(action.result):
        return ActionOutcome.FAILED
    return ActionOutcome.OK


def error_lines(text: str, most: int = 3) -> tuple[str, ...]:
    """The lines that name an error: of a traceback the last, else the first few."""
    rows = [row for row in plain(text).split("\n") if row.strip()]
    errors: list[str] = []
    in_traceback = False
    for row in rows:
        if row.lstrip().startswith("Traceback"):
            in_traceback = True
            continue
        if in_traceback and not row[:1].isspace() and re.match(r"[\w.]+(?::|$)", row):
            in_traceback = False
            errors.append(cut(row))
        elif not in_traceback and _ERROR.match(row):
            errors.append(cut(row))
    return tuple(dict.fromkeys(errors))[:most]


def telling_lines(text: str, most: int = 3) -> tuple[str, ...]:
    """The lines that say how it went: a known closing line, else the last."""
    rows = [row.strip() for row in plain(text).split("\n") if row.strip()]
    if not rows:
        return ()
    closing = [row for row in rows if _TELLING.match(row)]
    return tuple(dict.fromkeys(cut(row) for row in (closing[-most:] or rows[-1:])))


def last_line(text: str) -> tuple[str, ...]:
    """The last line that says something."""
    rows = [row for row in plain(text).split("\n") if row.strip()]
    return (cut(rows[-1]),) if rows else ()


def cut(line: str, limit_chars: int = LONGEST_LINE_CHARS) -> str:
    """A line of bounded length; a cut shows."""
    line = line.strip()
    return line if len(line) <= limit_chars else line[: limit_chars - 1] + "…"
