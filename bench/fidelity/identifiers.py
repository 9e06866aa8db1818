"""What can be needed again: paths, symbols, flags, error codes, quoted strings, and numbers with meaning.

Made for measuring and kept apart from the summariser's own idea of an identifier, so that neither follows the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PATH = re.compile(
    r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*\w|(?<![\w/.])[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{1,5}\b(?!\()"
)
_FILE_END = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|rs|go|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|sh|sql|md|rst|txt|json|ya?ml|toml|cfg|ini"
    r"|lock|html|css|scss|xml|prisma|svg|png|log|csv|jsonl|env|ipynb|conf|gitignore)$"
)
_SYMBOL = re.compile(r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*(\()?")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_QUOTED = re.compile(r"`([^`\n]{3,48})`|(?<!\w)\"([^\"\n]{3,48})\"(?!\w)|(?<!\w)'([^'\n]{3,48})'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)+|\d{3,}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w])")
_COLUMN = re.compile(r"^[ \t]*\d+(?=→|\t|:|-|[ ]{2,})", re.MULTILINE)
"""Line numbers in front of printed source are no numbers with a meaning."""
_CODE = re.compile(
    r"\b(?:E|TS|W|F|C|R|SC|RUF|PLR|CVE-)\d{3,}[\d-]*\b|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b|\b\w+(?:Error|Exception)\b"
)
_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_COMMON = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "have",
        "has",
        "was",
        "are",
        "not",
        "but",
        "you",
        "your",
        "can",
        "will",
        "all",
        "any",
        "its",
        "into",
        "then",
        "than",
        "when",
        "what",
        "which",
        "let",
        "now",
        "see",
        "use",
        "using",
        "get",
        "set",
        "new",
        "one",
        "two",
        "file",
        "files",
        "line",
        "lines",
        "here",
        "there",
        "def",
        "class",
        "function",
        "const",
        "return",
        "import",
        "true",
        "false",
        "null",
        "none",
        "self",
        "str",
        "int",
        "string",
        "type",
        "error",
        "errors",
        "test",
        "tests",
        "run",
        "running",
        "check",
        "code",
        "value",
        "name",
        "data",
        "should",
        "would",
        "could",
        "also",
        "just",
        "only",
        "make",
        "need",
        "needs",
        "more",
        "most",
        "some",
        "such",
        "each",
        "other",
        "these",
        "those",
        "been",
        "being",
        "our",
        "out",
        "how",
        "why",
        "who",
        "where",
        "does",
        "did",
        "doing",
        "done",
    ]
)


def identifiers(text: str) -> set[str]:
    """The identifiers of a text; paths count by their last two parts."""
    found = {path_key(match[0]) for match in _PATH.finditer(text) if _is_path(match[0])}
    for match in _SYMBOL.finditer(text):
        name = match[0].rstrip("(")
        if len(name) > 3 and (match[1] or _is_symbol(name)):
            found.add(name)
    found.update(match[0] for match in _FLAG.finditer(text))
    found.update(match[0] for match in _NUMBER.finditer(_COLUMN.sub("", text)))
    found.update(match[0] for match in _CODE.finditer(text))
    for match in _QUOTED.finditer(text):
        inner = (match[1] or match[2] or match[3]).strip()
        if sum(map(str.isalnum, inner)) > 2 and not inner.isdigit():
            found.add(inner)
    return {one for one in found if one.lower() not in _COMMON}


def path_key(path: str) -> str:
    """A path by its last two parts, so that the same file written in full and relatively is one."""
    return "/".join(path.rstrip("/").split("/")[-2:])


def words(text: str) -> Iterable[str]:
    """Content words, in lower case."""
    for match in _WORD.finditer(text):
        word = match[0].lower().strip("'-")
        if word not in _COMMON and len(word) > 2:
            yield word


def _is_path(text: str) -> bool:
    return ("/" in text and len(text) > 4 and not text.replace("/", "").isdigit()) or bool(_FILE_END.search(text))


def _is_symbol(name: str) -> bool:
    return (
        "_" in name.strip("_") or "::" in name or bool(re.search(r"[a-z][A-Z]", name))
        or ("." in name and not _FILE_END.search(name) and all(len(part) > 1 for part in name.split(".")))
    )  # fmt: skip
