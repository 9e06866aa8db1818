"""What a user agrees to when they trust the hooks of a project: the declaration and the scripts that it runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from reverie.files import is_inside, read_small
from reverie.hooks.declared import Declared, Handler, Kind, parse_declaration
from reverie.settings import Declaration
from reverie.trust import Kind as TrustKind
from reverie.trust import Part

_SCRIPT_SUFFIXES = frozenset(
    {".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1"}
)
_PROJECT = re.compile(r"\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})")


def part_of(declared: Declared, project: Path) -> Part:
    """The declaration as one thing to agree to; a script of the project counts with its content."""
    declaration = declared.declaration
    scripts = [f"{name} {digest}" for name, digest in _read_scripts((hook.handler for hook in declared.hooks), project)]
    return Part(TrustKind.HOOKS, declaration.place, "\n".join([_normal(declaration.text), *scripts]))


def read_parts(declaration: Declaration, project: Path) -> tuple[Part, ...]:
    """What a declaration asks the user to agree to; nothing where it is their own or holds no hook."""
    declared = parse_declaration(declaration) if declaration.committed else None
    return (part_of(declared, project),) if declared is not None and declared.hooks else ()


def _normal(text: str) -> str:
    """The block without the accidents of its layout."""
    try:
        return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return text


def _read_scripts(handlers: Iterable[Handler], project: Path) -> Iterator[tuple[str, str]]:
    words = dict.fromkeys(word for handler in handlers for word in _words(handler, project))
    for word in words:
        path = project / word
        if not is_inside(project, path):
            continue
        content = read_small(path)
        if content is not None and (path.suffix in _SCRIPT_SUFFIXES or os.access(path, os.X_OK)):
            yield os.path.relpath(path, project), f"sha256:{sha256(content).hexdigest()}"


def _words(handler: Handler, project: Path) -> Iterator[str]:
    if handler.kind is Kind.COMMAND:
        for text in (handler.command, *(handler.args or ())):
            bare = _PROJECT.sub(lambda _: str(project), text.replace('"', "").replace("'", ""))
            yield from (word for word in re.split(r"[\s;|&<>()=`]+", bare) if word)
