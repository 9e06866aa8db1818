"""`sed`, `awk` and `jq`: programs whose first word is a program itself. Only small, plainly harmless ones pass."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.permissions.shell.flags import AllowedFlags
from reverie.permissions.shell.script import Word

_SED_FLAGS = AllowedFlags(
    "nErsuz", valued="e", long="quiet silent regexp-extended expression= separate null-data sandbox"
)
_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/I?)"
_SED_COMMAND = re.compile(
    rf"\s*(?:{_ADDRESS}(?:\s*,\s*(?:{_ADDRESS}|\+\d+))?\s*!?)?\s*"
    r"(?:[pPdDgGhHxNn=l]|[qQ]\d*|s(?P<mark>[/|,#@!:])(?:(?!(?P=mark))[^\\\n]|\\[^\n])*(?P=mark)"
    r"(?:(?!(?P=mark))[^\\\n]|\\[^\n])*(?P=mark)[gpiI0-9]*)\s*"
)
_SED_BRACKETS = re.compile(r"\\.|\[(?:\^(?!\])|(?![\]^]))(?:\[:[a-z]+:\]|[^\]\[\\/\n])+\]", re.DOTALL)
_AWK_FLAGS = AllowedFlags(valued="Fv", long="field-separator= assign=")
_AWK_CALLS = frozenset(
    {"print", "printf", "length", "substr", "tolower", "toupper", "index", "int", "sprintf", "split", "sub", "gsub"}
    | {"match", "if", "for", "while", "in"}
)
_AWK_NEVER = re.compile(
    r"[|>@\\`]|system|getline|close|ENVIRON|ARG[CV]|PROCINFO|SYMTAB|FUNCTAB|FILENAME|function|func\b"
)
_AWK_STRING = re.compile(r'"[^"]*"')
_JQ_FLAGS = AllowedFlags(
    "rcnsSejaCMR",
    long="raw-output compact-output null-input slurp sort-keys exit-status join-output ascii-output color-output "
    "monochrome-output raw-input tab indent=",
)
_JQ_NEVER = re.compile(r"env|ENV|input|import|include|debug|stderr|halt|get_search_list|\$__")


def sed_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The files that `sed` prints from; None when a script could write, run or read something else."""
    parsed = _SED_FLAGS.parse(words)
    if parsed is None:
        return None
    scripts, operands = parsed.values("e", "expression"), parsed.operands
    if not scripts:
        if not operands or operands[0].has_glob:
            return None
        scripts, operands = [operands[0].value or ""], operands[1:]
    return operands if all(_is_plain_sed(script) for script in scripts) else None


def _is_plain_sed(script: str) -> bool:
    # Some versions end a pattern at a separator inside brackets, others do not; so none may stand there.
    if "[" in _SED_BRACKETS.sub("", script) or ("[" in script and re.search(r"s[|,#@!:]", script)):
        return False
    position = 0
    while True:
        match = _SED_COMMAND.match(script, position)
        if match is None:
            return False
        position = match.end()
        if position == len(script):
            return True
        if script[position] not in ";\n":
            return False
        position += 1
        if position == len(script):
            return True


def awk_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The files that `awk` reads; None unless its program can only print."""
    operands = _AWK_FLAGS.operands(words)
    if not operands or operands[0].has_glob:
        return None
    program = operands[0].value or ""
    code = _AWK_STRING.sub('""', program)
    calls = re.findall(r"([A-Za-z_]\w*)\s*\(", code)
    if _AWK_NEVER.search(program) or '"' in code.replace('""', "") or not set(calls) <= _AWK_CALLS:
        return None
    return operands[1:]


def jq_paths(words: Sequence[Word]) -> tuple[Word, ...] | None:
    """The files that `jq` reads; None when its filter might show the environment or read more files."""
    operands = _JQ_FLAGS.operands(words)
    if not operands or operands[0].has_glob or _JQ_NEVER.search(operands[0].value or ""):
        return None
    return operands[1:]
