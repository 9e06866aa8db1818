"""Finds `@path` includes in an instruction file, resolves them, and reads one instruction file within limits.

An include stands anywhere in prose, never in code. `@scope/pkg`, `@name` and addresses look alike, so a word is an
include when its file exists; only what cannot be anything else (`@./…`, `@~/…`, a text file's ending) is missed.

A file that is too large, binary or unreadable gives a message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath

from reverie.extensions.instructions.instruction_file import Identity
from reverie.extensions.instructions.markdown import prose
from reverie.files import is_encodable, read_small
from reverie.settings import InstructionsSettings
from reverie.values import value

_MENTION = re.compile(r"(?<![A-Za-z0-9._%+\-@/\\=$&])@(?P<path>(?:\\ |[^\s@`\0]){1,1024})")
_AROUND = ".,;:!?)]}>\"'*_|…。，、；：！？）」』】》”’"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_FRAGMENT = re.compile(r"#[^/]*\Z")
_LINK_CHARS = 1_024


@value
class Target:
    """What an include leads to."""

    path: Path | None
    """The file; None when there is none."""
    written: str
    """As it stands in the text."""
    is_certain: bool
    """Whether it can mean nothing but a file, so that its absence is worth a note."""


def mentions(text: str) -> tuple[str, ...]:
    """Every word that may be an include, as written after its `@`, each once, in order."""
    if "@" not in text:
        return ()
    return tuple(dict.fromkeys(match["path"] for match in _MENTION.finditer(prose(text))))


def find_target(written: str, folder: Path, home: Path) -> Target:
    """The file that an include means, from the folder of the file it stands in."""
    spellings = tuple(dict.fromkeys(_spellings(written)))
    for spelling in spellings:
        path = _path(spelling, folder, home)
        if path is not None and _is_plain(path):
            return Target(path, spelling, is_certain=True)
    if not spellings:
        return Target(None, written, is_certain=False)
    return Target(None, spellings[-1], is_certain=_is_certain(spellings[-1]))


def is_only_includes(text: str) -> bool:
    """Whether nothing is left of a text once its includes are taken out, but the marks of a list."""
    return not re.sub(r"(?m)^\s*[-*+]\s*$", "", _MENTION.sub("", text)).strip()


def link_target(text: str, folder: Path) -> Path | None:
    """The file that a link led to, when it was checked out as a text that holds the other file's name.

    Git writes links so where the system has none.
    """
    name = text.strip("\n")
    if not name or len(name) > _LINK_CHARS or re.search(r"[\s@]", name) or not PurePosixPath(name).suffix:
        return None
    path = _path(name, folder, folder)
    return path if path is not None and _is_plain(path) else None


def _spellings(written: str) -> Iterator[str]:
    """The word as it stands, without the punctuation around it, and up to the first letter of another script."""
    whole = written.replace("\\ ", " ")
    start = _NOT_ASCII.split(whole, maxsplit=1)[0]
    for word in (whole, whole.rstrip(_AROUND), start, start.rstrip(_AROUND)):
        for spelling in (word, _FRAGMENT.sub("", word)):
            if spelling.strip("./~"):
                yield spelling


def _path(spelling: str, folder: Path, home: Path) -> Path | None:
    if not is_encodable(spelling):
        return None
    return home / spelling[2:] if spelling.startswith("~/") else folder / spelling


def _is_plain(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, a loop of links
        return False


def _is_certain(spelling: str) -> bool:
    path = PurePosixPath(spelling)
    return spelling.startswith(("./", "../", "~/")) or path.suffix.removeprefix(".").lower() in TEXT_EXTENSIONS


_EXTENSIONS = """
adoc asciidoc asm astro awk bash bat bib bicep bzl c cc cfg cjs clj cljs cmake cmd cnf conf config cpp cs csproj css
csv cts cue cxx d dart diff dockerfile dockerignore editorconfig edn ejs el elm eex erb erl ex exs f90 feature fish fs
fsx gemspec gitattributes gitignore go gql gradle graphql groovy h haml handlebars hbs hcl heex hpp hrl hs htm html
hxx ini ipynb j2 java jinja jinja2 jl js json json5 jsonc jsonl jsx just k kt kts latex less lhs liquid lisp lock log
lua m make markdown md mdc mdx mermaid mjs mk ml mli mm mts mustache nim nix njk nu org patch phtml php pl plantuml pm
po pot prisma properties proto ps1 psd1 psm1 puml pug py pyi pyx qml r rake razor rb rego rkt rmd rs rst rtf sass sbt
scala scm scss sh sln sol sql sty styl sum sv svelte svg swift t tcl template tex text tf tfvars thrift tmpl toml tpl
ts tsv tsx twig txt typ v vb vbproj vhd vhdl vim vue wgsl xhtml xml xsd xsl xslt yaml yml zig zsh
"""
TEXT_EXTENSIONS = frozenset(_EXTENSIONS.split())


@value
class UnreadableFile:
    """Why a file was not taken, as the end of a sentence that begins with its path."""

    why: str


def is_text_name(path: PurePath) -> bool:
    """Whether a name promises text; a name without an ending may."""
    ending = path.suffix.removeprefix(".").lower()
    return not ending or ending in TEXT_EXTENSIONS


def read_identity(path: Path) -> Identity | None:
    """Which file this name leads to; None when it leads to none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def read_text(path: Path, settings: InstructionsSettings) -> str | UnreadableFile:
    """The file as text."""
    content = read_small(path, limit_bytes=settings.file_bytes)
    if content is None:
        if not path.is_file():
            return UnreadableFile("is not a plain file")
        size_bytes = path.stat().st_size
        if size_bytes > settings.file_bytes:
            return UnreadableFile(
                f"has {size_bytes:,} bytes, more than the {settings.file_bytes:,} that are loaded "
                "(instructions.file_bytes); split it"
            )
        return UnreadableFile("cannot be read; check its permissions" if not os.access(path, os.R_OK) else "changed")
    if b"\0" in content[:8_192]:
        return UnreadableFile("is not text in UTF-8")
    return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
