"""What a user agrees to when they trust the hooks of a project: the declaration and the scripts that it runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from reverie.extensions.hooks.declarations import Declared, Handler, HookKind, parse_declaration
from reverie.files import is_inside, read_small
from reverie.files.trust import TrustKind, TrustPart
from reverie.settings import Declaration

_SCRIPT_SUFFIXES = frozenset(
    {".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1"}
)
_ENTRIES = ("__main__.py", "index.js", "main.go")
"""What runs when a command names a folder."""
_RECIPES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "bunx"), ("package.json",)),
    **dict.fromkeys(("uv", "poetry", "hatch", "pdm", "poe"), ("pyproject.toml",)),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "invoke": ("tasks.py",),
    "cargo": ("Cargo.toml", "build.rs"),
    "gradle": ("build.gradle", "build.gradle.kts"),
    "pre-commit": (".pre-commit-config.yaml",),
    "lefthook": ("lefthook.yml",),
    "deno": ("deno.json", "deno.jsonc"),
    "direnv": (".envrc",),
}
"""Programs that run commands from a file of the project, and the names of that file."""
_NOT_SEARCHED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "target", "dist"})
_MAX_SEARCHED = 20_000
_PROJECT = re.compile(r"\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})")


def part_of(declared: Declared, project: Path) -> TrustPart:
    """The declaration as one thing to agree to; a script of the project counts with its content."""
    declaration = declared.declaration
    scripts = [f"{name} {digest}" for name, digest in _read_scripts((hook.handler for hook in declared.hooks), project)]
    return TrustPart(TrustKind.HOOKS, declaration.place, "\n".join([_normalise(declaration.text), *scripts]))


def read_parts(declaration: Declaration, project: Path) -> tuple[TrustPart, ...]:
    """What a declaration asks the user to agree to; nothing where it is their own or holds no hook."""
    declared = parse_declaration(declaration) if declaration.committed else None
    return (part_of(declared, project),) if declared is not None and declared.hooks else ()


def _normalise(text: str) -> str:
    """The JSON with sorted keys and fixed indentation, so that only its content counts."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _read_scripts(handlers: Iterable[Handler], project: Path) -> Iterator[tuple[str, str]]:
    paths: dict[Path, None] = {}
    for handler in handlers:
        if handler.kind is HookKind.COMMAND:
            for text in (handler.command, " ".join(handler.args or ())):
                paths.update(dict.fromkeys(_find_files(text, project)))
    for path in paths:
        content = read_small(path) if is_inside(project, path) else None
        if content is not None:
            yield os.path.relpath(path, project), f"sha256:{sha256(content).hexdigest()}"


def _find_files(text: str, project: Path) -> Iterator[Path]:
    """The files of a project that a command may run, as far as its text tells; what those run in turn is not known."""
    bare = _PROJECT.sub(lambda _: str(project), text.replace('"', "").replace("'", ""))
    words = [word for word in re.split(r"[\s;|&<>()=`]+", bare) if word]
    for number, word in enumerate(words):
        yield from (project / name for name in _RECIPES.get(Path(word).name, ()))
        if word == "-m" and number + 1 < len(words):
            yield from _find_module_files(words[number + 1], project)
        elif "$" in word:
            # The value of the variable is unknown: any file of that name may be meant.
            yield from _find_files_named(Path(word).name, project)
        else:
            path = project / word
            if path.suffix in _SCRIPT_SUFFIXES or (os.access(path, os.X_OK) and not path.is_dir()):
                yield path
            yield from (path / name for name in _ENTRIES)


def _find_module_files(name: str, project: Path) -> Iterator[Path]:
    for root in (project, project / "src"):
        path = root.joinpath(*name.split("."))
        yield from (path.with_name(f"{path.name}.py"), path / "__main__.py", path / "__init__.py")
        yield from (folder / "__init__.py" for folder in path.parents if folder.is_relative_to(root) and folder != root)


def _find_files_named(name: str, project: Path) -> Iterator[Path]:
    searched = 0
    for folder, subfolders, files in os.walk(project):
        subfolders[:] = sorted(subfolder for subfolder in subfolders if subfolder not in _NOT_SEARCHED)
        searched += len(subfolders) + len(files)
        if name in files:
            yield Path(folder, name)
        if searched > _MAX_SEARCHED:
            return
