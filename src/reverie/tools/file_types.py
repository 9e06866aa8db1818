"""File types for search, as given to `--type`: `py`, `ts`, `rust`. One table for every search program."""

from __future__ import annotations

from reverie.tools.tool import ToolMistake

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
    found = FILE_TYPES.get(_ALSO.get(name.lower(), name.lower()))
    if found is None:
        raise ToolMistake(
            f"The field 'type' names no known kind of files: {name!r}. Use `glob` (such as `*.{name}`), or one of "
            + ", ".join(FILE_TYPES)
        )
    return found
