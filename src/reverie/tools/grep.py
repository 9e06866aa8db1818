"""Grep: lines of files by a regular expression, through ripgrep or our own search; both give the same answer.

`FILE_TYPES` is the one table of file types (`py`, `ts`, `rust`) for every search program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reverie.amounts import format_count
from reverie.messages.blocks import JsonObject
from reverie.permissions.need import Act, Need
from reverie.tools.describe import field, make_tool_spec
from reverie.tools.desk import Desk
from reverie.tools.line_search import FileHits, FileQuery
from reverie.tools.lines import cut
from reverie.tools.reach import paths_to_judge, resolve_judged, shorten_path
from reverie.tools.ripgrep import MAX_ROWS, SearchResult, search
from reverie.tools.schema import flag, number, text
from reverie.tools.tool import ToolAnswer, ToolMistake

TIMEOUT_SECONDS = 30.0
LINE_CHARS = 500
"""Of a line that matches; longer ones are mostly made by machines."""
FILES = "files_with_matches"


class Grep:
    """Searches in files. `ripgrep` is the path of that program, where there is one."""

    def __init__(self, ripgrep: str | None = None, *, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._ripgrep = ripgrep
        self._timeout_seconds = timeout_seconds
        self.spec = make_tool_spec(
            "Grep",
            "grep",
            {
                "pattern": field("string", "The regular expression to look for.", minLength=1),
                "path": field("string", "File or folder to search; the working directory when left out."),
                "glob": field("string", "Only files that fit, such as `*.js` or `src/**/*.ts`; `!` in front excludes."),
                "type": field("string", "Only files of this kind: `py`, `js`, `ts`, `rust`, `go`, `md`, …"),
                "output_mode": field(
                    "string",
                    "`files_with_matches` (default) lists files, `content` shows lines, `count` counts them.",
                    enum=["files_with_matches", "content", "count"],
                ),
                "-A": field("integer", "Lines to show after each match (content).", minimum=0),
                "-B": field("integer", "Lines to show before each match (content).", minimum=0),
                "-C": field("integer", "Lines to show before and after each match (content).", minimum=0),
                "-n": field("boolean", "Show line numbers (content); true when left out."),
                "-i": field("boolean", "Take upper and lower case as the same."),
                "multiline": field("boolean", "Let a match span lines; `.` then matches line ends too."),
                "head_limit": field("integer", "Show only the first lines, files or counts.", minimum=1),
            },
            required=("pattern",),
        )

    def need(self, arguments: JsonObject, desk: Desk) -> Need:
        paths = paths_to_judge(_place(arguments), desk)
        where = shorten_path(paths[0], desk)
        return Need("Grep", Act.READ, paths, summary=f"Grep {text(arguments, 'pattern')!r} in {where}")

    def is_concurrent(self, arguments: JsonObject, desk: Desk) -> bool:  # noqa: ARG002 - the shape of every tool
        return True

    async def run(self, arguments: JsonObject, desk: Desk) -> ToolAnswer:
        root = resolve_judged(_place(arguments), desk)
        if not root.exists():
            raise ToolMistake(f"There is no file or folder {root} to search.")
        if not root.is_file() and not root.is_dir():
            raise ToolMistake(f"{root} is not a plain file but a device, pipe or socket; it cannot be searched.")
        result = await search(
            _query(arguments, root),
            ripgrep=self._ripgrep,
            environment=desk.environment,
            timeout_seconds=self._timeout_seconds,
        )
        shown = tuple(hits for hits in result.files if not desk.is_closed(hits.path))
        return _answer(replace(result, files=shown), arguments)


def _place(arguments: JsonObject) -> str:
    return text(arguments, "path") or "."


def _query(arguments: JsonObject, root: Path) -> FileQuery:
    mode = text(arguments, "output_mode", FILES)
    around = number(arguments, "-C", 0) if mode == "content" else 0
    kind = text(arguments, "type")
    return FileQuery(
        root,
        text(arguments, "pattern"),
        ignores_case=flag(arguments, "-i"),
        is_multiline=flag(arguments, "multiline"),
        before=number(arguments, "-B", around) if mode == "content" else 0,
        after=number(arguments, "-A", around) if mode == "content" else 0,
        first_only=mode == FILES,
        names=names_of_type(kind) if kind else (),
        glob=text(arguments, "glob"),
    )


def _answer(result: SearchResult, arguments: JsonObject) -> ToolAnswer:
    mode = text(arguments, "output_mode", FILES)
    if not result.files:
        return ToolAnswer("Nothing matches.", details={"mode": mode, "numFiles": 0, "filenames": []})
    if mode == "content":
        lines = list(_content(result.files, arguments))
    elif mode == "count":
        lines = [f"{hits.path}:{hits.matches}" for hits in result.files]
    else:
        lines = [str(path) for path in sorted((hits.path for hits in result.files), key=_newest_first)]
    limit = number(arguments, "head_limit", len(lines))
    output = lines[:limit]
    if mode == "count" and len(output) == len(lines):
        matches = sum(hits.matches for hits in result.files)
        output.append(f"({format_count(matches, 'matching line')} in {format_count(len(result.files), 'file')})")
    if len(lines) > limit:
        hidden = len(lines) - limit
        verb = "is" if hidden == 1 else "are"
        output.append(f"({format_count(hidden, 'more line')} of this answer {verb} not shown; `head_limit` is {limit})")
    if result.is_cut:
        output.append(f"(the search ended after {MAX_ROWS:,} lines; there is more)")
    details: JsonObject = {
        "mode": mode,
        "numFiles": len(result.files),
        "filenames": [str(hits.path) for hits in result.files[:100]],
        "numLines": min(limit, len(lines)),
    }
    return ToolAnswer("\n".join(output), details=details)


def _content(files: tuple[FileHits, ...], arguments: JsonObject) -> Iterator[str]:
    """Rows as `path:12:text`, those around them as `path-11-text`, groups apart by `--`."""
    has_numbers = flag(arguments, "-n", default=True)
    has_groups = any(number(arguments, name, 0) for name in ("-A", "-B", "-C"))
    is_first = True
    for hits in files:
        previous = None
        for row in hits.rows:
            if has_groups and not is_first and row.number - 1 != previous:
                yield "--"
            mark = ":" if row.is_match else "-"
            place = f"{row.number}{mark}" if has_numbers else ""
            yield f"{hits.path}{mark}{place}{cut(row.text, LINE_CHARS)}"
            previous, is_first = row.number, False


def _newest_first(path: Path) -> tuple[int, str]:
    try:
        return -path.stat().st_mtime_ns, str(path)
    except OSError:
        return 0, str(path)


FILE_TYPES: dict[str, tuple[str, ...]] = {
    "bash": ("*.sh", "*.bash"),
    "c": ("*.c", "*.h"),
    "cpp": ("*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.hxx", "*.h", "*.inl"),
    "cs": ("*.cs",),
    "css": ("*.css", "*.scss", "*.sass", "*.less"),
    "csv": ("*.csv", "*.tsv"),
    "dart": ("*.dart",),
    "docker": ("Dockerfile*", "*.dockerfile", "docker-compose*.yml", "compose.yaml"),
    "elixir": ("*.ex", "*.exs"),
    "go": ("*.go", "go.mod", "go.sum"),
    "haskell": ("*.hs", "*.lhs"),
    "html": ("*.html", "*.htm"),
    "java": ("*.java",),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs", "*.vue"),
    "json": ("*.json", "*.jsonl", "*.ipynb"),
    "kotlin": ("*.kt", "*.kts"),
    "lua": ("*.lua",),
    "make": ("Makefile*", "makefile*", "GNUmakefile*", "*.mk"),
    "md": ("*.md", "*.markdown", "*.mdx"),
    "php": ("*.php",),
    "py": ("*.py", "*.pyi"),
    "r": ("*.r", "*.R", "*.Rmd"),
    "rst": ("*.rst",),
    "ruby": ("*.rb", "Gemfile", "Rakefile", "*.gemspec"),
    "rust": ("*.rs",),
    "scala": ("*.scala", "*.sbt"),
    "sh": ("*.sh", "*.bash", "*.zsh", "*.fish"),
    "sql": ("*.sql",),
    "swift": ("*.swift",),
    "tex": ("*.tex", "*.bib", "*.sty"),
    "toml": ("*.toml",),
    "ts": ("*.ts", "*.tsx", "*.mts", "*.cts"),
    "txt": ("*.txt",),
    "xml": ("*.xml", "*.xsd", "*.xsl"),
    "yaml": ("*.yaml", "*.yml"),
    "zig": ("*.zig",),
}
_ALSO = {"python": "py", "javascript": "js", "typescript": "ts", "tsx": "ts", "jsx": "js", "markdown": "md",
         "yml": "yaml", "rb": "ruby", "rs": "rust", "c++": "cpp", "csharp": "cs", "shell": "sh", "golang": "go",
         "kt": "kotlin", "hs": "haskell", "htm": "html", "dockerfile": "docker", "makefile": "make"}  # fmt: skip


def names_of_type(name: str) -> tuple[str, ...]:
    """The patterns of a kind of files."""
    patterns = FILE_TYPES.get(_ALSO.get(name.lower(), name.lower()))
    if patterns is None:
        raise ToolMistake(
            f"The field 'type' names no known kind of files: {name!r}. Use `glob` (such as `*.{name}`), or one of "
            + ", ".join(FILE_TYPES)
        )
    return patterns
